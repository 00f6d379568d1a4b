"""Claude Code's memory files, one memory each, and its instructions, one memory a rule.

A transcript that says which files it was given names the same memories: `memories_of`. So the id of a rule follows from
its section and its words alone; a rule that is worded anew is another memory, which the old one is superseded by.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from difflib import SequenceMatcher
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Record
from slowwave.transforms.imports.record_values import moment_of
from slowwave.transforms.imports.secrets import clean_value, without_home
from slowwave.transforms.imports.stores.change_log import Fact, LostMemory, Store, StoredMemory, change_time
from slowwave.transforms.imports.stores.memory_files import MarkdownSection, front_matter, sections, without_scores
from slowwave.transforms.imports.stores.store_state import ReadBefore, SeenMemory

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


_CLAUDE_MEMORY = "claude-memory"
INDEX = "MEMORY.md"
# What Claude Code calls the kinds of its memories; what it calls otherwise is knowledge.
_OTHER = "knowledge"
_TYPES = {"user": "identity", "feedback": "preference", "project": "project", "reference": "knowledge"}
# Claude Code itself gives a memory no end; people and their tools write one into the front matter.
_EXPIRY = ("expires_at", "valid_until", "expiration_date")
_PROJECT_FOLDER = re.compile(r"projects/([^/]+)/memory$")
# A line of the index that leads to a memory's own file.
_LISTED = re.compile(r"\s*[-*]\s+\[[^\]]*\]\([^)]*\.md\)")
_IS_SPLIT = "each of its rules is a memory of its own"
_IS_REWORDED = "it was worded anew"
_IS_MOVED = "it stands in another section"
_IS_OUT = "it no longer stands in its section"
# Of two rules that are one, before and after somebody worded it anew: the share of their characters that agree.
_LEAST_ALIKE = 0.6
_MOST_COMPARED = 2_000


@dataclass(frozen=True)
class FileMemory:
    """A memory that a file holds; `fields` are those of a stored memory that its text gives.

    `rule`: where it is a rule of a section. `is_split`: a section whose rules follow; it is in use through them alone.
    """

    memory_id: str
    fields: dict[str, Any]
    rule: Rule | None = None
    is_split: bool = False


def memories_of(path: str, text: str) -> list[FileMemory]:
    """The memories of a file of Claude Code's, in their order; `path` is absolute, or begins with `~`."""
    folder, _, name = without_home(path.replace("\\", "/")).rpartition("/")
    of_project = _PROJECT_FOLDER.search(folder)
    place = of_project[1] if of_project else folder
    stated, body = front_matter(text)
    if name != INDEX and (of_project or "name" in stated):
        return _whole_file(f"{_CLAUDE_MEMORY}:{place}/{name.removesuffix('.md')}", stated, body)
    if name == INDEX:
        body = "\n".join(line for line in body.splitlines() if not _LISTED.match(line))
    place = f"{_CLAUDE_MEMORY}:{place}/{name}"
    return [memory for section in sections(body) for memory in _section_memories(place, stated, section)]


def _whole_file(memory_id: str, stated: dict[str, Any], body: str) -> list[FileMemory]:
    if says_nothing(body):
        return []
    metadata = stated.get("metadata")
    kind = metadata.get("type") if isinstance(metadata, dict) else stated.get("type")
    memory_type = _TYPES.get(kind, _OTHER) if isinstance(kind, str) else _OTHER
    own = without_scores(stated)
    expiry = [own.pop(name) for name in _EXPIRY if isinstance(own.get(name), str)]
    fields = {"memory_type": memory_type, "content": body.strip(), "expires_at": next(iter(expiry), None)}
    return [FileMemory(memory_id, {**fields, _CLAUDE_MEMORY: own or None})]


def _section_memories(place: str, stated: dict[str, Any], section: MarkdownSection) -> Iterator[FileMemory]:
    """A section, and its rules, whose `parent_id` it is."""
    memory_id = f"{place}#{section.slug}" if section.slug else place
    category = " / ".join(section.path) or None
    shared = {"category": category, _CLAUDE_MEMORY: without_scores(stated) or None}
    rules = split_rules(section.text)
    yield FileMemory(memory_id, {**shared, "content": section.text}, is_split=bool(rules))
    for rule in rules:
        fields = {**shared, "content": rule.content, "parent_id": memory_id}
        yield FileMemory(f"{place}#{section.slug}/{rule.key}", fields, rule)


# ------------------------------------------------------------------------------------------
# What the files say beside what was seen of them.


def _claude_facts(records: Iterable[Located], context: Context) -> Iterator[Fact]:
    """Records `{"path", "text", "modified_at", "directory"}`; the last is where the work lies that a file is for.

    Without a directory a file is for all work of its user.
    """
    seen = _SeenRules(context.before)
    for located in records:
        record = located.record
        found = memories_of(record["path"], record["text"])
        if not found:
            yield LeftOut("a file without a memory of its own", example=record["path"])
        modified_at = moment_of(record["modified_at"])
        reach = _reach(record, context)
        for memory in found:
            fields = {"status": "active", **reach, **memory.fields}
            if memory.is_split:  # it would count twice, as itself and as its rules
                fields |= {"status": "archived", "reason": _IS_SPLIT}
            if memory.rule is None:
                yield StoredMemory(memory.memory_id, fields, None, modified_at)
            else:
                since, status = seen.first_state(memory, modified_at)
                yield StoredMemory(memory.memory_id, fields | status, since, modified_at)
        yield from seen.ended_rules(found, modified_at)


def _reach(record: Record, context: Context) -> dict[str, Any]:
    directory = record["directory"]
    if directory is None:
        return {"memory_type": "preference", "scope": "global"}
    return {"memory_type": "project", "project": context.project_of(directory)}


class _SeenRules:
    """What was seen of sections and their rules before the store was read now."""

    def __init__(self, before: ReadBefore | None) -> None:
        self._before = before
        self._seen: Mapping[str, SeenMemory] = {} if before is None else dict(before.seen.memories)
        self._rules: dict[str, set[str]] = defaultdict(set)
        self._whole: set[str] = set()
        for memory_id in (memory_id for memory_id, memory in self._seen.items() if memory.is_live):
            place, _, rest = memory_id.rpartition("#")
            if place and "/" in rest:
                self._rules[place].add(memory_id)
            else:
                self._whole.add(memory_id)

    def first_state(self, rule: FileMemory, modified_at: datetime | None) -> tuple[datetime | None, dict[str, str]]:
        """Since when a rule is a memory of its own, None: since its file was written; and what status it has, if any.

        Its section had been in use whole: the rule begins where that ends, and if somebody took the section out of use,
        the rule is too.
        """
        parent = rule.fields["parent_id"]
        if self._before is None or parent not in self._whole or rule.memory_id in self._seen:
            return None, {}
        decided = self._known_whole.get(parent, {}).get("status", "active")
        status = {} if decided == "active" else {"status": "candidate" if decided == "candidate" else "archived"}
        return change_time(self._seen[parent].at, modified_at, self._before.seen_at), status

    @cached_property
    def _known_whole(self) -> Mapping[str, Mapping[str, str]]:
        return {} if self._before is None else self._before.known(self._whole)

    def ended_rules(self, found: list[FileMemory], modified_at: datetime | None) -> Iterator[LostMemory]:
        """The rules that a file had and no longer has, while it still has their section, or their words elsewhere."""
        now = {memory.memory_id: memory for memory in found}
        new = {memory_id for memory_id, memory in now.items() if memory.rule and memory_id not in self._seen}
        places = {memory_id.rpartition("#")[0] for memory_id, memory in now.items() if memory.rule}
        gone = {rule for place in places for rule in self._rules[place]} - now.keys()
        was = self._before.known(gone) if self._before is not None and gone and new else {}
        for memory_id in sorted(gone):
            section, _, key = memory_id.rpartition("/")
            moved = sorted(other for other in new if other.rpartition("/")[2] == key)
            if moved:
                yield LostMemory(memory_id, modified_at, _IS_MOVED, moved[0])
            elif section.removesuffix("#") in now:
                heirs = [one for one in new if one.startswith(f"{section}/")]
                is_plain = len(heirs) == 1 and sum(one.startswith(f"{section}/") for one in gone) == 1
                said = was.get(memory_id, {}).get("content", "")
                heir = heirs[0] if is_plain and _is_alike(said, now[heirs[0]].fields["content"]) else ""
                yield LostMemory(memory_id, modified_at, _IS_REWORDED if heir else _IS_OUT, heir)


def _is_alike(one: str, other: str) -> bool:
    one, other = (text.casefold()[:_MOST_COMPARED] for text in (one, other))
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= _LEAST_ALIKE


CLAUDE_MEMORY_STORE = Store(name=_CLAUDE_MEMORY, version=2, called="Claude Code's memory files", facts=_claude_facts)
