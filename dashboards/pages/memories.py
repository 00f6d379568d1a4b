"""The page `memories` of the dashboard."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.published import Published


def memories_page(published: Published) -> None:
    """To be drawn."""
    st.title("memories")
    st.write(published.run_id)
