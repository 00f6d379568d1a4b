"""What a word is, for the rules that count words."""

from __future__ import annotations

WORD = r"[\p{L}\p{N}]+"
