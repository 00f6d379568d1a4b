"""Tokens of those who post or ask: given once, told by their hash, and taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_home import SmallHome

from slowwave.flows.kernel.bearer_tokens import Tokens, add_token, revoke_token
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "home")


def test_a_token_opens_what_it_is_for_until_it_is_revoked(settings: Settings):
    given = add_token(settings, "shop-api", "capture", "shop")
    tokens = Tokens(settings)
    found = tokens.verify_token(f"Bearer {given}", "capture")
    assert found is not None
    assert (found.name, found.project) == ("shop-api", "shop")
    assert tokens.verify_token(f"bearer {given}", "capture") == found
    assert tokens.verify_token(f"Bearer {given}", "mcp") is None

    revoke_token(settings, "shop-api")
    assert tokens.verify_token(f"Bearer {given}", "capture") is None
    assert tokens.are_asked_for()  # who was let in by token alone is not let in without one now

    again = add_token(settings, "shop-api", "capture", "shop")
    assert tokens.verify_token(f"Bearer {again}", "capture") is not None
    assert tokens.verify_token(f"Bearer {given}", "capture") is None


def test_what_a_token_cannot_open_is_said_without_the_words_of_a_package(settings: Settings):
    said = SmallHome(settings.home).ask("token", "add", "helper", "--use", "all").stderr
    assert "Invalid value for '--use': 'all' is not one of 'capture', 'mcp'." in said


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer swt_", "Basic {}", "{}", "Bearer {}x", "Bearer {} {}", "Bearer é"]
)
def test_what_is_no_token_opens_nothing(header: str | None, settings: Settings):
    given = add_token(settings, "a", "capture", "shop")
    assert Tokens(settings).verify_token(header and header.replace("{}", given), "capture") is None


def test_the_file_is_the_owners_alone_and_does_not_hold_the_token(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SLOWWAVE_UMASK", "027")
    given = add_token(settings, "a", "capture", "shop")
    assert settings.tokens_file.stat().st_mode & 0o777 == 0o600
    assert given.removeprefix("swt_") not in settings.tokens_file.read_text()
    assert [path.name for path in settings.home.iterdir()] == ["tokens.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tokens": 1}', '{"tokens": [{}]}', '{"tokens": [{"name": "a"}]}'])
def test_a_damaged_file_lets_nobody_in(text: str, settings: Settings):
    given = add_token(settings, "a", "capture", "shop")
    settings.tokens_file.write_text(text)
    for tokens in (Tokens(settings),):
        with pytest.raises(UserError, match="damaged"):
            tokens.are_asked_for()
        with pytest.raises(UserError, match="damaged"):
            tokens.verify_token(f"Bearer {given}", "capture")


def test_a_token_for_rows_of_any_project_is_taken_for_damage(settings: Settings):
    add_token(settings, "a", "capture", "shop")
    stated = json.loads(settings.tokens_file.read_text())
    stated["tokens"][0]["project"] = None
    settings.tokens_file.write_text(json.dumps(stated))
    with pytest.raises(UserError, match="damaged"):
        Tokens(settings).list_tokens()


def test_a_file_that_others_can_write_is_not_trusted(settings: Settings):
    add_token(settings, "a", "capture", "shop")
    settings.tokens_file.chmod(0o620)
    with pytest.raises(UserError, match="other users"):
        Tokens(settings).list_tokens()


def test_names_are_plain_and_of_one_token(settings: Settings):
    add_token(settings, "a", "capture", "shop")
    with pytest.raises(WrongUsageError, match="already"):
        add_token(settings, "a", "mcp", None)
    for name in ("", "a b", "-a", "x" * 65, "a\n", "../a"):
        with pytest.raises(WrongUsageError):
            add_token(settings, name, "capture", "shop")
    with pytest.raises(WrongUsageError, match="no valid token"):
        revoke_token(settings, "b")


def test_the_commands_print_the_token_alone_and_never_again(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    added = home.ask("token", "add", "shop-api", "--project", "shop")
    assert added.returncode == 0
    assert Tokens(home.settings).verify_token(f"Bearer {added.stdout.strip()}", "capture") is not None
    listed = home.ask("token", "list")
    assert listed.stdout.startswith("shop-api: capture, project 'shop', added ")
    assert added.stdout.strip() not in listed.stdout
    (shown,) = json.loads(home.ask("token", "list", "--format", "json").stdout)
    assert (shown["name"], shown["use"], shown["revoked_at"]) == ("shop-api", "capture", "")
    assert "digest" not in shown
    assert home.ask("token", "add", "helper", "--use", "mcp").returncode == 0
    assert home.ask("token", "revoke", "shop-api").stdout == "shop-api opens nothing any more\n"
    assert "no valid token is left" in home.ask("token", "revoke", "helper").stdout
    assert ", revoked 2" in home.ask("token", "list").stdout


def test_a_token_for_rows_needs_a_project_and_a_mapping_that_is_there(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    assert home.ask("token", "add", "a").returncode == 2
    assert home.ask("token", "add", "a", "--project", "shop", "--mapping", "app").returncode == 2
    assert home.ask("token", "add", "a", "--use", "mcp").returncode == 0
    home.settings.mappings.mkdir()
    (home.settings.mappings / "app.toml").write_text('version = 1\n[fields]\nresponse = "completion"\n')
    assert home.ask("token", "add", "b", "--project", "", "--mapping", "app").returncode == 0
