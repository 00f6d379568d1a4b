"""Errors a person can act on."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can mend; the message says what is wrong and what to do. Shown without a stack trace."""


class AuditFailedError(UserError):
    """An audit of a new serving file found bad rows; yesterday's tables stay live."""
