"""The version, where the installed package states it."""

from __future__ import annotations

from slowwave import __version__ as VERSION  # noqa: N812 - a constant here

__all__ = ["VERSION"]
