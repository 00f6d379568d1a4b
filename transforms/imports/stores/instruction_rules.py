"""The rules of a section of instructions: its list items and paragraphs, each by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

from slowwave.transforms.imports.secrets import clean_value

_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)(?=\S)")
_BOLD = re.compile(r"(\*\*|__)(?!\s)[^*_]+\1")
_BREAK = re.compile(r" {0,3}([-*_=])[ \t]*(\1[ \t]*){2,}$")
# Lines that lead to other files, which the client reads in their place.
_ONLY_IMPORTS = re.compile(r"(@[^\s@]+\s*)+")
# What two wordings of one rule may differ in: case, emphasis, quotes, punctuation, white space.
_WORD = re.compile(r"[^\s*_`\"'.,;:!?]+")
_DIGEST_BYTES = 4


@dataclass(frozen=True)
class Rule:
    """A rule, and where it stands.

    `key` tells it within its section: a digest of its words, with a number from the second of equal ones on. `content`:
    its text, after the sentence that leads to its list (`Never:`). `marker`, `said`: how it begins in the file, and
    its lines there. `lead`: that sentence, '' for none.
    """

    key: str
    content: str
    marker: str
    said: str
    lead: str


@dataclass
class _Block:
    """Lines that belong together: a paragraph, an item of a list with what is nested in it, code, or a table."""

    kind: Literal["paragraph", "item", "code", "table"]
    lines: list[str]
    indent: int = 0
    marker: str = ""
    lead: str = ""
    blanks: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        self.lines += [*self.blanks, line]
        self.blanks = []

    @property
    def is_lead(self) -> bool:
        text = "\n".join(self.lines).strip()
        return self.kind == "paragraph" and (text.rstrip(" *_").endswith(":") or _BOLD.fullmatch(text) is not None)


def split_rules(text: str) -> list[Rule]:
    """The rules of a section's text, in their order.

    Code belongs to the paragraph or item before it. A paragraph before a list that ends with a colon, or is bold,
    belongs to each of its items. Comments, rulers and lines that only import other files are no rules.
    """
    found: list[Rule] = []
    counts = Counter[str]()
    for block in _with_leads(_blocks(_without_comments(text.splitlines()))):
        own = _own_text(block)
        if not own or _ONLY_IMPORTS.fullmatch(own):
            continue
        key = _key(own)
        counts[key] += 1
        key += f"-{counts[key]}" if counts[key] > 1 else ""
        content = f"{block.lead} {own}" if block.lead else own
        found.append(Rule(key, content, block.marker, "\n".join(block.lines), block.lead))
    return found


def _key(text: str) -> str:
    """The same for a rule on every machine of a user, whatever secret or home folder stands in it."""
    cleaned = clean_value(text, Counter())
    words = " ".join(_WORD.findall(cleaned.casefold())) or cleaned
    return blake2b(words.encode("utf-8", "backslashreplace"), digest_size=_DIGEST_BYTES).hexdigest()


def _own_text(block: _Block) -> str:
    first, *rest = block.lines
    if block.kind != "item":
        return "\n".join(block.lines).strip()
    width = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first[len(block.marker) :], *(line[width:] for line in rest)]).strip()


def _without_comments(lines: list[str]) -> Iterator[str]:
    """The lines without comments that begin one; one that never ends is no comment."""
    last_end = max((at for at, line in enumerate(lines) if "-->" in line), default=-1)
    fence, is_comment = "", False
    for at, line in enumerate(lines):
        if not is_comment:
            marks = _FENCE.match(line)
            if marks and (not fence or marks[1].startswith(fence)):
                fence = "" if fence else marks[1]
            begins = not fence and line.lstrip().startswith("<!--")
            is_comment = begins and (at < last_end or "-->" in line)
        if not is_comment:
            yield line
        elif "-->" in line:
            is_comment = False
            yield from ("", line.partition("-->")[2].strip())


def _blocks(lines: Iterator[str]) -> Iterator[_Block]:
    block: _Block | None = None
    fence = ""
    for raw in lines:
        line = raw.expandtabs(4) if raw[:1] in " \t" else raw
        if fence:
            if (marks := _FENCE.match(line)) and marks[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
            if block is not None:
                block.add(line)
                # a paragraph ends with its code
                block.blanks = [] if fence or block.kind == "item" else [""]
            continue
        if not line.strip():
            if block is not None:
                block.blanks.append("")
            continue
        begun = _begin_block(line, block)
        marks = _FENCE.match(line)
        fence = marks[1] if marks else ""
        if begun is None and block is not None:
            block.add(line)
            continue
        if block is not None and not (begun is None or _is_title(block, line)):
            yield block
        block = begun if not _BREAK.match(line) else None
    if block is not None:
        yield block


def _is_title(block: _Block, line: str) -> bool:
    """Whether a line underlines the paragraph right above it, which is a heading then."""
    return block.kind == "paragraph" and not block.blanks and line.strip("= -") == "" and len(block.lines) == 1


def _begin_block(line: str, block: _Block | None) -> _Block | None:
    """The block that a line begins; None where it goes on with the one before."""
    indent = len(line) - len(line.lstrip())
    if block is not None and block.kind == "item" and indent >= block.indent + 2:
        return None
    if _FENCE.match(line):
        goes_on = block is not None and (block.kind == "paragraph" or not block.blanks)
        return None if goes_on else _Block("code", [line])
    if _BREAK.match(line):
        return _Block("code", [line])
    item = _ITEM.match(line)
    if item is not None:
        return _Block("item", [line], indent, item[0])
    if line.lstrip().startswith("|"):
        goes_on = block is not None and ((not block.blanks and block.kind in ("paragraph", "table")) or block.is_lead)
        return None if goes_on else _Block("table", [line])
    goes_on = block is not None and not block.blanks and block.kind in ("paragraph", "item")
    return None if goes_on else _Block("paragraph", [line])


def _with_leads(blocks: Iterator[_Block]) -> Iterator[_Block]:
    """The blocks; a paragraph before a list that it leads to is part of the items, in place of a block of its own."""
    waiting: _Block | None = None
    lead = ""
    for block in blocks:
        if block.kind == "item":
            if waiting is not None:
                lead, waiting = " ".join(" ".join(waiting.lines).split()), None
            block.lead = lead
            yield block
            continue
        if waiting is not None:
            yield waiting
        lead, waiting = "", block if block.is_lead else None
        if waiting is None:
            yield block
    if waiting is not None:
        yield waiting
