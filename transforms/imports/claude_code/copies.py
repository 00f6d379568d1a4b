"""Which records repeat earlier ones under new ids.

A client that a program drives may write the conversation so far again before each prompt. The ids of records are then
new; those of the API's messages are not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.adapter import Record
from slowwave.transforms.imports.claude_code.texts import INTERRUPTED, blocks, not_asked, stated, text_of

# Of a text its length and digest, so that a longer text can be compared with it; of another block no length.
_Block = tuple[int | None, bytes]


def message_id(record: Record) -> str:
    """The id that the API gave to the message of a record; '' where there is none."""
    message = record.get("message")
    return stated(message, "id") if isinstance(message, dict) else ""


def prompt_text(record: Record) -> str:
    """The text of a record that asks something; '' of every other record."""
    said = blocks(record) if record.get("type") == "user" else []
    if not said or _has_result(said):
        return ""
    text = text_of([block for block in said if block.get("type") == "text"])
    return "" if text.startswith(INTERRUPTED) or not_asked(record, text) else text.strip()


def answer_key(prompt: Record, answer: Record) -> str:
    """A digest of a prompt and the first record of its answer, the same in every copy; '' of an answer without an id.

    Some providers give every message the same id: so the texts are part of it.
    """
    first = blocks(answer)[:1]
    if not first or not message_id(answer):
        return ""
    return _hashed(prompt_text(prompt), message_id(answer), _hashed(_told(first[0])))


class Copies:
    """The prompts and answers of one conversation, by which their copies are recognised.

    A prompt with the text of an earlier one is held, with what follows it, until its answer tells whether it is asked
    again or written again.
    """

    def __init__(self) -> None:
        self._asked: set[bytes] = set()
        self._said: dict[str, set[_Block]] = {}
        self._prompt_of: dict[str, str] = {}
        self._held: list[tuple[int, Record]] = []
        self._prompt = ""
        self._repeated = ""

    def take(self, number: int, record: Record) -> Iterator[tuple[int, Record, str]]:
        """Records as soon as it is known what they are, each with the prompt that it is a copy of a part of, or ''."""
        text = prompt_text(record)
        if text and _digest(text) in self._asked:
            self._held.append((number, record))
        elif text:
            yield from self.rest()
            yield self._original(number, record)
        elif record.get("type") == "assistant":
            yield from self._answer(number, record)
        elif self._held:
            self._held.append((number, record))
        else:
            yield number, record, "" if self._repeated and _has_result(blocks(record)) else self._repeated

    def rest(self) -> Iterator[tuple[int, Record, str]]:
        """The records that are held: no answer says that they are copies."""
        held, self._held = self._held, []
        yield from (self._original(number, record) for number, record in held)

    def _original(self, number: int, record: Record) -> tuple[int, Record, str]:
        if text := prompt_text(record):
            self._asked.add(_digest(text))
            self._prompt, self._repeated = stated(record, "uuid"), ""
        return number, record, ""

    def _answer(self, number: int, record: Record) -> Iterator[tuple[int, Record, str]]:
        message, said = message_id(record), blocks(record)
        is_known = message in self._said and any(self._is_said(message, block) for block in said)
        if self._held and is_known:
            self._repeated = self._prompt_of[message]
            held, self._held = self._held, []
            yield from ((at, each, self._repeated) for at, each in held)
        yield from self.rest()
        if not is_known:
            self._repeated = ""
        if self._repeated and self._prompt_of[message] != self._prompt:
            yield number, record, self._repeated
            return
        if message:  # what the conversation has of the turn that is going on, that turn tells
            self._said.setdefault(message, set()).update(map(_block, said))
            self._prompt_of.setdefault(message, self._prompt)
        yield number, record, ""

    def _is_said(self, message: str, block: Mapping[str, Any]) -> bool:
        """Whether a message had this block, or the beginning of its text."""
        said, text = self._said[message], stated(block, "text")
        if block.get("type") != "text":
            return _block(block) in said
        return any(size is not None and 0 < size <= len(text) and _text(text[:size]) == (size, of) for size, of in said)


def _has_result(said: Sequence[Mapping[str, Any]]) -> bool:
    return any(block.get("type") == "tool_result" for block in said)


def _block(block: Mapping[str, Any]) -> _Block:
    told = _told(block)
    return _text(told) if block.get("type") == "text" else (None, _digest(told))


def _told(block: Mapping[str, Any]) -> str:
    """What tells a block from others."""
    return stated(block, "text") if block.get("type") == "text" else stated(block, "id") or repr(block)


def _text(text: str) -> _Block:
    return len(text), _digest(text)


def _digest(text: str) -> bytes:
    """Return a digest that is kept no longer than the transcript is read."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _hashed(*texts: str) -> str:
    """Return a digest of texts, also of those with half a surrogate pair."""
    return digest(map(ascii, texts))
