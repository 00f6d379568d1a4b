"""Bearer tokens: who may post rows (`capture`) or ask (`mcp`) over the network, and of which project.

`tokens.json` in the home holds what tells a token, never the token: its SHA-256, which does for 256 random bits. Who is
taken out stays in the file, so that a home that ever had a token never answers without one again.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from slowwave.flows.kernel.doors import make_home
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.store import write_private
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.kernel.times import utc_iso, utc_now

Use = Literal["capture", "mcp"]
_PREFIX = "swt_"
_BYTES = 32
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_BEARER = re.compile(r"bearer +([!-~]{1,512}) *", re.IGNORECASE)
_OTHERS_MAY_WRITE = 0o022


@dataclass(frozen=True)
class AccessToken:
    """What is kept of a token.

    `project`: the one its rows, or its answers, are of; None, of `mcp` only: any. `mapping`: the declared mapping that
    its rows are read through. `digest`: SHA-256 of the token, hex. Times are ISO-8601; `revoked_at` '': it is valid.
    """

    name: str
    use: Use
    project: str | None
    digest: str
    added_at: str
    mapping: str = ""
    revoked_at: str = ""


class Tokens:
    """The tokens of a home as they stand: the file is read again whenever it has changed."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.tokens_file
        self._stamp: tuple[int, ...] | None = None
        self._tokens: tuple[AccessToken, ...] = ()

    def list_tokens(self) -> Sequence[AccessToken]:
        """Every token there ever was. Raises UserError where the file cannot be trusted or understood."""
        try:
            status = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._stamp, self._tokens = None, ()
            return ()
        except OSError as error:
            message = f"{self._path} cannot be read: {error.strerror}"
            raise UserError(message) from error
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode)
        if stamp != self._stamp:
            self._tokens = _read_tokens(self._path, status.st_mode)
            self._stamp = stamp
        return self._tokens

    def are_asked_for(self) -> bool:
        """Whether there ever was a token, so that nobody is let in without one. Raises UserError as `list_tokens`."""
        return bool(self.list_tokens())

    def verify_token(self, authorization: str | None, use: Use) -> AccessToken | None:
        """The valid token of that use in an `Authorization` header; None where there is none.

        Raises UserError as `list_tokens`: then nobody may be let in.
        """
        stated = _BEARER.fullmatch(authorization or "")
        digest = _digest(stated[1] if stated else "")
        found = None
        for token in self.list_tokens():  # all of them are compared, so that the time tells nothing
            is_it = hmac.compare_digest(token.digest.encode(), digest.encode())
            if is_it and stated and token.use == use and not token.revoked_at:
                found = token
        return found


def add_token(settings: Settings, name: str, use: Use, project: str | None, mapping: str = "") -> str:
    """Add a token, and give it: it can be had this once.

    Raises WrongUsageError for a name that is none or taken, UserError where the file cannot be used, and OSError.
    """
    if not _NAME.fullmatch(name):
        message = (
            f"{quote_shortened(name)} is no name of a token: use up to 64 letters, digits, '-', '_' and "
            "'.', such as shop-api"
        )
        raise WrongUsageError(message)
    token = _PREFIX + secrets.token_urlsafe(_BYTES)

    def append_token(there: Sequence[AccessToken]) -> list[AccessToken]:
        if any(one.name == name and not one.revoked_at for one in there):
            message = f"there is a token {quote_shortened(name)} already: revoke it first, or choose another name"
            raise WrongUsageError(message)
        return [*there, AccessToken(name, use, project, _digest(token), utc_iso(utc_now()), mapping)]

    _change(settings, append_token)
    return token


def revoke_token(settings: Settings, name: str) -> None:
    """Let a token open nothing any more, also where a server runs already.

    Raises WrongUsageError where no valid token is called so, UserError where the file cannot be used, and OSError.
    """

    def mark_revoked(there: Sequence[AccessToken]) -> list[AccessToken]:
        if not any(one.name == name and not one.revoked_at for one in there):
            message = f"no valid token is called {quote_shortened(name)}: `slowwave token list` names them"
            raise WrongUsageError(message)
        now = utc_iso(utc_now())
        return [replace(one, revoked_at=one.revoked_at or now) if one.name == name else one for one in there]

    _change(settings, mark_revoked)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _change(settings: Settings, change: Callable[[Sequence[AccessToken]], list[AccessToken]]) -> None:
    make_home(settings.home)
    with _alone(settings.home):
        tokens = change(Tokens(settings).list_tokens())
        text = json.dumps({"tokens": [asdict(one) for one in tokens]}, indent=1)
        write_private(settings.tokens_file, [text.encode(), b"\n"])


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Be the only one who changes the tokens."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _read_tokens(path: Path, mode: int) -> tuple[AccessToken, ...]:
    if mode & _OTHERS_MAY_WRITE:
        message = f"{path} can be written by other users, so that it proves nothing: see who did, then `chmod 600` it"
        raise UserError(message)
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
        return tuple(_token(one) for one in stated["tokens"])
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise UserError(message) from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        message = f"{path} is damaged: restore it from a backup, or remove it and add the tokens again"
        raise UserError(message) from error


def _token(stated: dict[str, Any]) -> AccessToken:
    token = AccessToken(**stated)
    wrong = [
        field.name
        for field in fields(AccessToken)
        if not isinstance(value := getattr(token, field.name), str) and (field.name != "project" or value is not None)
    ]
    if wrong or token.use not in ("capture", "mcp") or (token.project is None and token.use == "capture"):
        raise ValueError(wrong)
    return token
