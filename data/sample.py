"""Sample logs: eleven weeks of agents at work, as producers would deliver them, with the truth of what was planted.

The same arguments give the same bytes on any machine: only seeded choices, exact arithmetic and no clock.
"""

import csv
import datetime
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slowwave.data.sample_talk import FEEDBACK
from slowwave.data.sample_text import Draw, gzip_bytes, moment_of, normalise, time_text
from slowwave.data.sample_world import DAY, SECOND, UNKNOWN_MEMORY_IDS, Planted, Row, World
from slowwave.data.story import AGENT_WEIGHTS, DAYS, INTERACTIONS_PER_DAY, STRATEGIES

FIRST_DAY = datetime.date(2026, 3, 1)
SHORTEST_ECHO = 12
LATE_DAY, MOVED_DAY, REDELIVERED_DAY, REDELIVERY_DAY = 2, 4, 5, 8  # counted from 0

# Rows that landing must quarantine: (reason, kind, the line as delivered; DATE stands for the day).
BAD_LINES = (
    ("blank_prompt", "interaction", b'{"interaction_id":"bad-01","created_at":"DATE 09:00:00","prompt":"  \\n "}'),
    ("blank_prompt", "interaction", b'{"interaction_id":"bad-02","created_at":"DATE 09:05:00","prompt":null}'),
    ("impossible_time", "interaction", b'{"interaction_id":"bad-03","created_at":"2026-02-31T10:00Z","prompt":"Hi"}'),
    ("missing_time", "interaction", b'{"interaction_id":"bad-04","prompt":"When was this?"}'),
    ("broken_line", "interaction", b'{"interaction_id":"bad-05","created_at":"DATE 11:00:00","prompt":"It ends he'),
    ("confidence_out_of_range", "memory", b'{"memory_id":"bad-06","changed_at":"DATE 12:00:00","confidence":1.7}'),
    ("unknown_status", "memory", b'{"memory_id":"bad-07","changed_at":"DATE 12:30:00","status":"promoted"}'),
    ("text_expected", "interaction", b'{"interaction_id":"bad-08","created_at":"DATE","prompt":"Hi","response":{}}'),
    ("text_expected", "memory", b'{"memory_id":"bad-09","changed_at":"DATE 13:00:00","content":["a","b"]}'),
    ("unknown_kind", "interaction", b'{"event":"heartbeat","created_at":"DATE 13:30:00","value":3}'),
    ("text_expected", "interaction", b'{"interaction_id":"bad-11","created_at":"DATE 14:00:00","prompt":42}'),
    ("bad_inline_field", "interaction",
     b'{"interaction_id":"bad-12","created_at":"DATE 14:30:00","prompt":"Hi","success":"perhaps"}'),
    ("impossible_time", "memory", b'{"memory_id":"bad-13","changed_at":"yesterday","content":"Soon to be known."}'),
    ("confidence_out_of_range", "memory", b'{"memory_id":"bad-14","changed_at":"DATE 15:00:00","confidence":-0.2}'),
    ("impossible_time", "outcome", b'{"outcome_id":"bad-15","created_at":"2026-13-01","success":true}'),
    ("broken_line", "interaction", b'{"interaction_id":"bad-16","created_at":"DATE","prompt":"\xff\xfe"}'),
    ("broken_line", "interaction", b'["bad-17", "a list is not a row"]'),
)  # fmt: skip


@dataclass(frozen=True)
class SampleFile:
    """One file as a producer drops it; names sort in order of delivery."""

    name: str
    content: bytes


@dataclass(frozen=True)
class FileTruth:
    """What one file holds: delivered = accepted + duplicates + bad."""

    name: str
    delivered: int
    accepted: int
    duplicates: int
    bad: int


@dataclass(frozen=True)
class BadRow:
    """One row planted to be quarantined; row numbers start at 1."""

    file: str
    row_number: int
    reason: str


@dataclass(frozen=True)
class Use:
    """How one response leaned on one memory: echo, parrot (an echo of its own prompt), paraphrase or stale.

    ``stale`` repeats a memory that was not active then. ``reinforce`` is False where nothing may be counted.
    """

    interaction_id: str
    memory_id: str
    kind: str
    reinforce: bool


@dataclass
class MemoryTruth:
    """Interactions per memory, over the winning row versions; ``role`` is as ``story`` says, or ''.

    ``echoed`` is what echo/1 must find; ``echoed_in_prompt`` is the part of it that already stood in the prompt.
    """

    memory_id: str
    role: str = ""
    injected: int = 0
    echoed: int = 0
    echoed_in_prompt: int = 0
    paraphrased: int = 0


@dataclass
class StrategyTruth:
    """One strategy in the hands of one agent: its true rates, and what came of it.

    The rates hold before effects of memories and hard tasks; ``expected_successes`` includes those.
    ``failures`` counts failed attempts by error.
    """

    strategy_id: str
    agent: str
    task_type: str
    variants: tuple[str, ...]
    rate: float
    later_rate: float
    attempts: int = 0
    successes: int = 0
    expected_successes: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)


@dataclass
class SampleTruth:
    """What was planted. Counts are of distinct rows: versions, duplicates and bad rows are not counted twice."""

    as_of: datetime.datetime  # the first midnight at which all but the future rows are visible
    rates_change_at: datetime.datetime
    interactions: int = 0
    inline_outcomes: int = 0
    reported_outcomes: int = 0
    memory_changes: int = 0
    non_attempts: Counter[str] = field(default_factory=Counter)
    files: list[FileTruth] = field(default_factory=list)
    bad_rows: list[BadRow] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    memories: dict[str, MemoryTruth] = field(default_factory=dict)
    strategies: dict[tuple[str, str], StrategyTruth] = field(default_factory=dict)
    duplicate_memory_ids: list[tuple[str, str]] = field(default_factory=list)
    unknown_memory_ids: tuple[str, ...] = UNKNOWN_MEMORY_IDS
    late_memory_changes: list[tuple[str, int]] = field(default_factory=list)  # (memory_id, changed_at in microseconds)
    # Interactions by how they were delivered: late (in the file of a later day), newer (again, with more fields),
    # older (a draft after the version that wins), moved (again, one day earlier), future (not in ``interactions``).
    interaction_ids: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def sample_files(
    seed: int = 7,
    *,
    start: datetime.date = FIRST_DAY,
    days: int = DAYS,
    interactions_per_day: int = INTERACTIONS_PER_DAY,
) -> Iterator[SampleFile]:
    """Yield the sample logs file by file, in order of delivery."""
    return _Producers(World(seed, start, days), interactions_per_day).files()


def sample_truth(
    seed: int = 7,
    *,
    start: datetime.date = FIRST_DAY,
    days: int = DAYS,
    interactions_per_day: int = INTERACTIONS_PER_DAY,
) -> SampleTruth:
    """Return what ``sample_files`` plants with the same arguments."""
    producers = _Producers(World(seed, start, days), interactions_per_day)
    for _ in producers.files():
        pass
    return producers.truth


def write_sample(folder: Path, **kwargs: Any) -> list[Path]:  # noqa: ANN401 (passed on to sample_files)
    """Write ``sample_files(**kwargs)`` into a folder as producers must: under a .tmp name, then renamed."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for file in sample_files(**kwargs):
        unfinished = folder / f"{file.name}.tmp"
        unfinished.write_bytes(file.content)
        paths.append(unfinished.replace(folder / file.name))
    return paths


@dataclass(frozen=True)
class _Line:
    """One row on its way into a file."""

    kind: str
    row: Row
    note: str = ""  # "", "duplicate", or why the row is bad
    raw: bytes = b""  # of a bad row


class _Producers:
    """Delivers a world day by day, keeping count of what is delivered."""

    def __init__(self, world: World, interactions_per_day: int) -> None:
        self.world, self.per_day = world, interactions_per_day
        self.truth = SampleTruth(moment_of(world.end + DAY), moment_of(world.strategies_change))
        self.truth.duplicate_memory_ids = world.duplicate_memory_ids
        self.truth.memories = {m.memory_id: MemoryTruth(m.memory_id, m.role) for m in world.memories}
        self.truth.strategies = {
            (s.strategy_id, agent): StrategyTruth(s.strategy_id, agent, s.task_type, s.variants,
                                                  s.true_rate(agent, False), s.true_rate(agent, True))
            for s in STRATEGIES for agent in AGENT_WEIGHTS
        }  # fmt: skip
        self._due: defaultdict[int, list[_Line]] = defaultdict(list)

    def _send(self, day: int, kind: str, row: Row, style: str) -> None:
        times = {n: time_text(row[n], style) for n in ("created_at", "changed_at", "recorded_at") if n in row}
        self._due[day].append(_Line(kind, row | times))

    def files(self) -> Iterator[SampleFile]:
        """Yield the files of each day; the day after the last brings what is still on its way."""
        self._schedule_memories()
        redelivered: tuple[SampleFile, int] | None = None
        for day in range(self.world.days + 1):
            draw = Draw(self.world.seed, "delivery", day)
            if day < self.world.days:
                self._schedule_day(draw, day)
            date = (self.world.start_date + datetime.timedelta(days=day)).isoformat()
            for name, lines in self._layout(day, self._with_repeats(draw, day)):
                file = self._packed(f"{date}_{name}", lines)
                yield file
                if day == REDELIVERED_DAY and "interactions" in name:
                    redelivered = file, len(lines)
            if day == REDELIVERY_DAY and redelivered:
                file, rows = redelivered
                file = SampleFile(f"{date}_redelivery-of-{file.name}", file.content)
                self.truth.files.append(FileTruth(file.name, rows, 0, rows, 0))
                yield file

    def _schedule_memories(self) -> None:
        draw = Draw(self.world.seed, "memory delivery")
        for memory, change in ((m, c) for m in self.world.memories for c in m.changes):
            self.truth.memory_changes += 1
            time = change["changed_at"]
            day = max(0, (time - self.world.start) // DAY)
            style = "date" if time % DAY == 0 else draw.pick(("zulu", "zulu", "offset", "spaced", "naive"))
            if time < self.world.start:
                self._send(0, "memory export" if change is memory.changes[0] else "memory", change, style)
            elif draw.chance(0.03) and day + 2 <= self.world.days:
                lag = min(self.world.days - day, draw.between(2, 9))
                self._send(day + lag, "memory", change | draw.pick(({}, {"recorded_at": time + lag * DAY})), style)
                self.truth.late_memory_changes.append((memory.memory_id, time))
            elif "confidence" in change and draw.chance(0.05):  # corrected a day later
                self._send(day, "memory", change | {"confidence": 0.5}, style)
                self._send(day + 1, "memory", change | {"recorded_at": time + DAY}, style)
            else:
                self._send(day, "memory", change, style)

    def _schedule_day(self, draw: Draw, day: int) -> None:
        for planted, outcomes in self.world.interactions(day, self.per_day):
            _add_producer_fields(draw, planted.row)
            self._schedule_interaction(draw, day, planted)
            for outcome in outcomes:
                self._schedule_outcome(draw, outcome)
        if day == self.world.days // 2:
            row = {"interaction_id": "ix-future", "created_at": self.world.start + 400 * DAY, "project": "tidewater",
                   "prompt": "This request has a clock that runs ahead.", "response": "Noted for later."}  # fmt: skip
            self._send(day, "interaction", row, "zulu")
            self.truth.interaction_ids["future"].append("ix-future")
        date = (self.world.start_date + datetime.timedelta(days=day)).isoformat().encode()
        for place, (reason, kind, raw) in enumerate(BAD_LINES):
            if place * self.world.days // len(BAD_LINES) == day:
                self._due[day].append(_Line(kind, {}, reason, raw.replace(b"DATE", date)))

    def _schedule_interaction(self, draw: Draw, day: int, planted: Planted) -> None:
        row, key = planted.row, planted.row.get("interaction_id", "")
        styles = {"terminal": ("zulu", "naive"), "editor": ("offset", "offset", "spaced", "epoch_s")}
        style = draw.pick(styles.get(row["client"], ("epoch_ms",)))
        fate, lag = draw.weighted({"": 955, "late": 22, "newer": 16, "older": 7}), draw.between(1, 9)
        if day == LATE_DAY and key.endswith("-00000"):
            fate, lag = "late", 9
        if day == MOVED_DAY and not (planted.use or planted.strategy or self.truth.interaction_ids["moved"]):
            fate = "moved"
        if not key or day + lag > self.world.days:
            fate = ""
        later = {"recorded_at": planted.time + lag * DAY}
        versions = [(0, row)]
        if fate == "late":
            versions = [(lag, row | draw.pick(({}, later)))]
        elif fate == "newer":
            feedback = {"feedback": draw.pick(FEEDBACK)} if "success" in row else {}
            versions = [(0, row), (lag, {"response_summary": "Seen again by a person.", **row, **later, **feedback})]
        elif fate == "older":
            shown = ("interaction_id", "created_at", "project", "agent", "client", "session_id", "user_id", "prompt")
            draft = {name: row[name] for name in shown} | {"response": "Draft: I am still looking into this."}
            versions = [(0, row | {"recorded_at": planted.time + 3_600 * SECOND}), (lag, draft)]
        elif fate == "moved":
            planted.time -= DAY
            versions = [(0, row), (lag, row | later | {"created_at": planted.time})]
        if fate:
            self.truth.interaction_ids[fate].append(key)
        for days_later, version in versions:
            self._send(day + days_later, "interaction", version, style)
        self._count_interaction(planted)

    def _schedule_outcome(self, draw: Draw, planted: Planted) -> None:
        row, style = planted.row, draw.pick(("zulu", "zulu", "naive"))
        versions = [row]
        if "outcome_id" in row and draw.chance(0.04):
            seen = min(row["recorded_at"] + draw.between(60, 7_200) * SECOND, self.world.end + DAY - SECOND)
            versions.append(row | {"recorded_at": seen, "feedback": "worked after review"})
        for version in versions:
            self._send((version["recorded_at"] - self.world.start) // DAY, "outcome", version, style)
        self.truth.reported_outcomes += 1
        self._count_outcome(planted)

    def _count_interaction(self, planted: Planted) -> None:
        row, truth = planted.row, self.truth
        truth.interactions += 1
        truth.inline_outcomes += "success" in row
        if planted.attempted is not None:
            self._count_outcome(planted)
        for memory_id in row.get("memories_used", ()):
            truth.memories.setdefault(memory_id, MemoryTruth(memory_id)).injected += 1
        if not planted.use:
            return
        memory_id, kind = planted.use
        reinforce = row.get("reinforce", True)
        truth.uses.append(Use(row["interaction_id"], memory_id, kind, reinforce))
        if kind == "paraphrase":
            truth.memories[memory_id].paraphrased += reinforce
        elif reinforce:
            self._count_echoes(planted)

    def _count_echoes(self, planted: Planted) -> None:
        """Count the planted echo for every eligible memory that begins with the same text (copies, later versions)."""
        names = ("prompt", "response", "response_summary")
        prompt, response, summary = (normalise(planted.row.get(name, "")) for name in names)
        for memory, content in self.world.eligible(planted.row["project"], planted.time):
            beginning = normalise(content)[:80]
            if len(beginning) >= SHORTEST_ECHO and (beginning in response or beginning in summary):
                self.truth.memories[memory.memory_id].echoed += 1
                self.truth.memories[memory.memory_id].echoed_in_prompt += beginning in prompt

    def _count_outcome(self, planted: Planted) -> None:
        if not planted.attempted or not planted.strategy:
            self.truth.non_attempts[planted.error] += 1
            return
        counts = self.truth.strategies[planted.strategy.strategy_id, planted.row["agent"]]
        counts.attempts += 1
        counts.successes += planted.row["success"]
        counts.expected_successes += planted.probability
        if planted.error:
            counts.failures[planted.error] += 1

    def _with_repeats(self, draw: Draw, day: int) -> list[_Line]:
        """Return the lines of a day with bad rows strewn in and some rows twice; some repeats come a day later."""
        lines = [line for line in self._due[day] if not line.raw]
        for line in [line for line in self._due.pop(day) if line.raw]:
            lines.insert(draw.between(0, len(lines)), line)
        repeats = [line for line in lines if not line.note and line.kind != "memory export" and draw.chance(0.008)]
        for line in repeats:
            row = dict(reversed(line.row.items())) if draw.chance(0.5) else line.row
            late = line.kind == "interaction" and draw.chance(0.5) and day < self.world.days
            (self._due[day + 1] if late else lines).append(_Line(line.kind, row, "duplicate"))
        return lines

    def _layout(self, day: int, lines: list[_Line]) -> Iterator[tuple[str, list[_Line]]]:
        """Yield file names and their lines: one file for all, or one per kind, some compressed, some CSV."""
        gz = "" if (day + 1) % 5 else ".gz"
        names = {"interaction": "log.jsonl", "outcome": "log.jsonl", "memory": "log.jsonl"}
        if day % 3:
            names = {"interaction": f"interactions.jsonl{gz}", "outcome": "outcomes.jsonl", "memory": "memories.jsonl"}
        if not (day + 1) % 10:
            names["outcome"] = "outcomes.csv"
        names["memory export"] = "memories.csv"
        files: defaultdict[str, list[_Line]] = defaultdict(list)
        for line in lines:
            files[names["interaction" if line.raw and line.kind == "outcome" else line.kind]].append(line)
        return iter(sorted(files.items()))

    def _packed(self, name: str, lines: list[_Line]) -> SampleFile:
        bad = [BadRow(name, number, x.note) for number, x in enumerate(lines, start=1) if x.raw]
        repeats = sum(line.note == "duplicate" for line in lines)
        self.truth.bad_rows += bad
        self.truth.files.append(FileTruth(name, len(lines), len(lines) - repeats - len(bad), repeats, len(bad)))
        if name.endswith(".csv"):
            return SampleFile(name, _csv_bytes([line.row for line in lines]))
        content = b"".join((line.raw or json.dumps(line.row, ensure_ascii=False).encode()) + b"\n" for line in lines)
        return SampleFile(name, gzip_bytes(content) if name.endswith(".gz") else content)


def _add_producer_fields(draw: Draw, row: Row) -> None:
    """Add what only some producers send."""
    if draw.chance(0.03):
        row["reinforce"] = False
    if draw.chance(0.3):
        row["chunks_used"] = [f"doc-{draw.between(1, 90)}#{draw.between(0, 12)}" for _ in range(draw.between(1, 4))]
    if draw.chance(0.25):
        row["context_pack"] = {"budget": 4_000, "characters": draw.between(200, 4_000)}
    if draw.chance(0.85):
        row["tokens"] = draw.between(40, 250) ** 2
        row["cost"] = round(row["tokens"] * 0.000004, 6)  # of the provider, in euros
    if draw.chance(0.1):
        row["trace_id"] = draw.hexadecimal(16)  # unknown to the contract: kept in extra


def _csv_bytes(rows: list[Row]) -> bytes:
    """Return rows as CSV: lists as JSON, true and false in lower case, nothing for what a row does not say."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer.writerow(names)
    for values in ([row.get(name) for name in names] for row in rows):
        writer.writerow([v if v is None or isinstance(v, str) else json.dumps(v) for v in values])
    return text.getvalue().encode()
