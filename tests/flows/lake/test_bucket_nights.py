"""Whole nights on a lake in a bucket that end in their midst, each in a process of its own: the next one is whole."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from bucket_server import Fault, Proxy, environment, make_bucket, s3_server

from slowwave.data.sample import sample_files
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.storage.client import BucketError
from slowwave.flows.lake import current
from slowwave.flows.nightly.nightly import nightly, start_run
from tests.laws.home import Home

pytestmark = pytest.mark.slow
_FILES = list(sample_files(days=1, interactions_per_day=20))
_AS_OF = datetime.fromisoformat(_FILES[-1].name[:10]).replace(hour=23)
_ROOT = Path(__file__).parents[3]
# A lease that is short, so that another need not wait a minute for it.
_NIGHT = """
import sys
from datetime import datetime
from pathlib import Path
from slowwave.flows.kernel.storage import lease
from tests.laws.home import Home

lease.hold_lease.__wrapped__.__kwdefaults__["seconds"] = 2.0
Home(Path(sys.argv[1])).nightly(datetime.fromisoformat(sys.argv[2]))
"""
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with s3_server() as port:
        yield port


@pytest.fixture
def proxy(server: int) -> Iterator[Proxy]:
    one = Proxy(server)
    yield one
    one.close()


@pytest.fixture
def new_home(server: int, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Home]:
    """Homes over one lake in a new bucket, each with the logs in its inbox."""
    name = f"night-{next(_numbers)}"
    make_bucket(server, name)
    for variable, value in environment(proxy.port, f"s3://{name}/lake").items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(current, "_FRESH_SECONDS", 0)
    homes = itertools.count(1)

    def made() -> Home:
        home = Home(tmp_path / f"home-{next(homes)}")
        _deliver(home)
        return home

    return made


def _deliver(home: Home) -> None:
    for file in _FILES:
        home.drop(file.name, file.content)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The tables of a lake in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SLOWWAVE_LAKE", raising=False)
        home = Home(tmp_path_factory.mktemp("folder") / "home")
        _deliver(home)
        home.nightly(_AS_OF)
        return home.hashes()


def _night(home: Home, proxy: Proxy, number: int, sends: signal.Signals) -> subprocess.Popen[str]:
    """A night in a process that is sent a signal at the given write to the bucket, which does not come to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", _NIGHT, str(home.folder), _AS_OF.isoformat()],
        cwd=_ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    writes = itertools.count(1)

    def fault(method: str, _path: str) -> Fault:
        if method == "PUT" and next(writes) == number:
            os.kill(process.pid, sends)
            return "unheard"
        return None

    proxy.fault = fault
    return process


@pytest.mark.parametrize("number", [4, 30])
def test_a_night_that_is_killed_is_followed_by_a_whole_one(
    new_home: Callable[[], Home], proxy: Proxy, expected: dict[str, str], number: int
) -> None:
    home = new_home()
    with _night(home, proxy, number, signal.SIGKILL) as process:
        assert process.wait(timeout=300) == -signal.SIGKILL
    home.nightly(_AS_OF)
    assert home.hashes() == expected


def test_a_night_that_sleeps_while_another_takes_over_writes_nothing_when_it_wakes(
    new_home: Callable[[], Home], proxy: Proxy, expected: dict[str, str]
) -> None:
    asleep, other = new_home(), new_home()
    with _night(asleep, proxy, 20, signal.SIGSTOP) as process:
        try:
            assert os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT) is not None
            with writer_lock(other.settings, "nightly", wait_seconds=120):
                nightly(start_run(other.settings, "nightly"), as_of=_AS_OF)
            published = other.current.name
            process.send_signal(signal.SIGCONT)
            _, said = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 1
    # or the request that slept with it was given up
    assert "another writer has taken over the lake" in said or "BucketError" in said
    assert asleep.current.name == other.current.name == published
    asleep.nightly(_AS_OF)
    assert asleep.hashes() == other.hashes() == expected


@pytest.mark.parametrize("number", [10, 70])
def test_credentials_that_expire_in_the_night_are_told_of_and_the_next_is_whole(
    new_home: Callable[[], Home], proxy: Proxy, expected: dict[str, str], number: int
) -> None:
    home, requests = new_home(), itertools.count(1)
    proxy.fault = lambda _method, _path: (403, "ExpiredToken") if next(requests) > number else None
    with pytest.raises(BucketError, match="have expired: renew them"):
        home.nightly(_AS_OF)
    assert next(requests) > number
    proxy.fault = lambda _method, _path: None
    home.nightly(_AS_OF)
    assert home.hashes() == expected


def test_a_bucket_that_can_only_be_read_is_read(
    new_home: Callable[[], Home], proxy: Proxy, expected: dict[str, str]
) -> None:
    new_home().nightly(_AS_OF)
    proxy.fault = lambda method, _path: None if method in {"GET", "HEAD"} else (403, "AccessDenied")
    reader = new_home()
    assert reader.hashes() == expected
    with pytest.raises(BucketError, match="do not allow writing"):
        reader.nightly(_AS_OF)
    assert list((reader.folder / "inbox").iterdir())  # what was delivered waits
