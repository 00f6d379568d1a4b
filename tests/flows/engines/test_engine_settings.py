"""Which engine is chosen, by the command and by `settings.toml`, and what is refused before anything begins."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from slowwave.flows.engines.cluster import message_of, own_code, require_engine, run_task_message
from slowwave.flows.engines.settings import MEMORY, EngineName, EngineSettings, engine_settings
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings


def stated(folder: Path, text: str) -> Settings:
    (folder / "settings.toml").write_text(text)
    return Settings(folder)


def test_the_default_is_this_process(tmp_path: Path) -> None:
    assert engine_settings(Settings(tmp_path)) == EngineSettings("local", "", 1, MEMORY, 3600.0)


def test_a_command_goes_before_the_file(tmp_path: Path) -> None:
    settings = stated(tmp_path, "[engine]\nengine = 'dask'\nworkers = 4\nmemory = '2GB'\ntimeout_seconds = 60\n")
    assert engine_settings(settings) == EngineSettings("dask", "", 4, 2 * 10**9, 60.0)
    assert engine_settings(settings, "dask", None, 3).workers == 3
    assert engine_settings(settings, "ray") == EngineSettings("ray", "", 2, 2 * 10**9, 60.0)
    assert engine_settings(settings, "local") == EngineSettings("local", "", 1, 2 * 10**9, 60.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("engine = 'spark'", r"settings.toml, \[engine\]: there is no engine 'spark': use local, dask or ray"),
        ("workers = 2", "`local` works in this process"),
        ("engine = 'dask'\nworkers = 0", "whole number from 1 to 1,000"),
        ("engine = 'ray'\nworkers = true", r"settings.toml, \[engine\]: the number of workers is a whole number"),
        ("engine = 'dask'\naddress = 'tcp://s:1'\nworkers = 2", "has its own workers"),
        ("engine = 'dask'\naddress = 8786", "address is a text"),
        ("memory = '64MB'", "memory is a size of 2GB or more"),
        ("memory = 4", "memory is a size of 2GB or more"),
        ("timeout_seconds = 0", "timeout_seconds is a number of seconds above 0"),
        ("worker = 2", r"nothing is called 'worker' in \[engine\]: use address, engine, memory, .*, workers"),
        ("[retentions]", r"nothing is called 'retentions': use \[engine\], .*\[retention\]"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        engine_settings(stated(tmp_path, f"[engine]\n{text}\n"))


def test_a_section_that_is_written_as_a_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"engine is a section: write \[engine\]"):
        engine_settings(stated(tmp_path, "engine = 'dask'\n"))


def test_options_that_contradict_each_other_are_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(WrongUsageError):
        engine_settings(Settings(tmp_path), None, "tcp://scheduler:8786")


def test_an_address_that_answers_nothing_is_said_at_once() -> None:
    with socket.socket() as listener:  # bound, and not listening: whoever connects is refused
        listener.bind(("127.0.0.1", 0))
        for name in ("dask", "ray"):
            address = f"{'tcp' if name == 'dask' else 'ray'}://127.0.0.1:{listener.getsockname()[1]}"
            with pytest.raises(UserError, match=f"no cluster of {name} answers at {address} .*: start it, or name"):
                require_engine(EngineSettings(name, address))


@pytest.mark.parametrize("address", ["scheduler", "tcp://scheduler", "tcp://scheduler:eighty", "://:1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UserError, match="names no host and port: use an address such as tcp://scheduler:8786"):
        require_engine(EngineSettings("dask", address))


@pytest.mark.parametrize(
    ("name", "address", "use"),
    [("dask", "http://s:8786", "tcp://"), ("dask", "ray://s:10001", "tcp://"), ("ray", "tcp://s:10001", "ray://")],
)
def test_an_address_that_the_engine_does_not_speak_is_refused_before_it_is_tried(
    name: EngineName, address: str, use: str
) -> None:
    with pytest.raises(UserError, match=f"{name} is not reached by .*: use an address such as {use}"):
        require_engine(EngineSettings(name, address))


def test_a_worker_of_another_version_reads_nothing_of_the_task() -> None:
    came = run_task_message(f"{own_code()}, changed", b"no message of this version")
    assert (
        came.refused
        == f"has {own_code()}, not {own_code()}, changed: install the same on every worker, start them again"
    )
    assert run_task_message(own_code(), message_of(len, "four")).value == len("four")


def test_neither_dask_nor_ray_is_loaded_unless_chosen(tmp_path: Path) -> None:
    code = """
import sys
from slowwave.flows.cli import run
from slowwave.flows.engines.engine import opened_engine
from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.nightly.build import build
from slowwave.flows.publish import build_tasks
with opened_engine(EngineSettings()) as engine:
    assert list(engine.results(abs, [-1, 2])) == [1, 2]
print(sorted({name.partition(".")[0] for name in sys.modules} & {"dask", "distributed", "ray"}))
"""
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
