"""The HTML of report and dashboard: every value that is put into a template is escaped."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from slowwave.dashboards.links import view
from slowwave.transforms.core.glossary import GLOSSARY

# by how a sentence may say them, the words of the glossary that are explained where they stand; the longest first
_TERMS = {
    "not comparable": "not comparable",
    "not randomised": "not randomised",
    "randomised": "randomised",
    "points": "effect",
    "mostly not followed": "ignored",
    "hard task": "hard task",
    "cost": "cost",
    "answers": "reference",
}
_TERM = re.compile(f"({'|'.join(map(re.escape, _TERMS))})")


def with_code(text: str) -> Markup:
    """Text escaped, with what stands between backticks set as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one is left over
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


def with_terms(text: str, is_linked: bool) -> Markup:
    """Text as `with_code` sets it, and words of the glossary with their meaning; `is_linked`: and with its page."""
    parts = _TERM.split(text)
    return Markup("").join(
        _term(part, is_linked) if number % 2 else with_code(part) for number, part in enumerate(parts)
    )


def _term(words: str, is_linked: bool) -> Markup:
    name = _TERMS[words]
    if not is_linked:
        return Markup('<abbr title="{}">{}</abbr>').format(GLOSSARY[name], words)
    link = view("glossary", word=name)
    shape = Markup('<a class="sw-term" href="{}" target="_self" title="{}">{}</a>')
    return shape.format(link, GLOSSARY[name], words)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("slowwave.dashboards"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"with_code": with_code, "with_terms": with_terms}
    return environment


def render_template(template: str, **values: object) -> Markup:
    """A template of `templates/` with these values; only what is Markup already is taken as it stands."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 - escaped by the environment
