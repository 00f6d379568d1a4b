"""A home whose params name a method that does not exist: told in one sentence, and nothing is done."""

from __future__ import annotations

from pathlib import Path

import pytest
from each import each
from shared_homes import plain_home
from small_home import SmallHome

from slowwave.transforms.core.methods.registry import choices

ECHOES = " ".join(
    ("is" if len(choices("evidence.echo_method")) == 1 else "are", ", ".join(choices("evidence.echo_method")))
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    return plain_home(tmp_path_factory.mktemp("unknown") / "home")


@each(
    ("stated", "said"),
    [
        (
            '[evidence]\necho_method = "banana/7"\n',
            f"evidence.echo_method: banana/7 is no method; there {ECHOES}",
        ),
        (
            '[strength]\nmethod = "alma/1"\n',
            (
                "strength.method: alma/1 is no method (ALMA's formula for strength, which this is only compared with);"
                " there is strength/2"
            ),
        ),
        (
            '[verdict]\nmethod = "verdict/1"\n',
            "verdict.method: verdict/1 was retired after release 0.1.0: verdict/4 replaced it; there is verdict/4",
        ),
        (
            '[evidence.used]\nmethod = "used\\n\\u001b[2J"\n[trend]\nmin_bursts = "many"\n',
            (
                "evidence.used.method: 'used\\n\\x1b[2J' is no method; there is used/3;"
                " trend.min_bursts: Input should be a valid number, unable to parse string as a number"
            ),
        ),
        (
            '[evidence]\nused_method = "used/2"\n[learning]\nmethod = "heuristic/1"\n',
            (
                "evidence.used_method: no param of this release is called so;"
                " learning: no param of this release is called so"
            ),
        ),
    ],
)
@each("command", ["nightly", "nightly --plan", "sql --as-of 2026-03-03 SELECT+1", "backfill"])
def test_every_command_that_needs_the_params_refuses_it(home: SmallHome, command: str, stated: str, said: str) -> None:
    home.settings.params_file.write_text(stated)
    days = ["--from", "2026-03-01", "--to", "2026-03-02"] if command == "backfill" else []
    done = home.ask(*(word.replace("+", " ") for word in command.split()), *days)
    assert (done.returncode, done.stdout) == (2, "")
    todo = "(correct or remove it: what is not there has its default)"
    assert f"{home.settings.params_file} cannot be used: {said} {todo}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ('[strength]\nmethod = "alma/1"\n', "alma/1 is no method"),
        ('[verdict]\nmethod = "verdict/1"\n', "verdict/1 was retired after release 0.1.0: verdict/4 replaced it"),
    ],
)
def test_what_is_published_can_still_be_read(home: SmallHome, stated: str, said: str) -> None:
    home.settings.params_file.write_text(stated)
    for command in ("status", "why m1", "schema", "sql best_strategies", "methods", "lineage memory_health", "doctor"):
        done = home.ask(*command.split())
        assert "Traceback" not in done.stderr
        assert done.returncode in ({1} if command == "doctor" else {0}), (command, done.stdout, done.stderr)
    assert said in " ".join(home.ask("doctor").stdout.split())


def test_without_it_the_night_goes_on(home: SmallHome) -> None:
    home.settings.params_file.write_text("")
    assert home.nightly().run_id


@pytest.mark.parametrize("name", ["params_file", "settings_file"])
def test_what_a_command_does_not_use_does_not_stop_it(tmp_path: Path, name: str) -> None:
    """Landing and asking go on; the commands that look after a home say what is wrong."""
    home = plain_home(tmp_path / "home")
    file = getattr(home.settings, name)
    file.write_text("nonsense = 1\n")
    delivery = tmp_path / "more.jsonl"
    delivery.write_text('{"interaction_id": "i2", "prompt": "More?", "created_at": "2026-03-01T00:00:00Z"}\n')
    landed = home.ask("land", str(delivery), "--format", "json")
    assert landed.returncode == 0, landed.stderr
    asked = home.ask("sql", "SELECT count(*) AS n FROM interactions", "--format", "json")
    assert asked.returncode == 0
    assert '"n":2' in asked.stdout.replace(" ", "")
    for command in ("status", "doctor", "nightly --plan"):
        done = home.ask(*command.split())
        said = "".join((done.stdout + done.stderr).split())  # a path is broken where the line ends
        assert "nonsense" in said, (command, said)
        assert file.name in said
    assert home.ask("status").returncode == 0
