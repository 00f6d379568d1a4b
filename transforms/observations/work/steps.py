"""Steps of work as one statement tells them: to be done, done, or noted as done before.

As in `turns.steps`; besides, items of lists that are ticked off, what "needs to be" done, and what "now" does
something. An item that only notes "(done)", or what was there already, is no news.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import NUMBER_WORDS
from slowwave.transforms.observations.states.clause_words import words_of
from slowwave.transforms.observations.states.plan_words import SAYS_NOTHING
from slowwave.transforms.observations.turns.cues import stem
from slowwave.transforms.observations.turns.steps import TaskStep, is_one_step, step_to
from slowwave.transforms.observations.work.marks import Marked, find_marks
from slowwave.transforms.observations.work.verbs import work_verb

_OPENERS = re.compile(
    r"^[\W\d_]*(?:(?:ok(?:ay)?|good|great|perfect|excellent|now|next|then|first|second|third|finally|also|so|done|alright"
    r"|and|but|phase \d+|step \d+|task \d+)[,.:!—–-]*\s+)+",
    re.IGNORECASE,
)
_TO_BE = re.compile(
    r"^(?:let me|let['’]s|i['’]ll|i will|i (?:also |still )?need to|we (?:also |still )?need to|need to|i['’]m going to"
    r"|i am going to|going to|i should|we should|i must|todo:?|still (?:need )?to(?: do:?)?|i want to|plan(?:s|ned)? to"
    r"|we['’]ll|we will|the next step is to|next step:|time to|remaining:|should|must)\s+"
    r"(?:(?:also|now|first|just|then|quickly|start|begin|continue|proceed)\s+)*(?P<by>(?:by|with)\s+)?",
    re.IGNORECASE,
)
_DOER = re.compile(
    r"^(?:(?:i['’]ve|i have|i['’]m|i am|i|we['’]ve|we have|we['’]re|we|successfully|also|just|already|now)\s+)+",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?!I\b|We\b)(?:`[^`]+`(?: \([^)]*\))?|[A-Z][\w ./-]{0,40})\s?(?:[—–-]|:)\s+(?=\w)")
_VERB = re.compile(r"([A-Za-z-]+)\s+(.+)", re.DOTALL)
_JOINED = re.compile(r"(?:[,;]\s+(?:and\s+)?|\s+and\s+)(?:then\s+|also\s+)?(?=[a-z]{3,}\s)")
_NEW = re.compile(r"^new\b[\s—:-]*(.{3,90})", re.IGNORECASE)
_IS_THERE = re.compile(
    r"^(?P<object>`[^`]+`(?: [`*\w]+)?) (?:function|method|field|type|parameter|column|test|helper|constant|const"
    r"|class|module|hook|flag|option|struct|component|endpoint|command|script|section)\b",
    re.IGNORECASE,
)
_IS_TO_BE = re.compile(
    r"^(?P<object>[^,;:]{3,90}?)\s(?:(?:still |also )?(?:needs?|ha(?:s|ve)) to be|must be|should be)\s"
    r"(?:also |now )?(?P<verb>\w+)\b",
    re.IGNORECASE,
)
_DONE_TO = re.compile(
    r"^(?P<object>[^,;:]{3,90}?)\s(?:(?:is|are|was|were|has been|have been)\s)?"
    r"(?:now\s|all\s|already\s|also\s|fully\s|successfully\s)*"
    r"(?P<verb>\w+(?:ed|built|written|rewritten|split))\b(?! by\b)",
    re.IGNORECASE,
)
_DOES_NOW = re.compile(r"^(?P<object>`[^`]+`(?: [\w]+){0,2}) now (?P<rest>(?!also\b)[a-z]{2,}s\b .{3,})")
_NOT_SO = re.compile(
    r"\b(?:not|never|isn|wasn|can|could|should|must|if|when|to be|which|that|need|needs|will|would|how|why|was|were"
    r"|is|are|because|since|after|where|what)\b",
    re.IGNORECASE,
)
_ALREADY = re.compile(r"\balready\b|\balso (?:added|extracted|created)\b|\bpreviously\b", re.IGNORECASE)
_TOLD_APART = re.compile(
    r"\s(?:that|which|who|covering|including|describing|confirming|verifying|documenting|showing|since|because|so|where|when|if|before|after|while)\s|\s[(—–-]|[;:](?:\s|$)",
    re.IGNORECASE,
)
_TOWARDS = re.compile(r"\s(?:to|in|into|from|on|for|at)\s", re.IGNORECASE)
_COUNT = re.compile(
    r"^(?:all |both |the |these )*(?P<count>\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten)\s"
)
_LEAST_SHARED = 2
_MANY = 3
_REWORKING = frozenset({"update", "fix", "refactor", "simplify"})
_SHORTEST_NAME = 3
_PLACED = frozenset({"add", "remove", "move", "document"})


class WorkStep(NamedTuple):
    """A step, and how a statement tells it.

    is_to_be: whether it is still to be done. is_news: whether, done, it tells that it was done since. item: its words,
    where it is an item of a list. step: None of an item that names no verb of work. number: how many things, '' where
    it does not say. place: the stems of where.
    """

    is_to_be: bool
    is_news: bool
    item: str
    step: TaskStep | None
    number: str
    place: frozenset[str]
    said: str


@lru_cache(maxsize=20_000)
def work_steps(text: str) -> tuple[WorkStep, ...]:
    """The steps that a statement of one sentence tells, in its order: "removed the flag, and updated the help"."""
    mark = find_marks(text)
    first = _first_step(mark)
    if first is None:
        return ()
    found = [first]
    if first.step is not None and not mark.is_item:
        for more in _JOINED.split(mark.text)[1:]:
            led = _VERB.match(more)
            verb, form = (None, "") if led is None else work_verb(led[1].lower())
            if led is None or verb is None or form != ("base" if first.is_to_be else "past"):
                continue
            step = _build_step(verb, led[2], more, is_to_be=first.is_to_be)
            if step is not None:
                found.append(step._replace(is_news=first.is_news and step.is_news))
    return tuple(found)


def _first_step(mark: Marked) -> WorkStep | None:
    found = _read_step(mark.text)
    if mark.is_item:
        is_to_be, item = not mark.is_done, " ".join(words_of(mark.text))
        if found is None:
            return WorkStep(is_to_be, True, item, None, "", frozenset(), mark.text) if item else None
        return found._replace(is_to_be=is_to_be, item=item, said=mark.text)
    if found is None or mark.is_done is None:
        return found
    return found._replace(is_to_be=False, is_news=False)


def _read_step(text: str) -> WorkStep | None:
    opened = _OPENERS.match(text)
    said = text[opened.end() :] if opened is not None else text.lstrip("#- *")
    label = _LABEL.match(said)
    if label is not None:
        said = said[label.end() :]
    to_be = _TO_BE.match(said)
    rest = said[to_be.end() :] if to_be is not None else _DOER.sub("", said)
    led = _VERB.match(rest)
    if led is not None:
        verb, form = work_verb(led[1].lower())
        is_led = form == "base" or (to_be is not None and to_be["by"] and form == "ing")
        if verb is not None and form != "s" and (to_be is None or is_led):
            is_done = form == "past" and to_be is None
            return _build_step(verb, led[2], rest, is_to_be=not is_done)
    if to_be is not None:
        return None
    new = _NEW.match(said)
    if new is not None:
        return _build_step("add", new[1], said, is_to_be=False)
    there = _IS_THERE.match(said)
    if there is not None:
        return _build_step("add", there["object"], said[: there.end()], is_to_be=False)
    return _read_passive(said)


def _read_passive(said: str) -> WorkStep | None:
    for pattern, is_to_be in ((_IS_TO_BE, True), (_DONE_TO, False)):
        match = pattern.match(said)
        if match is None or _NOT_SO.search(match["object"]) or _is_led_by_verb(match["object"]):
            continue
        verb, form = work_verb(match["verb"].lower())
        if verb is not None and form == "past":
            return _build_step(verb, match["object"], match.group(), is_to_be=is_to_be)
    does = _DOES_NOW.match(said)
    if does is not None:
        found = _build_step("update", f"{does['object']} to {does['rest']}", said, is_to_be=False)
        return None if found is None else found._replace(said=said)
    return None


def _is_led_by_verb(phrase: str) -> bool:
    """Whether what seems a thing is an act: "loads rules created at runtime"."""
    word = phrase.split(maxsplit=1)[0].strip("`*").lower()
    form = inflection(word)
    return form.is_verb and form.form in {"s", "ing", "past"} and word.isalpha()


def _build_step(verb: str, rest: str, said: str, *, is_to_be: bool) -> WorkStep | None:
    thing = _TOLD_APART.split(rest, maxsplit=1)[0]
    found = step_to(verb, thing, said[: len(said) - len(rest) + len(thing)], is_to_be=is_to_be) if thing else None
    if found is None:
        return None
    towards = _TOWARDS.split(f" {thing} ", maxsplit=1)
    place = towards[1].split(", ", 1)[0] if len(towards) > 1 else ""
    count = _COUNT.match(rest.lower())
    number = "" if count is None else count["count"]
    number = "1" if number in {"a", "an", "one"} else NUMBER_WORDS.get(number, number)
    stems = frozenset(stem(word) for word in words_of(place.replace("`", "")) if word not in SAYS_NOTHING)
    found = found._replace(names=_bare(found.names), others=_bare(found.others))
    return WorkStep(is_to_be, _ALREADY.search(said) is None, "", found, number, stems, found.said)


def _bare(names: frozenset[str]) -> frozenset[str]:
    """Names without the dots and brackets around them: `.env` and `config/.env`, `any` and `any[]` are one."""
    return frozenset(name.strip(".()[]:") for name in names) - {""}


def is_carried_out(plan: WorkStep, deed: WorkStep) -> bool:
    """Whether the second tells that the first was done: the same item, or one step done to one thing in one place."""
    if plan.item and deed.item:
        return plan.item == deed.item
    if plan.step is None or deed.step is None:
        return False
    a, b = plan.step, deed.step
    if "1" in {plan.number, deed.number} and len({plan.number, deed.number} - {""}) > 1:
        return False
    if not (is_one_step(a, b) or _is_alike(a, b)):
        return False
    same, names = a.stems & b.stems, a.names & b.names
    if names and all(len(name) < _SHORTEST_NAME for name in names) and len(same) < _LEAST_SHARED:
        return False
    is_elsewhere = plan.place and deed.place and plan.place.isdisjoint(deed.place | b.stems)
    return not (is_elsewhere and (a.verb in _PLACED or not names))


def _is_alike(a: TaskStep, b: TaskStep) -> bool:
    """Whether two steps are one though not by the same name: most of many words, or of one place one sort of thing."""
    same = a.stems & b.stems
    if a.names and b.names and a.names.isdisjoint(b.names):
        return False
    if a.verb != b.verb:
        return (
            {a.verb, b.verb} <= _REWORKING and len(same) >= _MANY and 2 * len(same) >= max(len(a.stems), len(b.stems))
        )
    is_in_one = not a.others.isdisjoint(b.others) and not (a.names and b.names)
    return is_in_one and not a.heads.isdisjoint(b.heads)
