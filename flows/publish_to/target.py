"""Where a publish is copied to. No URL holds a password: it would stand in logs and in lists of processes."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.client import SCHEMES
from slowwave.flows.kernel.terminal import quote_shortened

PASSWORD = "SLOWWAVE_PUBLISH_PASSWORD"  # noqa: S105 - the name of a variable
SCHEMA = "slowwave"
_POSTGRES = {"postgresql", "postgres"}
_SECRET = {"password", "passfile", "sslpassword"}
_SECTION = {"url", "schema", "password_file"}
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# Postgres would cut a longer name, and not find it again.
_LONGEST_NAME = 63
# A server that does not answer, or has gone, is given up: nothing here waits for ever.
_PATIENCE = {"connect_timeout": "10", "keepalives_idle": "30", "tcp_user_timeout": "60000"}


@dataclass(frozen=True)
class Postgres:
    """A database, and the schema that holds the tables. `password` '': that of `~/.pgpass` or $PGPASSWORD, or none."""

    url: str
    schema: str
    password: str

    def __repr__(self) -> str:
        return f"Postgres({self.url!r}, {self.schema!r})"

    def uri(self) -> str:
        """What the driver connects to, password included: for the driver alone. Raises UserError: `url` is none."""
        try:
            parts = urlsplit(self.url)
        except ValueError as error:
            message = f"{self.url} is no address of a database ({error}): write postgresql://USER@HOST:PORT/DATABASE"
            raise UserError(message) from error
        asked = dict(parse_qsl(parts.query, keep_blank_values=True))
        secret = {"password": self.password} if self.password else {}
        query = urlencode({**_PATIENCE, "application_name": "slowwave publish-to", **asked, **secret}, quote_via=quote)
        return f"postgresql://{parts.netloc}{parts.path}?{query}"  # also without a host: then it is a local socket

    def without_password(self, told: str) -> str:
        """What the driver told, which may quote what it was given, as it is or as URLs write it."""
        for shown in (quote(self.password, safe=""), self.password) if self.password else ():
            told = told.replace(shown, "…")
        return told


@dataclass(frozen=True)
class Files:
    """A folder, or a bucket by its URL."""

    url: str


def target(url: str, schema: str = SCHEMA, password_file: str | None = None) -> Postgres | Files:
    """What a URL names.

    Raises WrongUsageError for a URL that holds a password or is of another kind, UserError for a password file that
    cannot be used.
    """
    scheme = url.partition("://")[0].lower() if "://" in url else ""
    if scheme in _POSTGRES:
        return _database(url, schema, password_file)
    if url.partition(":")[0].lower() in _POSTGRES:
        message = f"a database is named postgresql://USER@HOST/DATABASE; for a folder of that name say ./{url}"
        raise WrongUsageError(message)
    if schema != SCHEMA or password_file is not None:
        message = "--schema and --password-file are for a database: leave them out for a folder or bucket"
        raise WrongUsageError(message)
    if scheme in SCHEMES:
        return Files(url.rstrip("/"))
    if scheme == "file":
        return Files(_folder_of(url))
    if scheme:
        message = (
            f"nothing can be published to {quote_shortened(scheme)}://…: name "
            "postgresql://USER@HOST/DATABASE, a folder, or"
            f" {' or '.join(f'{one}://BUCKET/PREFIX' for one in SCHEMES)}"
        )
        raise WrongUsageError(message)
    return Files(url)


def settled_target(settings: Settings) -> Postgres | Files | None:
    """What `[publish_to]` of `settings.toml` names; None: nothing.

    Raises UserError when it cannot be understood, and as `target`.
    """
    stated = settings.read_section("publish_to", _SECTION)
    if not stated:
        return None
    if "url" not in stated or not all(isinstance(value, str) and value for value in stated.values()):
        message = (
            f'{settings.settings_file} cannot be used: [publish_to] has url = "…", and may have schema, password_file'
        )
        raise UserError(message)
    return target(stated["url"], stated.get("schema", SCHEMA), stated.get("password_file"))


def _database(url: str, schema: str, password_file: str | None) -> Postgres:
    try:
        parts = urlsplit(url)
        named = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
        holds_password = parts.password is not None or bool(named & _SECRET)
    except ValueError as error:
        message = "this is no URL of a database: name postgresql://USER@HOST:PORT/DATABASE"
        raise WrongUsageError(message) from error
    if holds_password:
        message = (
            f"a password in the URL would be seen by others: leave it out, and put it into ${PASSWORD}, ~/.pgpass, or a"
            " file that --password-file names"
        )
        raise WrongUsageError(message)
    if not schema or "\x00" in schema or len(schema.encode()) > _LONGEST_NAME:
        message = f"--schema names the schema that holds the tables, such as slowwave, in {_LONGEST_NAME} bytes at most"
        raise WrongUsageError(message)
    return Postgres(url, schema, _password(password_file))


def _password(file: str | None) -> str:
    """The password that is given apart; '' leaves it to ~/.pgpass and $PGPASSWORD, which the driver reads itself."""
    if file is None:
        return os.environ.get(PASSWORD, "")
    path = Path(file).expanduser()
    try:
        if path.stat().st_mode & _OTHERS:
            message = f"{path} can be read by other users: `chmod 600` it first"
            raise UserError(message)
        return path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        message = f"the password file {path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}"
        raise UserError(message) from error


def _folder_of(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        message = f"{url} is no URL of a folder ({error}): name one such as file:///srv/tables"
        raise WrongUsageError(message) from error
    if parts.netloc not in {"", "localhost"}:
        message = (
            f"file://{parts.netloc}/… is on another machine: name a folder of this one, such as file:///srv/tables"
        )
        raise WrongUsageError(message)
    return unquote(parts.path)
