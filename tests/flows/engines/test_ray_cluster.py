"""A cluster of Ray that runs already, by its address: found with its token, and the tables are the same."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slowwave.data.sample import sample_files
from slowwave.flows.kernel.times import parse_as_of
from tests.laws.home import Home

pytestmark = pytest.mark.slow
AS_OF = "2026-03-03"
_STORE_BYTES = 80 * 2**20
# Ends the first server that the head starts for somebody who connects, as one ends now and then on a busy machine.
_FIRST_SERVER_ENDS = """
import os, sys
if any("specific-server" in argument for argument in sys.orig_argv):
    try:
        os.close(os.open({mark!r}, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        pass
    else:
        os._exit(1)
"""


@contextmanager
def _ray_head(folder: Path) -> Iterator[str]:
    """The address of a cluster of two CPUs, started as its users start one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--node-ip-address=127.0.0.1"]
    options = ["--port=0", f"--ray-client-server-port={port}", "--num-cpus=2", f"--object-store-memory={_STORE_BYTES}"]
    said = folder / "said"
    modules = folder / "modules"
    modules.mkdir()
    (modules / "sitecustomize.py").write_text(_FIRST_SERVER_ENDS.format(mark=str(folder / "server_ended")))
    # sockets have short names
    with said.open("w") as log, tempfile.TemporaryDirectory(prefix="ray-") as sockets:
        head = subprocess.Popen(
            [*command, *options, "--include-dashboard=false", f"--temp-dir={sockets}"],
            stdout=log,
            stderr=log,
            env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": str(modules)},
            start_new_session=True,
        )
        try:
            while "Ray runtime started" not in said.read_text():
                assert head.poll() is None, said.read_text()
                time.sleep(0.2)
            yield f"ray://127.0.0.1:{port}"
        finally:
            os.killpg(head.pid, signal.SIGTERM)
            head.wait(60)


def test_a_cluster_that_runs_already_builds_the_same(tmp_path: Path) -> None:
    homes = {name: Home(tmp_path / name) for name in ("here", "there")}
    for file in sample_files(days=1, interactions_per_day=10):
        for home in homes.values():
            home.drop(file.name, file.content)
    homes["here"].nightly(parse_as_of(AS_OF))
    command = [str(Path(sys.executable).with_name("slowwave")), "nightly", "--as-of", AS_OF]
    with _ray_head(tmp_path) as address:
        env = {**os.environ, "SLOWWAVE_HOME": str(homes["there"].folder)}
        more = ["--engine", "ray", "--address", address]
        ended = subprocess.run([*command, *more], capture_output=True, text=True, env=env, check=False)
        assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "server_ended").exists()
    assert "by workers of ray" in ended.stdout + ended.stderr
    assert homes["there"].hashes() == homes["here"].hashes()
