"""The page `overview` of the dashboard."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.published import Published


def overview_page(published: Published) -> None:
    """To be drawn."""
    st.title("overview")
    st.write(published.run_id)
