"""What entries of a session say: prompts without what OpenClaw puts around them, answers without its directions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_METADATA = r"[A-Z][\w ]{0,60} \(untrusted[^)\n]{0,40}\):\s*```json\s.*?```\s*"
_STAMP = r"\[[^\]\n]{0,150}\d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,20}\]\s*"
_BEFORE = re.compile(rf"\s*(?:{_METADATA})*(?:{_STAMP})?", re.DOTALL)
_DIRECTION = re.compile(r"\[\[\s*reply_to(?:_current|:[^\]\n]*)\s*\]\]\s*")
# Prompts that OpenClaw writes itself, by what they begin with.
_OWN = (
    "A new session was started via /new or /reset",
    "Read HEARTBEAT.md if it exists",
    "Pre-compaction memory flush",
    "System: [",
)
# Messages that OpenClaw writes in the model's place.
_NO_MODELS = frozenset({"delivery-mirror", "gateway-injected"})


def stated(record: Mapping[str, Any], name: str) -> str:
    """A field that is a text; '' where it is none."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def blocks(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The blocks of a message; one that is a text is one block."""
    content = message.get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def text_of(message: Mapping[str, Any]) -> str:
    """The texts of a message."""
    texts = (stated(block, "text") for block in blocks(message) if block.get("type") == "text")
    return "\n\n".join(text for text in texts if text)


def asked(text: str) -> str:
    """A prompt without who sent it and when."""
    found = _BEFORE.match(text)
    return text[found.end() :].strip() if found else text.strip()


def is_own_prompt(text: str) -> bool:
    """Whether the client asked, and nobody else."""
    return text.startswith(_OWN)


def answered(text: str) -> str:
    """An answer without directions to the client."""
    return _DIRECTION.sub("", text).strip("\n")


def is_answer(message: Mapping[str, Any]) -> bool:
    """Whether a message of the assistant's is the model's."""
    return stated(message, "model") not in _NO_MODELS
