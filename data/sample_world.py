"""The world behind the sample logs: memories with a life, and interactions and outcomes that depend on them.

``World`` knows the final truth of every row. How rows are delivered (files, duplicates, bad rows) is left to
``slowwave.data.sample``. Times are whole numbers: microseconds since 1970 in UTC.
"""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from slowwave.data import sample_text as words
from slowwave.data.sample_statements import NOTES, NOTES_PROJECT, with_statement
from slowwave.data.sample_text import Draw, Slots

Row = dict[str, Any]

SECOND = 1_000_000
DAY = 86_400 * SECOND
FOREVER = 2**62
AGENTS = {"planner": 0.0, "coder": 0.06, "reviewer": -0.02, "tester": 0.03, "operator": -0.08}  # shift of success
CLIENTS = ("terminal", "editor", "chat")
PROJECT_WEIGHTS = {"harbour-shop": 36, "tidewater": 30, "pocket-fern": 24, "": 10}
TYPE_WEIGHTS = {"identity": 4, "preference": 14, "project": 20, "knowledge": 34, "adaptation": 14, "episodic": 14}
TASK_WEIGHTS = {"bugfix": 26, "feature": 22, "testing": 16, "deploy": 12, "data_migration": 14, "review": 10}
UNKNOWN_MEMORY_IDS = ("mem-9001", "mem-9002", "mem-deleted?")
HARD_TASK_SHARE, HARD_TASK_EFFECT = 0.3, -0.25
ROLE_EFFECTS = {"helpful": 0.25, "harmful": -0.3}


@dataclass(frozen=True)
class Strategy:
    """A way of working on one task type, and how often it truly succeeds."""

    strategy_id: str
    task_type: str
    variants: tuple[str, ...]
    rate: float
    later_rate: float  # from the middle of the period on
    error: str

    def true_rate(self, agent: str, later: bool) -> float:
        """Return the success probability of an agent, before effects of memories and hard tasks."""
        shift = AGENTS[agent] + AGENT_SHIFTS.get((self.strategy_id, agent), 0.0)
        return min(0.97, max(0.03, (self.later_rate if later else self.rate) + shift))


STRATEGIES = (
    Strategy("failing_test_first", "bugfix", ("reproduce with a failing test first",
             "Reproduce it with a failing test first",
             "first reproduce it in a failing test"), 0.82, 0.82, "assertion"),
    Strategy("patch_symptom", "bugfix", ("patch the symptom and rerun", "patching symptoms, then rerun",
             "Patch symptoms and re-run"), 0.36, 0.36, "type_mismatch"),
    Strategy("bisect", "bugfix", ("bisect the history", "Bisect history",
             "bisecting the history"), 0.64, 0.64, "missing_file"),
    Strategy("vertical_slice", "feature", ("small vertical slice behind a flag", "Small vertical slices behind flags",
             "a small vertical slice, behind a flag"), 0.76, 0.76, "type_mismatch"),
    Strategy("one_pass", "feature", ("write the whole feature in one pass", "Writing the entire feature in one pass",
             "write whole features in a single pass"), 0.44, 0.44, "assertion"),
    Strategy("narrow_test", "testing", ("run the narrowest test first", "first run the narrowest tests",
             "Narrowest test first"), 0.78, 0.78, "assertion"),
    Strategy("rerun_suite", "testing", ("rerun the whole suite until green", "re-run whole suite until it is green",
             "Rerun the full suite until it is green"), 0.34, 0.34, "out_of_memory"),
    Strategy("canary", "deploy", ("canary to five percent then widen", "Canary to 5 percent, then widen",
             "Canary to five percent, then widen"), 0.88, 0.40, "gateway_503"),
    Strategy("all_at_once", "deploy", ("roll out everywhere at once", "rollout everywhere at once",
             "Rolling out everywhere at once"), 0.48, 0.48, "gateway_503"),
    Strategy("batched_copy", "data_migration", ("copy in batches with a checkpoint", "batch copy with checkpoints",
             "Copy in batches with checkpoints"), 0.84, 0.84, "out_of_memory"),
    Strategy("one_transaction", "data_migration", ("single transaction over the whole table",
             "One transaction over the whole table",
             "a single transaction over the entire table"), 0.25, 0.70, "lock_timeout"),
    Strategy("read_then_run", "review", ("read the diff twice and run it once", "read diff twice, run once",
             "Read the diff two times, run it once"), 0.70, 0.70, "assertion"),
)  # fmt: skip
AGENT_SHIFTS = {("canary", "operator"): 0.16, ("batched_copy", "coder"): -0.2, ("rerun_suite", "tester"): 0.25,
                ("bisect", "reviewer"): -0.22, ("one_pass", "coder"): 0.2}  # fmt: skip


@dataclass(frozen=True)
class Theme:
    """What a memory is about: a template and the values that fill it."""

    memory_type: str
    project: str
    template: int
    values: Slots

    def texts(self, **changed: int) -> tuple[str, str]:
        """Return the content and its paraphrase, with some values changed."""
        content, paraphrase = words.MEMORY_TEMPLATES[self.memory_type][self.template]
        values = {**self.values, **changed}
        return words.sentence(content, values), words.sentence(paraphrase, values)


@dataclass
class Memory:
    """One memory and its change log, oldest first."""

    memory_id: str
    memory_type: str
    project: str
    role: str
    changes: list[Row]
    spans: list[tuple[int, int, str]] = field(default_factory=list)  # active from, until, with this content

    def settle(self) -> None:
        """Derive from the finished change log when the memory was active, and with which content."""
        state: Row = {}
        for number, change in enumerate(self.changes, start=1):
            state |= change
            until = self.changes[number]["changed_at"] if number < len(self.changes) else FOREVER
            if state["status"] == "active":
                self.spans.append((change["changed_at"], until, state["content"]))

    def active_at(self, time: int) -> str | None:
        """Return the content if the memory is active at ``time``."""
        return next((content for start, end, content in self.spans if start <= time < end), None)


@dataclass
class Planted:
    """One row of the log with what is known about it; ``use`` is (memory_id, kind)."""

    kind: str
    row: Row
    time: int
    use: tuple[str, str] | None = None  # kinds: echo, parrot, paraphrase, stale (the text of an inactive memory)
    strategy: Strategy | None = None
    attempted: bool | None = None  # None: the row carries no outcome
    probability: float = 0.0
    error: str = ""


class World:
    """Everything that happened in the sample period, one reproducible part at a time."""

    def __init__(self, seed: int, start: datetime.date, days: int) -> None:
        self.seed, self.start_date, self.days = seed, start, days
        self.start = (start - datetime.date(1970, 1, 1)).days * DAY
        self.end = self.start + days * DAY
        self.middle = (self.start + self.end) // 2
        self.memories: list[Memory] = []
        self.duplicate_memory_ids: list[tuple[str, str]] = []
        self.paraphrases: dict[str, str] = {}
        self._beginnings: set[str] = set()
        self._draw = Draw(seed, "memories")
        for memory_type, project, role, content, paraphrase in words.FIXED_MEMORIES:
            self._fixed(memory_type, project, role, content, paraphrase)
        self._effects = {m.memory_id: ROLE_EFFECTS[m.role] for m in self.memories if m.role in ROLE_EFFECTS}
        for _ in range(255):
            self._grown()
        self._duplicates()
        for day, memory_type, content in (note for note in NOTES if note[0] < days):
            first: Row = {"changed_at": self.start + day * DAY, "content": content, "status": "active"}
            self._add(memory_type, NOTES_PROJECT, "", {**first, "confidence": 0.6, "changed_by": "owner"})
        for memory in self.memories:
            memory.settle()
        self._pools = {
            project: [m for m in self.memories if m.spans and (m.project == project or (
                m.project == "" and m.memory_type in ("identity", "preference")))]
            for project in (*words.DOMAINS, words.HOSTILE_PROJECT)
        }  # fmt: skip

    def eligible(self, project: str, time: int) -> list[tuple[Memory, str]]:
        """Return (memory, content) of every memory an interaction of ``project`` could have met."""
        found = ((memory, memory.active_at(time)) for memory in self._pools[project])
        return [(memory, content) for memory, content in found if content]

    def _add(self, memory_type: str, project: str, role: str, first: Row) -> Memory:
        memory = Memory(f"mem-{len(self.memories):04d}", memory_type, project, role, [])
        memory.changes.append({"memory_id": memory.memory_id, "memory_type": memory_type, "project": project, **first})
        self._beginnings.add(words.normalise(first["content"])[:80])
        self.memories.append(memory)
        return memory

    def _fixed(self, memory_type: str, project: str, role: str, content: str, paraphrase: str) -> Memory:
        born = self.start - self._draw.between(2, 20) * DAY
        self.paraphrases[content] = paraphrase
        return self._add(memory_type, project, role, {"changed_at": born, "content": content, "status": "active",
                         "confidence": 0.6, "importance": 0.5, "changed_by": "owner"})  # fmt: skip

    def _duplicates(self) -> None:
        """Store five memories a second time, with other capitals, as two agents would."""
        originals = [m for m in self.memories[len(words.FIXED_MEMORIES) :] if m.changes[0]["status"] == "active"
                     and len(m.changes) == 1 and m.changes[0]["changed_at"] < self.start]  # fmt: skip
        for original in self._draw.sample(originals, 5):
            content = original.changes[0]["content"]
            copy = self._fixed(original.memory_type, original.project, "", content.lower(), self.paraphrases[content])
            self.duplicate_memory_ids.append((original.memory_id, copy.memory_id))

    def _grown(self) -> None:
        """Add a memory about something no other memory says, with a life of its own."""
        draw = self._draw
        memory_type = draw.weighted(TYPE_WEIGHTS)
        personal = memory_type in {"identity", "preference"}
        project = draw.weighted({**PROJECT_WEIGHTS, "": 45} if personal else PROJECT_WEIGHTS)
        template = draw.between(0, len(words.MEMORY_TEMPLATES[memory_type]) - 1)
        theme = Theme(memory_type, project, template, words.slots(draw, project))
        while words.normalise(theme.texts()[0])[:80] in self._beginnings:
            theme = Theme(memory_type, project, template, words.slots(draw, project))
        if draw.chance(0.4):
            born = self.start + draw.between(0, self.days * 73_440) * SECOND
        else:
            born = self.start - draw.between(3_600, 25 * 86_400) * SECOND
            born -= born % DAY if draw.chance(0.2) else 0  # midnight: written as a date alone
        self._live(theme, theme.texts(), born, "candidate" if draw.chance(0.75) else "active")

    def _live(self, theme: Theme, texts: tuple[str, str], born: int, status: str) -> None:
        """Let one memory live from ``born`` until nothing more happens to it, and after it the one that replaces it."""
        draw = self._draw
        first: Row = {"changed_at": born, "content": texts[0], "status": status,
                      "changed_by": draw.pick(("extractor", "owner"))}  # fmt: skip
        if draw.chance(0.25):
            first["agent"] = draw.pick(tuple(AGENTS))
        if draw.chance(0.9):
            first["confidence"] = draw.between(30, 90) / 100
        if draw.chance(0.7):
            first["importance"] = draw.between(10, 100) / 100
        if draw.chance(0.6):
            first["source_ids"] = [f"note-{draw.between(1, 400):03d}" for _ in range(draw.between(1, 3))]
        self.paraphrases[texts[0]] = texts[1]
        memory = self._add(theme.memory_type, theme.project, "", first)
        time = born
        for low, high, fields in self._events(theme, texts[0], status):
            time += draw.between(low * 3_600, high * 3_600) * SECOND
            if time >= self.end:
                return
            memory.changes.append({"memory_id": memory.memory_id, "changed_at": time, **fields})
        if memory.changes[-1].get("status") == "superseded":
            memory.changes[-1]["superseded_by"] = f"mem-{len(self.memories):04d}"
            numbers = {"n": draw.between(96, 600), "m": draw.between(49, 300)}
            self._live(theme, theme.texts(**numbers), time, "active")

    def _events(self, theme: Theme, content: str, status: str) -> Iterator[tuple[int, int, Row]]:
        """Yield the changes of a life in order, each with the fewest and most hours since the change before."""
        draw = self._draw
        if status == "candidate":
            fate = draw.weighted({"active": 80, "invalid": 9, "": 11})
            if fate:
                yield 20, 130, {"status": fate, "changed_by": "reviewer"}
            if fate != "active":
                return
        for _ in range(draw.between(0, 3)):
            yield 12, 240, self._edit(theme, content)
        ending = draw.weighted({"": 66, "superseded": 14, "invalid": 6, "archived": 9, "graduated": 5})
        if ending:
            yield 48, 500, {"status": ending, "reason": f"{ending} on review", "changed_by": "curator"}

    def _edit(self, theme: Theme, content: str) -> Row:
        """Return a partial change of an active memory: what it does not name carries over."""
        draw = self._draw
        event = draw.weighted({"confirm": 24, "reword": 10, "confidence": 30, "importance": 16, "pin": 8, "agent": 12})
        if event == "confirm":
            longer = f"{content} Confirmed by {theme.values['person']}."
            self.paraphrases[longer] = self.paraphrases[content]
            return {"content": longer, "reason": "confirmed", "changed_by": "curator"}
        if event == "reword":
            texts = theme.texts(n=draw.between(601, 990), m=draw.between(301, 900))
            self.paraphrases[texts[0]] = texts[1]
            self._beginnings.add(words.normalise(texts[0])[:80])
            return {"content": texts[0], "reason": "numbers changed", "changed_by": "owner"}
        if event == "agent":
            return {"agent": draw.pick(("", "coder", "tester")), "reason": "scope"}
        if event == "pin":
            return {"pinned": True, "changed_by": "owner"}
        return {event: draw.between(20, 98) / 100, "changed_by": "curator"}

    def interactions(self, day: int, count: int) -> Iterator[tuple[Planted, list[Planted]]]:
        """Yield each interaction that happened on one day of the period, with the outcomes reported apart from it."""
        draw = Draw(self.seed, "interactions", day)
        date = self.start_date + datetime.timedelta(days=day)
        number = 0
        while number < count:
            steps = min(draw.between(3, 10), count - number)
            project = words.HOSTILE_PROJECT if draw.chance(0.008) else draw.weighted(PROJECT_WEIGHTS)
            session: Row = {"project": project, "agent": draw.pick(tuple(AGENTS)), "client": draw.pick(CLIENTS),
                       "session_id": f"s-{date:%m%d}-{draw.hexadecimal(6)}",
                       "user_id": draw.pick(("u-ana", "u-bogdan", "u-chloé", 4077))}  # fmt: skip
            time = self.start + day * DAY + draw.between(0, 86_399 - steps * 1_500) * SECOND
            for _ in range(steps):
                time += draw.between(20_000, 900_000) * 1_000
                yield self._interaction(draw, session, f"ix-{date:%Y%m%d}-{number:05d}", time)
                number += 1

    def _interaction(self, draw: Draw, session: Row, key: str, time: int) -> tuple[Planted, list[Planted]]:
        if session["client"] == "editor":
            time -= time % SECOND  # this client writes whole seconds
        row: Row = {"interaction_id": key, "created_at": time, **session}
        planted = Planted("interaction", row, time)
        values = words.slots(draw, session["project"])
        eligible = self.eligible(session["project"], time)
        hard = draw.chance(HARD_TASK_SHARE)
        used = self._offer(draw, row, eligible, hard) if draw.chance(0.8) else []
        outcome: Row = {}
        reported: list[Planted] = []
        if draw.chance(0.76):
            effect = sum(self._effects.get(m, 0.0) for m in used) + (HARD_TASK_EFFECT if hard else 0.0)
            outcome = self._outcome(draw, planted, values, effect)
            if draw.chance(0.55):
                row |= outcome
            else:
                reported = self._reported(draw, planted, outcome)
        self._texts(draw, planted, values, outcome.get("success"), self._lean(draw, planted, eligible, used))
        if not planted.use and not reported and draw.chance(0.015):
            del row["interaction_id"]
        return planted, reported

    def _texts(self, draw: Draw, planted: Planted, values: Slots, success: bool | None, leaned_on: str) -> None:
        """Write prompt, response and summary; the text leaned on stands in the response or in the summary."""
        row, use = planted.row, planted.use
        in_summary = use is not None and use[1] == "echo" and draw.chance(0.12)
        row["prompt"] = words.prompt_text(draw, values)
        response = words.response_text(draw, values, success, "" if in_summary else leaned_on)
        row["response"] = with_statement(Draw(self.seed, "statements", row["interaction_id"]), row["project"], response)
        if use and use[1] == "parrot":
            row["prompt"] += f"\n\nWhat we know:\n- {leaned_on}"
        if draw.chance(0.012):
            row["prompt"] += " " + draw.pick(words.HOSTILE_FRAGMENTS)
        if in_summary:
            row["response_summary"] = f"Done. {leaned_on}."
        elif draw.chance(0.3):
            row["response_summary"] = words.sentence("Worked on the {component} in {path}.", values)

    def _offer(self, draw: Draw, row: Row, eligible: list[tuple[Memory, str]], hard: bool) -> list[str]:
        """Fill what was offered and injected; return the ids injected."""
        offered = draw.sample([m for m, _ in eligible], draw.between(3, 6))
        for memory, _ in eligible:
            wanted = {"": 0.0, "confounded": 0.75 if hard else 0.1}.get(memory.role, 0.7)
            if wanted and memory not in offered and draw.chance(wanted):
                offered.insert(draw.between(0, 2), memory)
        row["memories_offered"] = [
            {"id": m.memory_id, "rank": rank, "score": (96 - 7 * rank - draw.between(0, 5)) / 100}
            for rank, m in enumerate(offered, start=1)
        ]
        if draw.chance(0.4):  # randomised withholding: each offered memory is injected with this probability
            row["injection_probability"] = draw.pick((0.5, 0.7))
            used = [m.memory_id for m in offered if draw.chance(row["injection_probability"])]
        else:
            used = [m.memory_id for m in offered[:3]]
        row["memories_used"] = [*used, draw.pick(UNKNOWN_MEMORY_IDS)] if draw.chance(0.012) else used
        return used

    def _outcome(self, draw: Draw, planted: Planted, values: Slots, effect: float) -> Row:
        """Return the outcome's fields, and note on ``planted`` what stands behind them."""
        task_type = draw.weighted(TASK_WEIGHTS)
        strategy = draw.pick([s for s in STRATEGIES if s.task_type == task_type])
        rate = strategy.true_rate(planted.row["agent"], planted.time >= self.middle)
        planted.strategy, planted.attempted = strategy, True
        planted.probability = min(0.98, max(0.02, rate + effect))
        outcome: Row = {"task_type": task_type, "task": f"{task_type} on the {values['component']}",
                        "strategy": draw.pick(strategy.variants), "success": draw.chance(planted.probability),
                        "duration_ms": draw.between(900, 600_000)}  # fmt: skip
        if draw.chance(0.06):
            planted.error, planted.attempted = draw.pick(tuple(words.NON_ATTEMPTS)), False
            message = draw.pick(words.NON_ATTEMPTS[planted.error])
            outcome |= {"success": False, "error_message": words.error_text(draw, message, values)}
            outcome |= draw.pick(({}, {}, {"attempted": None}, {"attempted": False}))
        elif not outcome["success"]:
            planted.error = strategy.error if draw.chance(0.75) else draw.pick(tuple(words.ERROR_TEMPLATES))
            outcome["error_message"] = words.error_text(draw, words.ERROR_TEMPLATES[planted.error], values)
        if planted.attempted and draw.chance(0.3):
            outcome["attempted"] = True
        return outcome

    def _reported(self, draw: Draw, planted: Planted, outcome: Row) -> list[Planted]:
        """Return the outcome as rows of their own, reported later; some successes follow a first failure."""
        finished = planted.time + outcome["duration_ms"] * 1_000
        reports = [Planted("outcome", dict(outcome), finished, None, planted.strategy, planted.attempted,
                           planted.probability, planted.error)]  # fmt: skip
        if planted.strategy and planted.attempted and outcome["success"] and draw.chance(0.06):
            error = planted.strategy.error
            message = words.error_text(draw, words.ERROR_TEMPLATES[error], words.slots(draw, ""))
            failed = {**outcome, "success": False, "error_message": message}
            reports.insert(0, replace(reports[0], row=failed, probability=0.0, error=error))
            reports[1].time += 600 * SECOND
        planted.strategy, planted.attempted, planted.error = None, None, ""
        row = planted.row
        for number, report in enumerate(reports, start=1):
            delay = draw.between(1, draw.weighted({600: 60, 20 * 3_600: 30, 3 * 86_400: 10})) * SECOND
            head: Row = {} if draw.chance(0.1) else {"outcome_id": f"oc-{row['interaction_id'][3:]}-{number}"}
            head |= {k: row[k] for k in ("interaction_id", "project", "agent", "session_id", "user_id")}
            head["created_at"] = report.time
            head["recorded_at"] = min(report.time + delay, self.end + DAY - 2 * SECOND)
            report.row = head | report.row
            if draw.chance(0.08):
                report.row["feedback"] = draw.pick(words.FEEDBACK)
        return reports

    def _lean(self, draw: Draw, planted: Planted, eligible: list[tuple[Memory, str]], used: list[str]) -> str:
        """Choose the memory a response leans on, and return the text to work in."""
        kind = draw.weighted({"echo": 13, "paraphrase": 11, "parrot": 4, "stale": 2, "": 70})
        choices = [c for c in eligible if self.paraphrases[c[1]]]
        if kind == "stale":
            inactive = (m for m in self.memories if not m.active_at(planted.time))
            choices = [(m, m.changes[0]["content"]) for m in inactive if m.project == planted.row["project"]]
        elif used and draw.chance(0.7):
            choices = [c for c in choices if c[0].memory_id in used]
        if not kind or not choices:
            return ""
        memory, content = draw.pick(choices)
        planted.use = (memory.memory_id, kind)
        return self.paraphrases[content] if kind == "paraphrase" else words.echo_text(draw, content)
