"""The page `review` of the dashboard."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.published import Published


def review_page(published: Published) -> None:
    """To be drawn."""
    st.title("review")
    st.write(published.run_id)
