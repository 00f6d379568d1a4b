"""The world behind the sample logs: memories with a life, and interactions and outcomes that depend on them.

``World`` knows the final truth of every row. How rows are delivered (files, duplicates, bad rows) is left to
``slowwave.data.sample``; what is true of it is declared in ``slowwave.data.story``. Times are whole numbers:
microseconds since 1970 in UTC.
"""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from slowwave.data import sample_talk as talk
from slowwave.data import story
from slowwave.data.sample_memories import TEXTS, MemoryText
from slowwave.data.sample_statements import NOTES, NOTES_PROJECT, with_statement
from slowwave.data.sample_talk import Work
from slowwave.data.sample_text import Draw, echo_text
from slowwave.data.story import STORY_MEMORIES, STRATEGIES, Strategy

Row = dict[str, Any]

SECOND = 1_000_000
DAY = 86_400 * SECOND
FOREVER = 2**62
CLIENTS = ("terminal", "editor", "chat")
USERS = {"harbour-shop": ("u-ana", "u-esra"), "tidewater": ("u-bogdan", 4077), "pocket-fern": ("u-chloé", "u-haruto")}
EVERYBODY = tuple(user for users in USERS.values() for user in users)
OWNERS = {"harbour-shop": "Ana", "tidewater": "Bogdan", "pocket-fern": "Chloé", "": "José"}
UNKNOWN_MEMORY_IDS = ("mem-9001", "mem-9002", "mem-deleted?")
PERSONAL = ("identity", "preference")  # without a project, they are eligible everywhere
DUPLICATES = 4


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

    def ended_before(self, time: int) -> bool:
        """Return whether the memory was active before ``time`` and will not be again."""
        return bool(self.spans) and self.spans[-1][1] <= time


@dataclass
class Planted:
    """One row of the log with what is known about it; ``use`` is (memory_id, kind)."""

    kind: str
    row: Row
    time: int
    use: tuple[str, str] | None = None  # kinds: echo, parrot, paraphrase, stale (the text of an ended memory)
    strategy: Strategy | None = None
    attempted: bool | None = None  # None: the row carries no outcome
    probability: float = 0.0
    error: str = ""


def _relevant(draw: Draw, found: list[tuple[Memory, str]], work: Work, count: int) -> list[tuple[Memory, str]]:
    """Draw up to ``count`` memories with their contents, mostly those that name what the work is about."""
    weights = {place: 1 + 3 * len(talk.topics(content) & work.topics) for place, (_, content) in enumerate(found)}
    chosen = []
    while weights and len(chosen) < count:
        place = draw.weighted(weights)
        del weights[place]
        chosen.append(found[place])
    return chosen


class World:
    """Everything that happened in the sample period, one reproducible part at a time."""

    def __init__(self, seed: int, start: datetime.date, days: int) -> None:
        self.seed, self.start_date, self.days = seed, start, days
        self.start = (start - datetime.date(1970, 1, 1)).days * DAY
        self.end = self.start + days * DAY
        self.strategies_change = self.start + story.STRATEGIES_CHANGE_ON * DAY
        self.memories: list[Memory] = []
        self.duplicate_memory_ids: list[tuple[str, str]] = []
        self.paraphrases: dict[str, str] = {}
        self._draw = Draw(seed, "memories")
        for told in STORY_MEMORIES:
            self.paraphrases[told.content] = told.paraphrase
            more: Row = {"user_id": story.PRIVATE_TO} if told is story.PRIVATE else {}
            more["importance"] = told.importance
            born = self.start + told.born * DAY
            self._stored(told.memory_type, told.project, told.role, born, told.content, **more)
        for text in TEXTS:
            self._grown(text)
        self._duplicates()
        kind, project, content = story.LEARNED
        notes = [*((day, memory_type, NOTES_PROJECT, text) for day, memory_type, text in NOTES),
                 (story.BROKEN_WEEK.stop, kind, project, content)]  # fmt: skip
        for day, memory_type, of_project, text in (note for note in notes if note[0] < days):
            self.paraphrases[text] = ""
            self._stored(memory_type, of_project, "", self.start + day * DAY, text)
        for memory in self.memories:
            memory.settle()
            if memory.role == "forgotten":  # used by nobody before it is brought back
                memory.spans = [(self.start + story.BROUGHT_BACK_ON * DAY, FOREVER, memory.changes[0]["content"])]
        self._pools = {
            project: [m for m in self.memories if m.spans and m.role != "private" and (m.project == project or (
                m.project == "" and m.memory_type in PERSONAL))]
            for project in story.PROJECT_WEIGHTS
        }  # fmt: skip
        self._told = {told.memory_id: told for told in STORY_MEMORIES}
        self._types = {memory.memory_id: memory.memory_type for memory in self.memories}
        low, high = (round(100 * effect) for effect in story.OTHER_EFFECTS)
        self._effects = {m.memory_id: self._draw.between(low, high) / 100 for m in self.memories}
        self._effects |= {told.memory_id: told.effect for told in STORY_MEMORIES}

    def eligible(self, project: str, time: int) -> list[tuple[Memory, str]]:
        """Return (memory, content) of every memory an interaction of ``project`` could have met."""
        found = ((memory, memory.active_at(time)) for memory in self._pools[project])
        return [(memory, content) for memory, content in found if content]

    def _add(self, memory_type: str, project: str, role: str, first: Row) -> Memory:
        memory = Memory(f"mem-{len(self.memories):04d}", memory_type, project, role, [])
        memory.changes.append({"memory_id": memory.memory_id, "memory_type": memory_type, "project": project, **first})
        self.memories.append(memory)
        return memory

    def _stored(self, memory_type: str, project: str, role: str, born: int, content: str, **more: Any) -> Memory:  # noqa: ANN401 (fields)
        """Add a memory that is active from its birth on and does not change."""
        return self._add(memory_type, project, role, {"changed_at": born, "content": content, "status": "active",
                         "confidence": 0.6, "importance": 0.5, "changed_by": "owner", **more})  # fmt: skip

    def _duplicates(self) -> None:
        """Store some memories a second time, a little different, as another agent would."""
        originals = [m for m in self.memories[len(STORY_MEMORIES) :] if m.changes[0]["status"] == "active"
                     and len(m.changes) == 1 and m.changes[0]["changed_at"] < self.start]  # fmt: skip
        for original in self._draw.sample(originals, DUPLICATES):
            content = original.changes[0]["content"]
            again = content.removesuffix(".").replace("; ", ", ")
            self.paraphrases[again] = self.paraphrases[content]
            born = self.start - self._draw.between(2, 20) * DAY
            copy = self._stored(original.memory_type, original.project, "", born, again)
            self.duplicate_memory_ids.append((original.memory_id, copy.memory_id))

    def _grown(self, text: MemoryText) -> None:
        """Add a memory with a life of its own; two in three are older than the log."""
        draw = self._draw
        if draw.chance(0.33):
            born = self.start + draw.between(0, self.days * 73_440) * SECOND
        else:
            born = self.start - draw.between(3_600, 60 * 86_400) * SECOND
            born -= born % DAY if draw.chance(0.2) else 0  # midnight: written as a date alone
        self._live(text, born, "candidate" if draw.chance(0.6) else "active")

    def _live(self, text: MemoryText, born: int, status: str, later: bool = False) -> None:
        """Let one memory live from ``born`` until nothing more happens to it, and after it the one that replaces it."""
        draw = self._draw
        content, paraphrase = text.said(later)
        self.paraphrases[content] = paraphrase
        first: Row = {"changed_at": born, "content": content, "status": status,
                      "changed_by": draw.pick(("extractor", "owner"))}  # fmt: skip
        if draw.chance(0.25):
            first["agent"] = draw.pick(tuple(story.AGENT_WEIGHTS))
        if draw.chance(0.9):
            first["confidence"] = draw.between(30, 90) / 100
        if text.memory_type == "episodic" or draw.chance(0.7):
            first["importance"] = draw.between(*((0, 25) if text.memory_type == "episodic" else (30, 100))) / 100
        if draw.chance(0.6):
            first["source_ids"] = [f"note-{draw.between(1, 400):03d}" for _ in range(draw.between(1, 3))]
        memory = self._add(text.memory_type, text.project, "", first)
        time = born
        for low, high, fields in self._events(text, status, later):
            time += draw.between(low * 3_600, high * 3_600) * SECOND
            if time >= self.end:
                return
            memory.changes.append({"memory_id": memory.memory_id, "changed_at": time, **fields})
        if memory.changes[-1].get("status") == "superseded":
            memory.changes[-1]["superseded_by"] = f"mem-{len(self.memories):04d}"
            self._live(text, time, "active", later=True)

    def _events(self, text: MemoryText, status: str, later: bool) -> Iterator[tuple[int, int, Row]]:
        """Yield the changes of a life in order, each with the fewest and most hours since the change before."""
        draw = self._draw
        if status == "candidate":
            fate = draw.weighted({"active": 84, "invalid": 5, "": 11})
            if fate:
                yield 20, 130, {"status": fate, "changed_by": "reviewer"}
            if fate != "active":
                return
        changes = text.changes and not later
        for _ in range(draw.between(0, 3)):
            yield 24, 480, self._edit(text.project)
        if changes and draw.chance(0.5):
            reworded, paraphrase = text.said(later=True)
            self.paraphrases[reworded] = paraphrase
            yield 24, 600, {"content": reworded, "reason": "the value changed", "changed_by": "owner"}
        elif changes:
            yield 24, 900, {"status": "superseded", "reason": "the value changed", "changed_by": "curator"}
        elif ending := draw.weighted({"": 82, "invalid": 6, "archived": 6, "graduated": 6}):
            why = {"invalid": "no longer true", "archived": "not needed any more", "graduated": "in the handbook now"}
            yield 300, 1_500, {"status": ending, "reason": why[ending], "changed_by": "curator"}

    def _edit(self, project: str) -> Row:
        """Return a partial change of an active memory: what it does not name carries over."""
        draw = self._draw
        event = draw.weighted({"confirm": 24, "confidence": 34, "importance": 18, "pin": 10, "agent": 14})
        if event == "confirm":
            return {"confidence": 0.9, "reason": f"confirmed by {OWNERS[project]}", "changed_by": "curator"}
        if event == "agent":
            return {"agent": draw.pick(("", "coder", "tester")), "reason": "scope"}
        if event == "pin":
            return {"pinned": True, "changed_by": "owner"}
        return {event: draw.between(20, 98) / 100, "changed_by": "curator"}

    def interactions(self, day: int, per_day: int) -> Iterator[tuple[Planted, list[Planted]]]:
        """Yield each interaction that happened on one day of the period, with the outcomes reported apart from it.

        A day has about ``per_day`` of them, less at the weekend.
        """
        draw = Draw(self.seed, "interactions", day)
        date = self.start_date + datetime.timedelta(days=day)
        count = max(1, round(per_day * story.WEEKDAY_SHARES[date.weekday()] * draw.between(80, 120) / 100))
        number, leaks = 0, day in story.LEAKED_ON
        while number < count:
            project = draw.weighted(story.PROJECT_WEIGHTS)
            agent = draw.weighted(story.AGENT_WEIGHTS)
            done_here = {task: n for task, n in story.AGENT_TASKS[agent].items() if story.is_done_in(project, task)}
            task_type = draw.weighted(done_here or {"bugfix": 1})
            steps = min(
                draw.between(1, 2) if task_type == story.NOBODY_SUCCEEDS_AT[1] else draw.between(3, 10), count - number
            )
            work = talk.drawn_work(draw, project, task_type, day)
            session: Row = {"project": project, "agent": agent, "client": draw.pick(CLIENTS),
                            "session_id": f"s-{date:%m%d}-{draw.hexadecimal(6)}",
                            "user_id": draw.pick(USERS.get(project, EVERYBODY)),
                            "prompt_version": story.PROMPT_VERSIONS[day in story.BROKEN_WEEK]}  # fmt: skip
            hours = (6, 17) if draw.chance(0.93) else (0, 20)
            time = self.start + day * DAY + draw.between(hours[0] * 3_600, hours[1] * 3_600) * SECOND
            for step in range(steps):
                time += draw.between(20_000, 900_000) * 1_000
                key = f"ix-{date:%Y%m%d}-{number:05d}"
                planted, reported = self._interaction(draw, session, key, time, work, is_first=step == 0)
                if leaks and planted.row.get("memories_used") and planted.row["user_id"] != story.PRIVATE_TO:
                    planted.row["memories_used"].append(story.PRIVATE.memory_id)
                    leaks = False
                yield planted, reported
                number += 1

    def _interaction(
        self, draw: Draw, session: Row, key: str, time: int, work: Work, *, is_first: bool
    ) -> tuple[Planted, list[Planted]]:
        if session["client"] == "editor":
            time -= time % SECOND  # this client writes whole seconds
        row: Row = {"interaction_id": key, "created_at": time, **session}
        planted = Planted("interaction", row, time)
        eligible = self.eligible(session["project"], time)
        hard = draw.chance(story.HARD_TASK_SHARE)
        used = self._offer(draw, row, eligible, work, hard) if draw.chance(0.85) else []
        outcome: Row = {}
        reported: list[Planted] = []
        if draw.chance(0.78):
            effect = sum(self._effects[memory_id] for memory_id in used)
            effect += story.ANY_MEMORY_EFFECT if used else 0.0
            effect += story.HARD_TASK_EFFECT if hard else 0.0
            effect += story.BROKEN_WEEK_EFFECT if (time - self.start) // DAY in story.BROKEN_WEEK else 0.0
            outcome = self._outcome(draw, planted, work, effect)
        leaned_on = "" if planted.attempted is False else self._lean(draw, planted, eligible, used, work)
        self._texts(draw, planted, work, outcome, leaned_on, is_first)
        if outcome and draw.chance(0.55):
            row |= outcome
        elif outcome:
            reported = self._reported(draw, planted, outcome, work)
        if not planted.use and not reported and draw.chance(0.015):
            del row["interaction_id"]
        return planted, reported

    def _texts(self, draw: Draw, planted: Planted, work: Work, outcome: Row, leaned_on: str, is_first: bool) -> None:
        """Write prompt, response and summary; the text leaned on stands in the response or in the summary."""
        row, use = planted.row, planted.use
        in_summary = use is not None and use[1] == "echo" and draw.chance(0.12)
        row["prompt"], opening = talk.prompt_and_opening(draw, work, is_first=is_first)
        if not outcome or planted.attempted:
            strategy = planted.strategy.strategy_id if planted.strategy else ""
            said = talk.answer_text(
                draw, work, opening, strategy, outcome.get("success"), outcome.get("error_message", "")
            )
        else:
            said = [talk.NON_ATTEMPTS[planted.error][0]]
        if leaned_on and not in_summary:
            lead = draw.pick(talk.QUOTING) if use and use[1] != "paraphrase" else ""
            said.insert(min(1, len(said) - 1), lead + leaned_on)
        response = draw.pick((" ", " ", "\n", "\n\n")).join(said)
        row["response"] = with_statement(Draw(self.seed, "statements", row["interaction_id"]), row["project"], response)
        if use and use[0] in row.get("memories_used", ()) and use[1] != "parrot" and draw.chance(0.3):
            row["memories_cited"] = [use[0]]
        if use and use[1] == "echo" and not in_summary and self._types[use[0]] == "identity":
            planted.use = use = (use[0], "parrot")  # prompts say who is who
        if use and use[1] == "parrot":
            row["prompt"] += f"\n\nWhat we know:\n- {leaned_on}"
        if in_summary:
            row["response_summary"] = f"Done. {leaned_on}"
        elif draw.chance(0.3):
            row["response_summary"] = work.said(draw.pick(talk.SUMMARIES))

    def _offer(self, draw: Draw, row: Row, eligible: list[tuple[Memory, str]], work: Work, hard: bool) -> list[str]:
        """Fill what was offered and injected; return the ids injected."""
        is_drawn = draw.chance(0.85)  # randomised withholding: each offered memory is injected with this probability
        ordinary = [found for found in eligible if found[0].memory_id not in self._told]
        offered = [m for m, _ in _relevant(draw, ordinary, work, draw.between(3, 4))]
        for memory, _ in eligible:
            told = self._told.get(memory.memory_id)
            if told is None:
                continue
            share = told.offered if not hard or told.offered_when_hard is None else told.offered_when_hard
            if draw.chance(share):
                offered.insert(draw.between(0, 2), memory)
        row["memories_offered"] = [
            {"id": m.memory_id, "rank": rank, "score": (96 - 7 * rank - draw.between(0, 5)) / 100}
            for rank, m in enumerate(offered, start=1)
        ]
        if is_drawn:
            row["injection_probability"] = draw.pick((0.3, 0.4))
            used = [m.memory_id for m in offered if draw.chance(row["injection_probability"])]
        else:
            used = [m.memory_id for m in offered[:3]]
        row["memories_used"] = [*used, *self._outdated(draw, row)]
        return used

    def _outdated(self, draw: Draw, row: Row) -> list[str]:
        """Return what a client with an old copy of the store injects besides."""
        time, found = row["created_at"], []
        if draw.chance(0.008):
            found.append(draw.pick(UNKNOWN_MEMORY_IDS))
        ended = [m for m in self.memories if m.project == row["project"] and m.ended_before(time)
                 and time - m.spans[-1][1] < 10 * DAY]  # fmt: skip
        if ended and draw.chance(0.06):
            found.append(draw.pick(ended).memory_id)
        is_archived = story.ARCHIVED_ON < (time - self.start) // DAY < story.BROUGHT_BACK_ON
        if is_archived and row["project"] == story.WANTED_AGAIN.project and draw.chance(story.INJECTED_ALL_THE_SAME):
            found.append(story.WANTED_AGAIN.memory_id)
        return found

    def _outcome(self, draw: Draw, planted: Planted, work: Work, effect: float) -> Row:
        """Return the outcome's fields, and note on ``planted`` what stands behind them."""
        task_type = work.task_type
        strategy = draw.weighted({s: s.weight for s in STRATEGIES if s.task_type == task_type})
        rate = strategy.true_rate(planted.row["agent"], planted.time >= self.strategies_change)
        planted.strategy, planted.attempted = strategy, True
        is_hopeless = (planted.row["project"], task_type) == story.NOBODY_SUCCEEDS_AT
        planted.probability = rate if is_hopeless else min(0.98, max(0.02, rate + effect))
        outcome: Row = {"task_type": task_type, "task": work.said("{ticket} {name}"),
                        "strategy": draw.pick(strategy.variants), "success": draw.chance(planted.probability),
                        "duration_ms": draw.between(30, 800) ** 2}  # fmt: skip
        if draw.chance(0.05):
            planted.error, planted.attempted = draw.pick(tuple(talk.NON_ATTEMPTS)), False
            message = draw.pick(talk.NON_ATTEMPTS[planted.error][1])
            outcome |= {"success": False, "error_message": talk.error_text(draw, message, work)}
            outcome |= draw.pick(({}, {}, {"attempted": None}, {"attempted": False}))
        elif not outcome["success"]:
            planted.error = strategy.error
            if not is_hopeless and draw.chance(0.2):
                planted.error = draw.pick([name for name in talk.ERRORS if name != "rejected"])
            outcome["error_message"] = talk.error_text(draw, talk.ERRORS[planted.error], work)
        if planted.attempted and draw.chance(0.3):
            outcome["attempted"] = True
        return outcome

    def _reported(self, draw: Draw, planted: Planted, outcome: Row, work: Work) -> list[Planted]:
        """Return the outcome as rows of their own, reported later; some successes follow a first failure."""
        finished = planted.time + outcome["duration_ms"] * 1_000
        reports = [Planted("outcome", dict(outcome), finished, None, planted.strategy, planted.attempted,
                           planted.probability, planted.error)]  # fmt: skip
        if planted.strategy and planted.attempted and outcome["success"] and draw.chance(0.06):
            error = planted.strategy.error
            failed = {**outcome, "success": False, "error_message": talk.error_text(draw, talk.ERRORS[error], work)}
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
                report.row["feedback"] = draw.pick(talk.FEEDBACK)
        return reports

    def _lean(
        self, draw: Draw, planted: Planted, eligible: list[tuple[Memory, str]], used: list[str], work: Work
    ) -> str:
        """Choose the memory a response leans on, and return the text to work in."""
        kind = draw.weighted({"echo": 18, "paraphrase": 24, "parrot": 4, "stale": 1, "": 53})
        choices = [c for c in eligible if self.paraphrases[c[1]]]
        if kind == "stale":
            ended = (m for m in self.memories if m.ended_before(planted.time))
            choices = [(m, m.changes[0]["content"]) for m in ended if m.project == planted.row["project"]]
        elif used and draw.chance(0.85):
            choices = [c for c in choices if c[0].memory_id in used]
        if not kind or not choices:
            return ""
        ((memory, content),) = _relevant(draw, choices, work, 1)
        planted.use = (memory.memory_id, kind)
        return self.paraphrases[content] if kind == "paraphrase" else echo_text(draw, content)
