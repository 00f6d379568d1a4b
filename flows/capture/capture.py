"""`slowwave capture`: takes rows and telemetry over HTTP into the inbox of a home until it is stopped."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.flows.capture.committer import Committer, Spool
from slowwave.flows.capture.counts import ReceiverCounts
from slowwave.flows.capture.limits import Limits, is_loopback
from slowwave.flows.capture.posts import Senders
from slowwave.flows.kernel.bearer_tokens import Tokens
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.lock import capture_lock, ensure_home
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.store import make_durable_folder
from slowwave.flows.kernel.terminal import quote_shortened, terminal_safe
from slowwave.flows.kernel.times import utc_iso, utc_now
from slowwave.flows.land.received_files import note

if TYPE_CHECKING:
    from starlette.applications import Starlette

LOOPBACK = "127.0.0.1"
_SECONDS_TO_STOP = 5
_STOPPED = 128 + signal.SIGTERM


@dataclass(frozen=True)
class Listening:
    """Where to listen, and how that is safe: TLS here, or a proxy before it that has it. `names`: of this host."""

    host: str = LOOPBACK
    port: int = 0
    tls_cert: str | None = None
    tls_key: str | None = None
    behind_proxy: bool = False
    names: Sequence[str] = ()

    @property
    def must_have_token(self) -> bool:
        """Whether others than programs of this machine can get here."""
        return self.behind_proxy or not is_loopback(self.host)

    def check(self, settings: Settings) -> None:
        """Raises WrongUsageError where others could get here without a token, or read what they send."""
        if (self.tls_cert is None) != (self.tls_key is None):
            message = "--tls-cert and --tls-key go together"
            raise WrongUsageError(message)
        for path in (self.tls_cert, self.tls_key):
            if path is not None and not Path(path).is_file():
                message = f"{quote_shortened(path)} is no file: --tls-cert and --tls-key name files in PEM"
                raise WrongUsageError(message)
        if not self.must_have_token:
            return
        if not any(one.use == "capture" and not one.revoked_at for one in Tokens(settings).list_tokens()):
            message = "others can get here, so a token is needed first: `slowwave token add NAME --project PROJECT`"
            raise WrongUsageError(message)
        if not is_loopback(self.host) and self.tls_cert is None and not self.behind_proxy:
            message = (
                f"on {self.host} anybody on the way could read tokens and texts: name --tls-cert and --tls-key, or say "
                "--behind-proxy where a proxy before it has TLS"
            )
            raise WrongUsageError(message)


def run_capture(settings: Settings, listening: Listening, limits: Limits, *, ends_with_input: bool = False) -> None:
    """Print the address as the first line, then take what is posted, until SIGINT or SIGTERM (or the end of stdin).

    Raises WrongUsageError where it would not be safe, UserError where the port is taken, the home cannot be written, or
    another process takes rows into it, KeyboardInterrupt on Ctrl-C, and SystemExit on SIGTERM.
    """
    listening.check(settings)
    ensure_home(settings)
    with _alone(settings), _socket(listening) as listener:
        _warn_of_params(settings)
        _serve(settings, listening, limits, listener, ends_with_input=ends_with_input)


def _warn_of_params(settings: Settings) -> None:
    """Say once, at the start, that the params cannot be used: no row that is posted needs them."""
    if not settings.params_file.exists():  # params are slow to load
        return
    try:
        settings.params()
    except WrongUsageError as error:
        sys.stderr.write(f"slowwave: {terminal_safe(str(error))}; rows are taken, `slowwave nightly` needs it mended\n")


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    """Be the only one who takes rows into this inbox: also into that of another home that leads there.

    One who merged the files of another would take some of them for files that are merged already.
    """
    make_durable_folder(settings.inbox)
    with capture_lock(settings):
        handle = os.open(settings.inbox, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                message = f"the receiver of another home takes rows into {settings.inbox} already: stop it first"
                raise UserError(message) from error
            yield
        finally:
            os.close(handle)


@contextmanager
def _socket(listening: Listening) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    # named, for only then asyncio sends what is written at once: else an answer of two writes waits 40 ms for an ACK
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((listening.host, listening.port))
            listener.listen(1024)
        except OSError as error:
            message = f"{listening.host} port {listening.port} cannot be used ({error.strerror}): choose another --port"
            raise UserError(message) from error
        yield listener


def _serve(
    settings: Settings, listening: Listening, limits: Limits, listener: socket.socket, *, ends_with_input: bool
) -> None:
    import uvicorn

    from slowwave.flows.capture.app import Receiver, patient_for

    logging.basicConfig(stream=sys.stderr, format="slowwave: capture: %(message)s", level=logging.WARNING)
    address = _address(listening, listener)
    counts = ReceiverCounts()
    senders = Senders(settings, must_have_token=listening.must_have_token)
    spool = Spool(settings)

    def note_counts(**more: str) -> None:
        with suppress(OSError):  # who looks is told of an earlier moment
            note(settings, replace(counts.build_note(), address=address, **more))

    note_counts()
    committer = Committer(spool, senders, counts, settings.longest_row, note_counts)
    receiver = Receiver(senders, committer, spool, counts, limits, listening.names, str(settings.inbox))
    app = receiver.app()
    app.router.lifespan_context = _answering(address)
    config = uvicorn.Config(
        app,
        http=patient_for(limits.head_seconds),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=int(limits.head_seconds),
        timeout_graceful_shutdown=_SECONDS_TO_STOP,
        ssl_certfile=listening.tls_cert,
        ssl_keyfile=listening.tls_key,
    )
    server = uvicorn.Server(config)
    if ends_with_input:

        def stop_at_end_of_input() -> None:
            sys.stdin.buffer.read()
            server.should_exit = True

        threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    try:
        server.run(sockets=[listener])
    finally:
        committer.close()
        spool.close()
        note_counts(stopped_at=utc_iso(utc_now()))


def _address(listening: Listening, listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    scheme = "http" if listening.tls_cert is None else "https"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _answering(address: str):  # noqa: ANN202 - as Starlette wants it
    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        yield

    return lifespan
