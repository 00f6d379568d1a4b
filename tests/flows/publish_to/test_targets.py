"""Where a publish is copied to: no password in a URL, files that name one run, and a night that goes on."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import sys
from pathlib import Path

import polars as pl
import pytest
from bucket_server import environment, make_bucket, s3_server
from hypothesis import given
from hypothesis import strategies as st
from small_home import SmallHome, memory

from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.client import BucketClient
from slowwave.flows.publish_to.files import MANIFEST, publish_to_files
from slowwave.flows.publish_to.postgres import publish_to_postgres
from slowwave.flows.publish_to.run import published_after_night
from slowwave.flows.publish_to.target import Files, Postgres, target


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1))
def test_a_password_in_the_url_is_refused_and_not_repeated(password: str) -> None:
    secret = f"Pw{password}wP"
    for url in (f"postgresql://me:{secret}@db/team", f"postgres://db/team?user=me&password={secret}"):
        with pytest.raises(WrongUsageError, match="a password in the URL") as refused:
            target(url)
        assert secret not in str(refused.value)


@pytest.mark.parametrize("password", ["hunter2 % ? #", "hunter2" * 100, "hunter2\x00 %zz"])
def test_what_the_driver_says_of_a_url_does_not_hold_the_password(password: str, tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    for url in ("postgresql://me@[::1]x:5432/team", "postgresql://me@127.0.0.1:1/team?sslmode=bogus"):
        with pytest.raises(UserError) as refused:
            publish_to_postgres(tmp_path / "none", Postgres(url, "s", password), lambda _: None)
        assert re.search("Failed to connect|is no address of a database", str(refused.value))
        assert "hunter2" not in str(refused.value)


def test_a_server_behind_a_local_socket_has_no_host(tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    with pytest.raises(UserError, match=r'on socket ".*/\.s\.PGSQL\.5432" failed'):
        publish_to_postgres(tmp_path / "none", Postgres(f"postgresql:///team?host={tmp_path}", "s", ""), lambda _: None)


def test_a_schema_whose_name_would_be_cut_is_refused() -> None:
    assert target("postgresql://db/team", "s" * 63)
    with pytest.raises(WrongUsageError, match="63 bytes at most"):
        target("postgresql://db/team", "ß" * 32)


def test_a_password_file_is_closed_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLOWWAVE_PUBLISH_PASSWORD", raising=False)
    file = tmp_path / "password"
    file.write_text("p @ß\n")
    file.chmod(0o640)
    with pytest.raises(UserError, match="can be read by other users"):
        target("postgresql://db/team", "s", str(file))
    file.chmod(0o600)
    to = target("postgresql://db/team?sslmode=require", "s", str(file))
    assert isinstance(to, Postgres)
    assert "password=p%20%40%C3%9F" in to.uri()
    assert "sslmode=require" in to.uri()
    assert "p @ß" not in repr(to)
    with pytest.raises(UserError, match="cannot be read"):
        target("postgresql://db/team", "s", str(tmp_path / "none"))


@pytest.mark.parametrize(
    "url", ["http://x/y", "mysql://db", "file://elsewhere/srv", "postgresql://db:x:y@[/", "postgres"]
)
def test_what_is_no_place_is_refused(url: str) -> None:
    with pytest.raises(WrongUsageError):
        target(url)


def test_what_only_a_database_has_is_refused_for_a_folder(tmp_path: Path) -> None:
    for options in ({"schema": "mine"}, {"password_file": "secret"}):
        with pytest.raises(WrongUsageError, match="are for a database"):
            target(str(tmp_path), **options)


@pytest.mark.slow
def test_a_folder_names_the_files_of_one_run(runs: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    for path in [*runs, runs[0]]:
        rows = publish_to_files(path, Files(str(folder)))
        manifest = json.loads((folder / MANIFEST).read_text())
        assert manifest["run_id"] == path.stem
        for table in manifest["tables"]:
            content = (folder / table["file"]).read_bytes()
            assert (len(content), hashlib.sha256(content).hexdigest()) == (table["bytes"], table["sha256"])
            assert pl.read_parquet(content).height == table["rows"] == rows[table["name"]]
    assert {path.name for path in (folder / "runs").iterdir()} == {path.stem for path in runs}
    (folder / "runs" / "20200101T000000000000-abcd").mkdir()
    (folder / "runs" / "mine").mkdir()
    publish_to_files(runs[0], Files(str(folder)))
    assert {path.name for path in (folder / "runs").iterdir()} == {runs[0].stem, "mine"}


@pytest.mark.parametrize("content", ["{}", "no json", '{"made_by": "another"}', "[]", ""])
def test_a_manifest_of_somebody_else_is_left_as_it_is(runs: list[Path], tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(UserError, match="that slowwave did not make"):
        publish_to_files(runs[0], Files(str(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]


@pytest.mark.parametrize("below", ["", "/published"])
def test_a_file_is_no_folder(runs: list[Path], tmp_path: Path, below: str) -> None:
    file = tmp_path / "published"
    file.write_text("mine")
    with pytest.raises(UserError, match="is no folder, or lies below a file: nothing was changed"):
        publish_to_files(runs[0], Files(f"{file}{below}"))
    assert file.read_text() == "mine"


def test_a_missing_driver_is_installed_by_the_command_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    to = Postgres("postgresql://ada@127.0.0.1/team", "slowwave", "")
    with pytest.raises(UserError, match=r"python\S* -m pip install 'slowwave\[postgres\]'$") as told:
        publish_to_postgres(Path("absent.duckdb"), to, print)
    assert shlex.quote(sys.executable) in str(told.value)


def test_after_a_night_what_goes_wrong_is_said_and_harms_nothing(home: SmallHome, tmp_path: Path) -> None:
    file = home.settings.settings_file
    said: list[str] = []
    try:
        assert published_after_night(home.settings, said.append)
        assert said == []
        file.write_text(f"[publish_to]\nurl = {json.dumps(str(tmp_path / 'out'))}\n")
        assert published_after_night(home.settings, said.append)
        assert "published run" in said.pop()
        assert published_after_night(home.settings, said.append)
        assert said == []  # it is there
        for stated in ('url = "postgresql://me:secret@db/x"', 'url = "postgresql://127.0.0.1:1/x"', "url = 3", "x = 1"):
            file.write_text(f"[publish_to]\n{stated}\n")
            assert not published_after_night(home.settings, said.append)
            assert "was not copied" in said[-1]
            assert "secret" not in said[-1]
    finally:
        file.unlink(missing_ok=True)
    assert home.ask("sql", "SELECT 1 AS one FROM memory_health LIMIT 1").returncode == 0


@pytest.mark.slow
def test_a_night_with_nothing_new_copies_what_the_one_before_could_not(tmp_path: Path) -> None:
    home, place = SmallHome(tmp_path / "home"), tmp_path / "place"
    home.land(memory("m-1"))
    home.nightly()
    home.settings.settings_file.write_text(f"[publish_to]\nurl = {json.dumps(str(place))}\n")
    place.write_text("a file is in the way")
    done = home.ask("nightly")
    assert done.returncode == 1, done.stderr
    assert "was not copied" in done.stderr
    assert "skipped" in done.stdout
    place.unlink()
    done = home.ask("nightly")
    assert (done.returncode, "published run" in done.stderr) == (0, True), done.stderr
    assert json.loads((place / MANIFEST).read_text())["run_id"] == home.settings.current.resolve().stem
    assert "published run" not in home.ask("nightly").stderr


def test_without_a_place_or_a_publish_that_is_said(tmp_path: Path) -> None:
    empty = SmallHome(tmp_path / "home")
    assert "name a place" in empty.ask("publish-to").stderr
    assert "nothing is published yet" in empty.ask("publish-to", str(tmp_path / "out")).stderr
    assert Settings(empty.folder).settings_file.exists() is False


@pytest.mark.slow
def test_a_bucket_names_the_objects_of_one_run(runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_server() as port:
        make_bucket(port, "team")
        for name, value in environment(port, "").items():
            monkeypatch.setenv(name, value)
        to = target("s3://team/tables")
        assert isinstance(to, Files)
        for path in [*runs, runs[0], runs[0]]:
            publish_to_files(path, to)
        client = BucketClient("s3://team/tables")
        manifest = json.loads(client.read(MANIFEST)[0])
        assert manifest["run_id"] == runs[0].stem
        there = {key for key, _ in client.entries("runs")}
        assert there == {table["file"] for table in manifest["tables"]}
