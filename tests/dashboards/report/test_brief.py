"""The first screen for mail and chat: the same six answers, and texts of logs that stay texts there."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from PIL import Image
from shared_homes import taught_home

from slowwave.dashboards.overview.tiles import Named, Tile
from slowwave.dashboards.report import page as made
from slowwave.dashboards.report.page import Form, brief, first_screen
from slowwave.flows.ask.connection import locked_connection
from slowwave.flows.cli import main as cli

HOSTILE = "**b** [x](http://evil.example) <!channel> `rm` <script>\x07|# &lt;"


@pytest.fixture(scope="module")
def path() -> Path:
    return taught_home().settings.current.resolve()


@pytest.fixture
def connection(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with locked_connection(path) as opened:
        yield opened


def shown_in_slack(block: dict[str, Any]) -> str:
    """What people read: the texts of rich text are shown as they stand."""
    if block["type"] == "header":
        return block["text"]["text"]
    assert {part["type"] for section in block["elements"] for part in section["elements"]} == {"text"}
    return "".join(part["text"] for section in block["elements"] for part in section["elements"])


@pytest.mark.parametrize("text", ["+ x", "- x", "12. x", "* x", "1) x"])
def test_a_text_begins_no_list_in_mail(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    tile = Tile("What is ignored?", "", "1", "instruction", named=[Named(text, "")])
    monkeypatch.setattr(made, "first_screen", lambda *_: (date(2026, 3, 31), [tile]))
    written = brief(duckdb.connect(), "run", "md").decode()
    assert re.search(r"\n- (?:\\[+*-]|12\\\.|1\\\)) x\n", written)


def test_every_form_says_the_figures_of_the_first_screen(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    _, tiles = first_screen(connection, path.stem)
    written = re.sub(r"\\(.)", r"\1", brief(connection, path.stem, "md").decode())
    message = json.loads(brief(connection, path.stem, "slack"))
    posted = "".join(map(shown_in_slack, message["blocks"]))
    assert len(message["blocks"]) == 7
    for tile in tiles:
        for said in (tile.question, tile.figure, tile.lacks, tile.says, *(named.text for named in tile.named)):
            assert said in written
            assert said in posted
    assert "`slowwave review show " in written
    picture = Image.open(io.BytesIO(brief(connection, path.stem, "png")))
    assert picture.format == "PNG"
    assert picture.width > 2 * picture.height * 0.8
    assert len(picture.convert("L").getcolors() or []) > 8  # letters are drawn, not only frames


def test_texts_of_logs_are_texts_in_mail_and_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    tile = Tile("What is ignored?", "", "1", "instruction", named=[Named(HOSTILE, "9 ×", command=f"why {HOSTILE}")])
    monkeypatch.setattr(made, "first_screen", lambda *_: (date(2026, 3, 31), [tile]))
    nothing = duckdb.connect()
    written = brief(nothing, "run", "md").decode()
    assert not re.search(r"(?<!\\)[*\[\]<>`|&]", written.partition("\n- ")[2])
    posted = json.loads(brief(nothing, "run", "slack"))["blocks"]
    assert HOSTILE in shown_in_slack(posted[1])
    assert "mrkdwn" not in str(posted)  # in which `*`, `_`, `~` and bare addresses are markup
    assert brief(nothing, "run", "png").startswith(b"\x89PNG")


def test_a_publish_of_another_release_says_what_to_do(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    with duckdb.connect(copy) as connection:
        connection.execute("DROP TABLE attempts_by_injection")
        with pytest.raises(ValueError, match="publish anew with `slowwave nightly`"):
            brief(connection, path.stem, "md")


@pytest.mark.parametrize(("form", "begins"), [("md", b"# Memory health on"), ("slack", b"{"), ("png", b"\x89PNG")])
def test_the_command_writes_a_form_where_it_is_told(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    form: Form,
    begins: bytes,
) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(path.parents[2]))
    target = tmp_path / "brief"
    run: Callable[..., int] = lambda *words: cli._exit_code(["report", "--format", form, *words])  # noqa: E731
    assert run("--to", str(target)) == 0
    assert target.read_bytes().startswith(begins)
    assert run() == (2 if form == "png" else 0)
    assert ("--to FILE" in capfd.readouterr().err) == (form == "png")
    assert run("--to", str(tmp_path)) == 1
