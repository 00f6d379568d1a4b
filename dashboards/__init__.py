"""Charts, the report and the dashboard."""
