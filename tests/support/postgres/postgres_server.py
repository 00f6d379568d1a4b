"""A real Postgres of its own on this machine's loopback, in a temporary folder, owned by a user that is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OWNER = "slowwave_owner"
PASSWORD = "hunter2 % ? #"  # noqa: S105 - of a server that lives for a test, with what URLs treat apart
WITHOUT = "no Postgres here (to run this: apt-get install postgresql)"


@dataclass
class Server:
    """A server that runs, and its superuser's connections."""

    bin: Path
    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Of the database `team`, as its owner, without the password."""
        return f"postgresql://{OWNER}@127.0.0.1:{self.port}/team"

    def connect(self, **query: str) -> Any:
        """A connection of the driver's, as the owner."""
        from urllib.parse import quote

        from adbc_driver_postgresql import dbapi

        asked = "&".join(f"{name}={quote(value)}" for name, value in {"password": PASSWORD, **query}.items())
        return dbapi.connect(f"{self.url}?{asked}")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a query answers, in a transaction of its own that is committed."""
        with self.connect() as connection:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                found = cursor.fetchall() if cursor.description else []
            connection.commit()
        return found

    def restart(self, mode: str = "immediate") -> None:
        """Stop it as it stands, and start it again."""
        self._control("restart", "-m", mode, "-w")

    def stop(self) -> None:
        """End it."""
        self._control("stop", "-m", "immediate", "-w")

    def start(self) -> None:
        """Begin."""
        self._control("start", "-w", "-l", str(self.folder / "log"))

    def _control(self, *arguments: str) -> None:
        _as_owner([str(self.bin / "pg_ctl"), "-D", str(self.folder / "data"), *arguments])


def binaries() -> Path | None:
    """The folder of Postgres's programs, of the newest version that is here."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@contextmanager
def postgres_server() -> Iterator[Server]:
    """A server with the database `team` and its owner, ended and removed at the end."""
    programs = binaries()
    assert programs is not None
    with tempfile.TemporaryDirectory(prefix="slowwave-pg-", dir="/tmp") as name:
        folder = Path(name)
        password = folder / "password"
        password.write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (folder, password):
                shutil.chown(path, _other_user())
        server = Server(programs, folder, _free_port())
        _as_owner([str(programs / "initdb"), "-D", str(folder / "data"), "-A", "scram-sha-256", "-U", "postgres",
                   f"--pwfile={password}", "--no-sync"])  # fmt: skip
        settings = folder / "data" / "postgresql.conf"
        stated = f"port={server.port}\nlisten_addresses='127.0.0.1'\nunix_socket_directories='{folder}'\nfsync=off\n"
        settings.write_text(settings.read_text() + stated)
        server.start()
        try:
            env = {**os.environ, "PGPASSWORD": PASSWORD}
            for sql in (f"CREATE ROLE {OWNER} LOGIN PASSWORD '{PASSWORD}'", f"CREATE DATABASE team OWNER {OWNER}"):
                command = [str(programs / "psql"), "-qX", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres"]
                subprocess.run([*command, "-c", sql], env=env, check=True)
            yield server
        finally:
            server.stop()


def _as_owner(command: Sequence[str]) -> None:
    """Run a program that refuses to run as root."""
    drop = {"user": _other_user(), "group": pwd.getpwnam(_other_user()).pw_gid} if os.geteuid() == 0 else {}
    subprocess.run(command, stdin=subprocess.DEVNULL, cwd="/", check=True, stdout=subprocess.DEVNULL, **drop)


def _other_user() -> str:
    names = {one.pw_name for one in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]
