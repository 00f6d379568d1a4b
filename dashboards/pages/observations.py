"""The page `observations` of the dashboard."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.published import Published


def observations_page(published: Published) -> None:
    """To be drawn."""
    st.title("observations")
    st.write(published.run_id)
