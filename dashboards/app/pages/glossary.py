"""The page of words: what each one on the other pages means."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.app.widgets import address, section
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.templates import render_template
from slowwave.transforms.core.glossary import GLOSSARY


def glossary_page(published: Published) -> None:
    """Draw the page."""
    st.title("Glossary", anchor=False)
    word = address("word")
    if word in GLOSSARY:
        section(word, GLOSSARY[word])
        section("All words")
    st.html(render_template("facts.html.jinja", facts=list(GLOSSARY.items())))
