"""The page `memory` of the dashboard."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.published import Published


def memory_page(published: Published) -> None:
    """To be drawn."""
    st.title("memory")
    st.write(published.run_id)
