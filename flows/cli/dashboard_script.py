"""What Streamlit runs to draw a page; a folder `pages` beside it would be taken for pages by Streamlit itself."""

from slowwave.dashboards.app.app import app

if __name__ == "__main__":
    app()
