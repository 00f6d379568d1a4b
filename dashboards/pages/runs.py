"""The page `runs` of the dashboard."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.published import Published


def runs_page(published: Published) -> None:
    """To be drawn."""
    st.title("runs")
    st.write(published.run_id)
