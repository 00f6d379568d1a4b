"""A GitHub table says what the cells say, and nothing of what they would have a page do."""

from __future__ import annotations

import io
import re

from hypothesis import given
from hypothesis import strategies as st

from slowwave.flows.ask.output_table import markdown_safe, write_markdown

_ESCAPED = re.compile(r"\\([\\`*\[\]|~$_])")


def written(names: list[str], *batches: list[tuple[object, ...]]) -> list[str]:
    to = io.BytesIO()
    write_markdown(names, batches, to)
    return to.getvalue().decode().splitlines()


def test_a_table_has_names_ends_and_rows():
    rows = [("m_1", 3, None, True), ("m_2", 12_000, 0.123456, False)]
    assert written(["memory_id", "count", "share", "flag"], rows, [("m_3", 1, 1.0, True)]) == [
        "| memory_id | count | share | flag |",
        "| --- | ---: | ---: | --- |",
        "| m_1 | 3 | NULL | true |",
        "| m_2 | 12000 | 0.1235 | false |",
        "| m_3 | 1 | 1.0 | true |",
    ]
    assert written(["a|b"], []) == [r"| a\|b |", "| --- |"]
    assert written([]) == []


def test_a_cell_stays_a_cell_and_its_marks_stay_text():
    (*_, row) = written(["text"], [("a | b\r\nc\nd <script>&amp; [x](http://y) `code` *bold* _em_ $1$ \\| \x1b[31m",)])
    assert row == (
        r"| a \| b<br>c<br>d &lt;script&gt;&amp;amp; \[x\](http://y) \`code\` \*bold\* \_em\_ \$1\$ \\\| \\x1b\[31m |"
    )


@given(st.text())
def test_any_text_is_one_cell_that_can_be_read_back(text):
    cell = markdown_safe(text)
    assert cell.splitlines() in ([], [cell])
    bare = _ESCAPED.sub("", cell)
    assert not set("|`*[]~$\\") & set(bare)
    assert set(re.findall(r"<[^>]*>?|>", bare)) <= {"<br>"}
    lines = re.split(r"\r\n|\r|\n", text)
    shown = [
        re.sub(r"&(lt|gt|amp);", lambda found: {"lt": "<", "gt": ">", "amp": "&"}[found[1]], _ESCAPED.sub(r"\1", line))
        for line in cell.split("<br>")
    ]
    if text.isprintable():
        assert shown == lines
    assert len(shown) == len(lines)
