"""What `deploy/` holds is what its tools accept, and calls commands that there are, with options that they have."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from slowwave.flows.cli import main as cli

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
COMPOSE = yaml.safe_load((DEPLOY / "docker" / "compose.yaml").read_text())
INSTALLED = "/opt/slowwave/bin/slowwave"


def commands_of_units() -> list[list[str]]:
    text = "\n".join(path.read_text() for path in UNITS)
    return [shlex.split(line) for line in re.findall(rf"^ExecStart={INSTALLED} (.*)$", text, re.MULTILINE)]


def commands_of_containers() -> list[list[str]]:
    services = [service for service in COMPOSE["services"].values() if "entrypoint" not in service]
    return [[word.replace("${SLOWWAVE_TIMEZONE:-UTC}", "UTC") for word in one["command"]] for one in services]


def commands_of_image() -> list[list[str]]:
    lines = re.findall(r"CMD (\[.*\])$", (DEPLOY / "docker" / "Dockerfile").read_text(), re.MULTILINE)
    return [[word for word in yaml.safe_load(line) if word != "slowwave"] for line in lines]


@pytest.mark.parametrize("command", [*commands_of_units(), *commands_of_containers(), *commands_of_image()])
def test_a_service_calls_a_command_with_options_that_it_has(command: list[str]) -> None:
    group: Any = typer.main.get_command(cli.app)
    with group.make_context("slowwave", list(command)) as context:
        name, found, rest = group.resolve_command(context, command)
        found.make_context(name, rest)  # raises for an option that there is not


def test_each_kind_of_service_is_there() -> None:
    assert {path.name for path in UNITS} >= {"slowwave-nightly.service", "slowwave-nightly.timer"}
    assert {command[0] for command in commands_of_units()} == {"nightly", "serve", "capture", "dashboard"}
    assert COMPOSE["services"].keys() == {"prefect", "night", "dashboard", "capture"}
    assert all(service["read_only"] for service in COMPOSE["services"].values())


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for path in UNITS:
        there = path.read_text().replace(INSTALLED, sys.executable).replace("User=slowwave", "User=root")
        (tmp_path / path.name).write_text(there)
    units = [str(tmp_path / path.name) for path in UNITS]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_lines_for_cron_are_such() -> None:
    from prefect.server.schemas.schedules import CronSchedule

    (block,) = re.findall(r"```cron\n(.*?)\n```", (DEPLOY / "README.md").read_text(), re.DOTALL)
    home, *lines = block.splitlines()
    assert home.startswith("SLOWWAVE_HOME=")
    for line in lines:
        minute_to_weekday, command = line.split("  ")
        assert CronSchedule(cron=minute_to_weekday).cron == minute_to_weekday
        assert command.startswith("/opt/slowwave/bin/slowwave ")
