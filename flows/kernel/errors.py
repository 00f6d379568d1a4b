"""Errors a person can act on."""

from __future__ import annotations

import shlex
import sys


class UserError(Exception):
    """Something the user can mend; the message says what is wrong and what to do. Shown without a stack trace."""

    exit_code = 1


class WrongUsageError(UserError):
    """What was asked for, or what the user wrote into a file, makes no sense: nothing was done."""

    exit_code = 2


class AuditFailedError(UserError):
    """An audit of a new serving file found bad rows; yesterday's tables stay live."""


def not_installed(what: str, extra: str) -> UserError:
    """What needs an extra, and the command that installs it into this very interpreter, which may be no shell's own."""
    return UserError(f"{what}: {shlex.quote(sys.executable)} -m pip install 'slowwave[{extra}]'")
