"""The dashboard's page of a memory that came from a store: where it lives, what was pushed when, and the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from drawn_pages import IGNORED, bodies, drawn, published_by, words
from small_home import SmallHome, memory

from slowwave.dashboards.app.pages.memory import memory_page

pytestmark = pytest.mark.filterwarnings(IGNORED)


@pytest.mark.slow
def test_the_page_says_where_it_lives_and_what_was_pushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home, memories = SmallHome(tmp_path / "home"), tmp_path / "claude" / "projects" / "-srv-shop" / "memory"
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    memories.mkdir(parents=True)
    (memories / "tabs.md").write_text("Indent with tabs in every file.\n")
    root = str(tmp_path / "claude")
    assert home.ask("import", "claude-memory", root).returncode == 0
    home.land(memory("m1"))
    home.nightly()
    published = published_by(home)
    try:

        def page(memory_id: str) -> tuple[str, Any]:
            session = drawn(memory_page, published, memory_id=memory_id)
            return words(session) + bodies(session), [code.value for code in session.code]

        text, codes = page("claude-memory:-srv-shop/tabs")
        assert "Nothing was pushed there yet." in text
        assert "slowwave push claude-memory" in codes
        assert home.run("push", "claude-memory", root, "--yes").returncode == 0
        text, codes = page("claude-memory:-srv-shop/tabs")
        assert "scores verdict " in text
        assert f"slowwave push claude-memory {root}" in codes
        assert "Where it lives" not in page("m1")[0]
    finally:
        published.close()
