"""Which acts that were meant are told as done in other words, or by a verdict; each once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from slowwave.transforms.observations.prose.intents import Intent, intents, stems_of
from slowwave.transforms.observations.prose.verbs import REMOVING, is_one_kind
from slowwave.transforms.observations.prose.verdicts import Verdict, is_summary, passing, verdicts
from slowwave.transforms.observations.turns.cues import Statement, Turn

_RARE = 8
_COMPARED = 16
_NEAR = 6
_FEW = 1.25
_FILE = re.compile(r"\.[a-z]{1,5}$")
_NUMBERED = re.compile(r"\b(?:phase|step|task|part|fix|issue|test|case|option|#)s?\s?#?(\d+)", re.IGNORECASE)
_HANDING_ON = frozenset({"commit", "push", "deploy", "save"})
"""What follows when something is done: no other act is told by it."""
_BEFORE = re.compile(r"^\W*(?:before|was|old|previously)\b\W{0,3}:\W{0,4}(?P<state>\S.*)$", re.IGNORECASE)
_AFTER = re.compile(r"^\W*(?:after|now|new|is now)\b\W{0,3}:\W{0,4}(?P<state>\S.*)$", re.IGNORECASE)
_TWO, _THREE = 2, 3


def done_in_prose(told: Iterable[Statement], settled: frozenset[int] = frozenset()) -> Iterator[Turn]:
    """Of each act told as done the statement in which it was meant that shares most with it.

    settled: statements of which a change is known already: what they meant was done, or they tell what was.
    """
    scopes: dict[int, list[Statement]] = {}
    for one in told:
        scopes.setdefault(one.scope, []).append(one)
    for some in scopes.values():
        yield from _Scope(sorted(some, key=lambda one: (one.at, one.statement)), settled).turns()


def _read(told: Iterable[Statement]) -> Iterator[tuple[Statement, tuple[Intent, ...]]]:
    """Statements and the acts they tell; after one that says "here is what was done", those of its time are a list."""
    listed_at = None
    for one in told:
        acts = intents(one.text, is_listed=listed_at == one.at)
        if is_summary(one.text):
            listed_at = one.at
        yield one, acts


class _Meant:
    """An act that waits to be told as done."""

    def __init__(self, one: Statement, act: Intent) -> None:
        self.one, self.act, self.is_open = one, act, True


class _Scope:
    """The statements of one scope, read in order of time."""

    def __init__(self, told: list[Statement], settled: frozenset[int]) -> None:
        self._told = list(_read(told))
        self._settled = settled
        self._count = Counter(word for _, acts in self._told for word in {word for act in acts for word in act.stems})
        self._meant: list[_Meant] = []
        self._by_mark: dict[str, list[int]] = {}
        self._mends: dict[str, Statement] = {}
        self._parts: dict[str, Statement] = {}
        self._passed: tuple[Statement, int] | None = None
        self._before: tuple[Statement, str] | None = None
        self._summed = 0

    def turns(self) -> Iterator[Turn]:
        """The changes, in order of time."""
        summary: tuple[Statement, int] | None = None
        for one, acts in self._told:
            if summary is not None and one.at > summary[0].at:
                yield from self._summed_up(*summary)
                summary = None
            if is_summary(one.text):
                summary = (one, len(self._meant))
            is_meant = any(act.is_to_be for act in acts)
            turn = self._counted(one) or self._contrasted(one)
            for found in verdicts(one.text, is_meant=is_meant):
                turn = self._by_verdict(one, found) or turn
            if turn is not None:
                yield turn
            elif one.statement not in self._settled:
                yield from self._all_done(one, [act for act in acts if not act.is_to_be])
            meant = [act for act in acts if act.is_to_be]
            for act in meant[1 if one.statement in self._settled else 0 :]:
                self._mean(one, act)

        if summary is not None:
            yield from self._summed_up(*summary)

    def _summed_up(self, one: Statement, until: int) -> Iterator[Turn]:
        """What was meant last, if it is still open: "here is what was done" tells it, too."""
        last = self._meant[until - 1] if until > self._summed else None
        self._summed = len(self._meant)
        is_open = last is not None and last.is_open and last.act.is_meant and not last.act.is_bare
        if last is not None and is_open and last.act.verb not in _HANDING_ON:
            turn = _turn(last.one, one, last.act.said, one.text)
            if turn is not None:
                yield turn

    def _all_done(self, one: Statement, deeds: list[Intent]) -> Iterator[Turn]:
        earlier: set[int | None] = set()
        for deed in deeds:
            turn = self._told_done(one, deed)
            if turn is not None and turn.earlier not in earlier:
                earlier.add(turn.earlier)
                yield turn

    def _mean(self, one: Statement, act: Intent) -> None:
        for mark in sorted(act.names | act.stems):
            self._by_mark.setdefault(mark, []).append(len(self._meant))
        self._meant.append(_Meant(one, act))

    def _by_verdict(self, one: Statement, found: Verdict) -> Turn | None:
        """What the verdict tells as done; or, where it waits for one, nothing yet."""
        if found.sort == "mend":
            self._mends[found.of] = one
        elif found.sort == "heading":
            self._parts[found.of] = one
        elif found.sort == "pass":
            return _of(self._mends.pop(found.of, None), one, found.said)
        elif found.sort == "part":
            return _of(self._parts.pop(found.of, None), one, found.said)
        elif found.sort == "all":
            of = [part for part in self._parts if part.startswith(found.of)]
            return _of(self._parts.pop(of[-1]) if of else None, one, found.said)
        else:
            return self._of_verb(one, found)
        return None

    def _of_verb(self, one: Statement, found: Verdict) -> Turn | None:
        """The newest that was meant by the verb: of the same thing, or among the last few."""
        stems = stems_of(found.of)
        for place in range(len(self._meant) - 1, max(-1, len(self._meant) - 1 - (_COMPARED if stems else _NEAR)), -1):
            meant = self._meant[place]
            is_verb = meant.act.verb == found.verb
            if not meant.is_open or meant.one.at > one.at or not is_verb:
                continue
            if stems.isdisjoint(meant.act.stems) and not (found.sort == "alone" and not stems):
                continue
            meant.is_open = False
            return _turn(meant.one, one, meant.act.said, found.said)
        return None

    def _counted(self, one: Statement) -> Turn | None:
        """More tests pass than before, of about as many."""
        count = passing(one.text)
        if count is None:
            return None
        before, self._passed = self._passed, (one, count)
        if before is None or before[1] >= count or before[0].at >= one.at:
            return None
        if count > _FEW * before[1]:
            return None
        return Turn(
            before[0].statement, one.statement, "", "", f"all {before[1]} tests pass", f"all {count} tests pass"
        )

    def _contrasted(self, one: Statement) -> Turn | None:
        """What is told as before and after, one below the other."""
        before, self._before = self._before, None
        match = _BEFORE.match(one.text)
        if match is not None:
            self._before = (one, match["state"])
        match = _AFTER.match(one.text)
        if match is None or before is None or before[0].at != one.at:
            return None
        return Turn(None, one.statement, "", "", before[1], match["state"])

    def _told_done(self, one: Statement, deed: Intent) -> Turn | None:
        near = {
            place
            for mark in (*deed.names, *deed.stems)
            for place in self._by_mark.get(mark, [])[-_COMPARED:]
            if self._meant[place].is_open and self._meant[place].one.at <= one.at
        }
        met = [place for place in sorted(near) if self._is_told_done(self._meant[place].act, deed)]
        if not met:
            return None
        best = max(met, key=lambda place: (_shared(self._meant[place].act, deed), place))
        for place in met:
            self._meant[place].is_open = False
        return _turn(self._meant[best].one, one, self._meant[best].act.said, deed.said)

    def _is_told_done(self, plan: Intent, deed: Intent) -> bool:
        if plan.is_bare or deed.is_bare or (plan.verb in REMOVING) != (deed.verb in REMOVING):
            return False
        if _is_of_other_number(plan, deed) or (deed.verb in _HANDING_ON and plan.verb != deed.verb):
            return False
        if plan.names and deed.names and plan.names.isdisjoint(deed.names):
            return False
        same = plan.stems & deed.stems
        named = _is_named(plan, deed)
        if not deed.verb:
            return plan.is_meant and (self._stands(plan, deed) if deed.is_meant else _is_listed(plan, deed))
        if plan.verb == deed.verb and not deed.is_weak:
            return (named and bool(same)) or self._is_worded(plan, deed, _TWO)
        if is_one_kind(plan.verb, deed.verb) and not deed.is_weak:
            return (named and len(same) >= _TWO) or (plan.noun == deed.noun and self._is_worded(plan, deed, _THREE))
        return named and len(same) >= _THREE

    def _stands(self, plan: Intent, deed: Intent) -> bool:
        """Whether what "is in place" is what was meant: two of its words, or the same name."""
        objects = {name for name in plan.names & deed.objects if len(name) >= _THREE and not _FILE.search(name)}
        same = plan.stems & deed.heads
        return bool(objects) or (len(same) >= _TWO and any(self._count[word] <= _RARE for word in same))

    def _is_worded(self, plan: Intent, deed: Intent, least: int) -> bool:
        """Whether the words that both have are enough: most of them, some of them rare, and what it is done to."""
        same = plan.stems & deed.stems
        is_rare = any(self._count[word] <= _RARE for word in same)
        if least == _TWO and plan.heads and plan.heads <= deed.heads and (is_rare or len(plan.heads) >= _TWO):
            return True
        nouns = {plan.noun, deed.noun} & (plan.stems | {plan.noun}) & (deed.stems | {deed.noun}) - {""}
        alike = plan.heads & deed.heads
        if len(alike) < _TWO and plan.heads - alike and deed.heads - alike:
            return False  # the one page is not the other
        is_most = _TWO * len(same) >= min(len(plan.stems), len(deed.stems))
        return bool(nouns) and len(same) >= least and is_rare and is_most and bool(alike)


def _is_listed(plan: Intent, deed: Intent) -> bool:
    """Whether an item of a list of what was done names what was meant, and says what of it."""
    objects = {name for name in plan.objects & deed.objects if len(name) >= _THREE}
    of_file = bool(objects) and all(map(_FILE.search, objects)) and plan.verb != "add"
    is_said = not plan.noun or plan.noun in deed.stems
    same = plan.stems & deed.stems
    return (bool(objects) and (len(same) >= 1 if of_file else is_said)) or len(plan.heads & deed.heads) >= _TWO


def _is_named(plan: Intent, deed: Intent) -> bool:
    """Whether both name one thing in code: as what it is done to, or two names."""
    names = {name for name in plan.names & deed.names if not _FILE.search(name)}
    is_object = bool(names & plan.objects & deed.objects)
    is_told = bool(names & (plan.objects | deed.objects)) and not plan.heads.isdisjoint(deed.heads)
    return is_object or is_told or len(names) >= _TWO


def _shared(plan: Intent, deed: Intent) -> tuple[int, int]:
    return 2 * len(plan.names & deed.names) + len(plan.stems & deed.stems), int(plan.verb == deed.verb)


def _of(meant: Statement | None, one: Statement, said: str) -> Turn | None:
    return None if meant is None else _turn(meant, one, meant.text, said)


def _is_of_other_number(plan: Intent, deed: Intent) -> bool:
    one, other = set(_NUMBERED.findall(plan.said)), set(_NUMBERED.findall(deed.said))
    return bool(one and other) and one.isdisjoint(other)


def _turn(meant: Statement | None, one: Statement, before: str, after: str) -> Turn | None:
    """From what was meant to what is told; said at one time, that time tells both."""
    if meant is None or meant.statement == one.statement or meant.at > one.at:
        return None
    return Turn(meant.statement if meant.at < one.at else None, one.statement, "", "", before, after)
