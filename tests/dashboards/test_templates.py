"""Nothing gets into a page unescaped, and commands in sentences are set as code."""

from __future__ import annotations

import pytest
from each import each
from hostile_rows import TEXTS

from slowwave.dashboards.templates import render_template, with_code


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("run `slowwave nightly`, then look", "run <code>slowwave nightly</code>, then look"),
        ("one ` is left <over>", "one ` is left &lt;over&gt;"),
        ("`<b>` & `a`", "<code>&lt;b&gt;</code> &amp; <code>a</code>"),
        ("", ""),
    ],
)
def test_what_stands_between_backticks_is_code_and_all_is_escaped(text, html):
    assert with_code(text) == html


@each("text", TEXTS.values())
def test_a_template_escapes_what_it_is_given(text):
    page = render_template("notice.html.jinja", level="note", text=text, todo=text)
    assert "<script" not in page
    assert "<img" not in page
    assert "<h1" not in page
