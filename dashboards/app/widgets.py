"""What the dashboard's pages share: choices that stand in the address, tables, sentences and commands.

The address is the state: a widget shows what the query says, and what a person changes is written there first. Text
from logs is drawn by `draw_text`, `notice`, `table` and `command` alone, which show it and never take it for
Markdown or HTML.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

import polars as pl
import streamlit as st

from slowwave.dashboards.app.grid import draw_grid, recipe_columns
from slowwave.dashboards.charts.parts import is_blank
from slowwave.dashboards.charts.theme import chart_words, remove_title
from slowwave.dashboards.cookbook.answers import ALL, Answers, with_interval
from slowwave.dashboards.cookbook.cookbook import cookbook, exactly
from slowwave.dashboards.links import Link, Row, command_line, opened_by, view
from slowwave.dashboards.templates import render_template
from slowwave.dashboards.words import part, shown_of
from slowwave.flows.ask.cells import cell_text
from slowwave.flows.kernel.terminal import shorten_to_width, spreadsheet_safe, terminal_safe

ANY = "%"
SHOWN_PAGE = "shown_page"
"""Under which a session keeps the path of the page that it shows."""
_CARRIED = ("project", "no_project", "agent", "user", "tag", "days", "since", "until", "compare")
PAGE_ROWS = 50
_LISTED_ROWS = 100
_LABEL_CHARACTERS = 60
_TEXT_CHARACTERS = 4_000
_LONGEST_LINK = 4_000
_TEXTS_LISTED = 500
# of a control in the scope bar, in pixels: wide enough for what is chosen, up to a limit
_BARE_WIDTH, _WIDEST, _BESIDE_TEXT, _CHARACTER = 140, 260, 76, 7
_NO_PROJECT = "(no project)"
_DAY_CHARACTERS = len("2026-03-10")
_FIRST_DAY, _LAST_DAY = date(1970, 1, 1), date(2100, 1, 1)


def draw_text(*sentences: str) -> None:
    """A paragraph of plain text."""
    st.html(render_template("said.html.jinja", text=" ".join(sentence for sentence in sentences if sentence)))


def whole_text(text: str, *, label: str) -> bool:
    """Draw a text with its lines as they are, and return whether all of it is shown; `label` says what it is."""
    lines = [terminal_safe(line) for line in text[:_TEXT_CHARACTERS].split("\n")]
    st.html(render_template("text.html.jinja", text="\n".join(lines), label=label))
    if len(text) > _TEXT_CHARACTERS:
        draw_text(f"These are the first {_TEXT_CHARACTERS:,} of {len(text):,} characters.")
    return len(text) <= _TEXT_CHARACTERS


def notice(level: Literal["note", "warning", "error"], text: str, todo: str = "") -> None:
    """A message that stands out, and what to do about it."""
    st.html(render_template("notice.html.jinja", level=level, text=text, todo=todo))


def section(title: str, says: str = "") -> None:
    """A heading of ours, with the sentence that answers first."""
    st.header(title, anchor=False)
    if says:
        draw_text(says)


def command(*words: str, purpose: str, **options: str | bool | Sequence[str]) -> None:
    """A `slowwave` command to copy (see `command_line`); where none can be copied safely, a hint in its place."""
    line = command_line(*words, **options)
    if line:
        draw_text(f"{purpose}:")
        st.code(line, language=None, wrap_lines=True)
    else:
        draw_text(f"{purpose}: `slowwave {words[0]}`, with an id that holds characters no shell takes as they are.")


def draw_recipe_link(name: str, **params: str) -> None:
    """Which recipe of the cookbook a table or chart comes from, as a link that asks it again on the page of SQL."""
    recipe = cookbook()[name]
    link = view("sql", recipe=name)
    given = urlencode({f"with_{param}": value for param, value in params.items() if recipe.params.get(param) != value})
    if given and len(given) < _LONGEST_LINK:
        link = f"{link}&{given}"
    st.html(render_template("asked.html.jinja", question=recipe.question, name=name, link=carrying(link)))


def table(
    frame: pl.DataFrame,
    name: str,
    *,
    caption: str,
    columns: Sequence[str] = (),
    links: Mapping[str, Link] | None = None,
    opens: Callable[[Row], Mapping[str, str]] = opened_by,
    labels: Mapping[str, str] | None = None,
    chooses_many: bool = False,
) -> list[int]:
    """Draw rows of a recipe's answer as a grid, and return the numbers of its chosen rows.

    Args:
        frame: rows to show.
        name: the recipe that they are of: it says what its columns mean and their units.
        caption: what the table shows; another one for each table of a page.
        columns: those shown, what matters most first; none: all. The first one stays in sight.
        links: by column, from a row to a relative address; the first one is the row's, if it opens nothing.
        opens: from a row to what the address says so that the panel shows what the row names.
        labels: by column, a head in place of its name.
        chooses_many: see `draw_grid`.
    """
    rows = frame.to_dicts()
    addresses = {of: [link(row) if row[of] is not None else "" for row in rows] for of, link in (links or {}).items()}
    shown = recipe_columns(frame, cookbook()[name], columns, labels or {})
    named = [opens(row) for row in rows]
    return draw_grid(shown, caption=caption, addresses=addresses, opens=named, chooses_many=chooses_many)


def draw_rows(
    answers: Answers,
    name: str,
    caption: str,
    of: Mapping[str, str] | None = None,
    *,
    most: int = _LISTED_ROWS,
    estimate: str = "",
    write: Callable[[float], str] = part,
    **shown: Any,  # noqa: ANN401 - as `table` takes it
) -> pl.DataFrame:
    """Draw the first rows of what a recipe answers, if there are any, and the recipe; return them.

    Args:
        answers: of a publish.
        name: the recipe.
        caption: what the rows are; where there are more of them, it says how many.
        of: params of the recipe.
        most: rows that are drawn.
        estimate: the column that is shown with its interval.
        write: how its numbers are written.
        shown: columns, labels and the like, for `table`.
    """
    of = of or {}
    rows = answers.rows(name, most, **of)
    limit = cookbook()[name].params.get("limit")
    total = answers.count(name, **of, **({"limit": ALL} if limit else {}))
    if rows.height:
        drawn_rows = with_interval(rows, estimate, write) if estimate else rows
        table(drawn_rows, name, caption=shown_of(caption, rows.height, total), **shown)
    draw_recipe_link(name, **of, **({"limit": f"{total}"} if limit and total > int(limit) else {}))
    return rows


def draw_chart(chart: Any) -> None:  # noqa: ANN401 - an Altair chart of whatever kind
    """A chart over the whole width, its title as text: in a narrow column it would be cut.

    Where there is nothing to draw, the text says why. The chart's own description is what screen readers say.
    """
    title, subtitle, _ = chart_words(chart)
    st.html(render_template("chart_words.html.jinja", title=title, subtitle=subtitle))
    if not is_blank(chart):
        st.altair_chart(remove_title(chart), width="stretch")


def address(name: str) -> str:
    """What the address says of a choice; '' is nothing."""
    return st.query_params.get(name, "")


def shared_params() -> dict[str, str]:
    """Return what the address says that pages hand on to each other."""
    return {name: address(name) for name in _CARRIED if address(name)}


def carrying(link: str) -> str:
    """Return the address of a view, with what is handed on and it does not say itself; '' is nowhere."""
    page, _, query = link.partition("?")
    own = dict(parse_qsl(query, keep_blank_values=True))
    is_of_project = "project" in own or "no_project" in own
    more = {name: text for name, text in shared_params().items() if not (is_of_project and name.endswith("project"))}
    return f"{page}?{urlencode(more | own, safe=':')}" if link and more else link


def choice(
    label: str,
    name: str,
    options: Sequence[str],
    *,
    unchosen: str,
    shown: Callable[[str], str] = str,
    key: str = "",
    is_bare: bool = False,
) -> str:
    """One of some options, '' where none is chosen; in the address as `name`. `is_bare`: its label is not drawn."""
    key = key or f"choice_{name}"
    chosen = address(name)
    _show(key, chosen if chosen in options else None)
    st.selectbox(
        label,
        list(options),
        index=None,
        format_func=shown,
        placeholder=unchosen,
        key=key,
        on_change=_to_address,
        args=(key, name),
        label_visibility="collapsed" if is_bare else "visible",
        width=_bare_width(shown(chosen) if chosen in options else "") if is_bare else "stretch",
    )
    return st.session_state[key] or ""


def _bare_width(chosen: str) -> int:
    return min(max(_BARE_WIDTH, _BESIDE_TEXT + _CHARACTER * len(chosen)), _WIDEST)


def _show(key: str, value: object) -> None:
    """Have a widget show what the address says; unless it does already, for what is being typed there would be lost.

    The same widget of another page is another one to a browser, which has shown nothing yet.
    """
    page, shown_on = st.session_state.get(SHOWN_PAGE, ""), f"page of {key}"
    if key not in st.session_state or st.session_state[key] != value or st.session_state.get(shown_on) != page:
        st.session_state[key] = value
    st.session_state[shown_on] = page


def said_day(name: str, usual: date) -> date:
    """Return the day that the address says as `name`, the usual one where it says none or no day."""
    try:
        chosen = date.fromisoformat(address(name)[:_DAY_CHARACTERS])
    except ValueError:
        chosen = usual
    return min(max(chosen, _FIRST_DAY), _LAST_DAY)


def day_choice(label: str, name: str, chosen: date) -> date:
    """Draw the choice of a day that stands in the address as `name`."""
    key = f"day_{name}"
    _show(key, chosen)
    st.date_input(
        label,
        key=key,
        min_value=_FIRST_DAY,
        max_value=_LAST_DAY,
        format="YYYY-MM-DD",
        on_change=_to_address,
        args=(key, name),
        label_visibility="collapsed",
        width=_BARE_WIDTH,
    )
    return st.session_state[key] or chosen


def label_of(text: str) -> str:
    """The beginning of a text from a log, on one line."""
    return shorten_to_width(terminal_safe(text), _LABEL_CHARACTERS)


def draw_text_field(label: str, name: str, *, placeholder: str = "", most: int = 200) -> str:
    """A text a person types in the scope bar; it stands in the address as `name`."""
    key = f"typed_{name}"
    _show(key, address(name)[:most])
    st.text_input(
        label,
        key=key,
        placeholder=placeholder or label,
        max_chars=most,
        on_change=_to_address,
        args=(key, name),
        label_visibility="collapsed",
        width=_BARE_WIDTH,
    )
    return st.session_state[key]


def text_choice(name: str, known: Sequence[str]) -> str | None:
    """Draw a choice of a project, agent, user or tag, and return it: None is all, '' the project of none.

    It stands in the address as `name`, of no project as `no_project`. Of very many the first ones of `known` are
    offered; any other may be typed.
    """
    key = f"choice_{name}"
    chosen = said_project() if name == "project" else address(name) or None
    offered = [*known[:_TEXTS_LISTED]]
    if chosen is not None and chosen not in offered:
        offered.append(chosen)
    labels = _labels(offered)
    _show(key, chosen)
    is_short = len(known) <= _TEXTS_LISTED
    st.selectbox(
        name.capitalize(),
        offered,
        index=None,
        format_func=lambda text: labels.get(text, str(text)),
        placeholder=f"All {name}s" if is_short else f"All {len(known):,} {name}s: choose or type one",
        accept_new_options=not is_short,
        key=key,
        on_change=_text_to_address,
        args=(key, name),
        label_visibility="collapsed",
        width=_bare_width("" if chosen is None else labels[chosen]),
    )
    return chosen


def said_project() -> str | None:
    """Return the project that the address names; None is all, '' what belongs to none."""
    return "" if address("no_project") else address("project") or None


def csv_of(rows: pl.DataFrame) -> str:
    """Rows as CSV that no spreadsheet takes for formulas."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([spreadsheet_safe(name) for name in rows.columns])
    for row in rows.iter_rows():
        writer.writerow([spreadsheet_safe(value) if isinstance(value, str) else cell_text(value) for value in row])
    return text.getvalue()


def pattern(project: str | None) -> str:
    """A project as the recipes' param takes it."""
    return ANY if project is None else exactly(project)


def page_asked() -> int:
    """The page of a long table that the address asks for, from 1 on; it may lie behind the last."""
    given = address("page")
    return max(1, int(given)) if given.isascii() and given.isdigit() and len(given) < len("9" * 9) else 1


def page_number(count: int, rows: int = PAGE_ROWS) -> int:
    """The page of a long table that is shown, from 1 on; it stands in the address as `page`."""
    pages = max(1, -(-count // rows))
    number = min(page_asked(), pages)
    if pages > 1:
        st.session_state["page"] = number
        st.pagination(pages, key="page", on_change=_to_address, args=("page", "page"))
    return number


def _to_address(key: str, name: str) -> None:
    """Write what was chosen into the address; another choice begins at the first page again."""
    if name != "page":
        st.query_params.pop("page", None)
    value = st.session_state[key]
    if value in (None, "") or (name == "page" and value == 1):
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = str(value)


def _text_to_address(key: str, name: str) -> None:
    if name == "project":
        st.query_params.pop("no_project", None)
        if st.session_state[key] == "":
            st.query_params["no_project"] = "yes"
    _to_address(key, name)


def _labels(texts: Sequence[str]) -> dict[str, str]:
    """A label on one line for each text, no two alike."""
    labels: dict[str, str] = {}
    taken: set[str] = set()
    for text in texts:
        label = label_of(text) if text else _NO_PROJECT
        number, unique = 1, label
        while unique in taken:
            number += 1
            unique = f"{label} ({number})"
        taken.add(unique)
        labels[text] = unique
    return labels
