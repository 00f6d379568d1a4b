"""The page `sql` of the dashboard."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.published import Published


def sql_page(published: Published) -> None:
    """To be drawn."""
    st.title("sql")
    st.write(published.run_id)
