"""Prefect's API server: the configured one, that of a running `slowwave serve`, or one of our own for one command.

Prefect can start a server by itself, but loads the whole server into the client first (twice as long to wait), and
leaves it running when the client is killed. Ours is a child that ends when its standard input does: the kernel closes
that pipe however we end.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.processes import end_child
from slowwave.flows.kernel.settings import Settings

START_SECONDS = 180
ANSWER_SECONDS = 10
_STOP_SECONDS = 15  # three times what the child grants itself
_UI_PORT = 4200
_GLANCE_SECONDS = 0.3  # another command holds the file for an instant when it looks whether schedules are served
# Names of Prefect's settings. What the user has set stays; the rest is quiet and sends nothing anywhere.
_DEFAULTS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "true",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": str(START_SECONDS),
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    # landing every few minutes makes 100,000 runs a year: Prefect's own record of them is kept for 90 days
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
}
# What a server that runs one flow has no use for; schedules of a stopped `serve` must not pile up late runs either.
_ONE_FLOW_ONLY = dict.fromkeys(
    (
        "PREFECT_SERVER_UI_ENABLED",
        "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED",
        "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED",
        "PREFECT_SERVER_SERVICES_FOREMAN_ENABLED",
        "PREFECT_SERVER_SERVICES_PAUSE_EXPIRATIONS_ENABLED",
        "PREFECT_SERVER_SERVICES_CANCELLATION_CLEANUP_ENABLED",
        "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED",
    ),
    "false",
)


def configure(settings: Settings) -> None:
    """Set Prefect's environment, before Prefect is imported; what is set already stays.

    Raises UserError, in one sentence, when Prefect's home cannot be written.
    """
    home = settings.prefect_home
    probe = home / f".probe-{os.getpid()}"
    try:
        home.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        message = (
            f"Prefect's home {home} cannot be written ({error.strerror}): set PREFECT_HOME to a folder you can write to"
        )
        raise UserError(message) from error
    os.environ["PREFECT_HOME"] = str(home.absolute())
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    # a proxy for the outside world must not be asked for our own machine
    for name in ("no_proxy", "NO_PROXY"):
        hosts = os.environ.get(name, "").split(",")
        os.environ[name] = ",".join(host for host in [*hosts, "127.0.0.1"] if host)


@contextmanager
def prefect_api(settings: Settings, *, schedules: bool = False) -> Iterator[str]:
    """The URL of Prefect's API, put into `PREFECT_API_URL`, for as long as the context lasts; Prefect is imported.

    `schedules` makes a server that runs schedules and shows its pages, and that other commands of this home use too.

    Raises UserError when the server does not answer, or when schedules are being served already.
    """
    configure(settings)
    configured = _configured_url(settings)
    if configured is not None:
        _wait_for(configured, None)
        yield configured
        return
    with _served_url(settings, own=schedules) as (handle, served):
        if served is not None and schedules:
            message = f"schedules are being served already: see {served.removesuffix('/api')}"
            raise UserError(message)
        if served is not None and _answers(served):
            with _environment_url(served):
                yield served
            return
        with _child(settings, schedules=schedules) as (process, url):
            if handle is not None:
                os.ftruncate(handle, 0)
                os.pwrite(handle, url.encode(), 0)
            with _environment_url(url):
                _wait_for(url, process)
                with _watch_server(process) if schedules else nullcontext():
                    try:
                        yield url
                    finally:
                        if process.poll() is None:
                            _send_what_is_left()


def _configured_url(settings: Settings) -> str | None:
    chosen = os.environ.get("PREFECT_API_URL", "").strip()
    if chosen:
        return chosen
    if (settings.prefect_home / "profiles.toml").exists():
        from prefect.settings import get_current_settings

        return get_current_settings().api.url
    return None


@contextmanager
def _environment_url(url: str) -> Iterator[None]:
    """Prefect's client at this URL, in this process and its children."""
    is_loaded = "prefect" in sys.modules
    os.environ["PREFECT_API_URL"] = url
    try:
        # takes seconds in which the server starts
        from prefect.settings import PREFECT_API_URL, temporary_settings

        # Prefect reads its environment when it is first imported and not again
        with temporary_settings({PREFECT_API_URL: url}) if is_loaded else nullcontext():
            yield
    finally:
        del os.environ["PREFECT_API_URL"]


def _send_what_is_left() -> None:
    """Send what Prefect would send when the process ends; the server is gone by then."""
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    for worker in (EventsWorker, APILogWorker):
        worker.drain_all(timeout=_STOP_SECONDS)


@contextmanager
def _served_url(settings: Settings, *, own: bool) -> Iterator[tuple[int | None, str | None]]:
    """The URL of the server that a running `serve` has noted in its locked file; `own` locks it for ourselves."""
    handle = os.open(settings.prefect_home / "serve.url", os.O_RDWR | os.O_CREAT, 0o644)
    deadline = time.monotonic() + (_GLANCE_SECONDS if own else 0)
    try:
        while True:
            try:
                fcntl.flock(handle, (fcntl.LOCK_EX if own else fcntl.LOCK_SH) | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    yield None, os.pread(handle, 200, 0).decode() or None
                    return
                time.sleep(0.05)
        if not own:
            fcntl.flock(handle, fcntl.LOCK_UN)
        yield handle if own else None, None
    finally:
        os.close(handle)


@contextmanager
def _child(settings: Settings, *, schedules: bool) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server on a port of this machine only. The socket is ours first, so nobody can take the port in between."""
    listener = _listener(_UI_PORT if schedules else 0)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    environment = {**os.environ, "PREFECT_SERVER_UI_API_URL": f"{address}/api", **({} if schedules else _ONE_FLOW_ONLY)}
    environment.pop("PREFECT_API_URL", None)
    with listener, (settings.prefect_home / "server.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "slowwave.flows.schedule.child", str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=environment,
            pass_fds=[listener.fileno()],
            start_new_session=True,  # Ctrl-C is for us; the server has to outlive the flow that reports to it
        )
    try:
        yield process, f"{address}/api"
    finally:
        end_child(process, _STOP_SECONDS)


@contextmanager
def _watch_server(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the schedules when their server does: without it they would wait for ever, and nobody would know.

    Raises UserError when the server has ended by itself.
    """
    is_over = threading.Event()

    def watch() -> None:
        process.wait()
        if not is_over.is_set():
            os.kill(os.getpid(), signal.SIGTERM)  # as a stop is asked for from outside

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        is_over.set()
        if process.poll() is not None:
            log = Path(os.environ["PREFECT_HOME"]) / "server.log"
            message = (
                f"Prefect's server has ended ({process.returncode}), so no schedule runs: see {log}, start it again"
            )
            raise UserError(message)


def _listener(port: int) -> socket.socket:
    """A listening socket on `port`, or on any free one when that is taken."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError:
        listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def _answers(url: str) -> bool:
    """Whether a server of ours is there. One that starts holds its port already and answers when it can."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=START_SECONDS):  # noqa: S310 - http
            return True
    except OSError:
        return False


def _wait_for(url: str, process: subprocess.Popen[bytes] | None) -> None:
    """Return when the API answers; any answer to a configured URL will do, for it may want a password."""
    deadline = time.monotonic() + (START_SECONDS if process else ANSWER_SECONDS)
    why = "no answer"
    while time.monotonic() < deadline and (process is None or process.poll() is None):
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=deadline - time.monotonic() + 1):  # noqa: S310 - http(s)
                return
        except urllib.error.HTTPError:
            return
        except (OSError, ValueError) as error:
            why = str(error)
            time.sleep(0.2)
    if process is None:
        message = f"the Prefect server {url} cannot be reached ({why}): start it, or unset PREFECT_API_URL"
    else:
        log = Path(os.environ["PREFECT_HOME"]) / "server.log"
        message = f"Prefect's server did not start ({why}): see {log}"
    raise UserError(message)
