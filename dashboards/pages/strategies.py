"""The page `strategies` of the dashboard."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.published import Published


def strategies_page(published: Published) -> None:
    """To be drawn."""
    st.title("strategies")
    st.write(published.run_id)
