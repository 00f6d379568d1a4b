"""Steps of work: what somebody says is to be done, and later that it was.

Agents and people who note their work leave out who does it: "now remove the old parser", "still to do: remove it",
"removed the old parser", "the old parser was removed". One step is told by verbs of one meaning and by what they are
done to: the same name in code, or two words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import word_map, words
from slowwave.transforms.observations.pairs.pair_words import BINDERS
from slowwave.transforms.observations.states.clause_words import words_of
from slowwave.transforms.observations.states.plan_words import SAYS_NOTHING
from slowwave.transforms.observations.turns.cues import Statement, StatusChange, stem

_VERBS = word_map(
    "add create write implement introduce build=add remove delete drop strip=remove fix resolve repair correct=fix "
    "rename=rename move extract relocate=move update change modify replace switch convert migrate rewrite "
    "rework=update wire hook connect integrate=wire merge combine unify=merge inline=inline register=register "
    "simplify=simplify "
    "upgrade bump=upgrade downgrade=downgrade enable=enable disable=disable install=install refactor=refactor "
    "split=split document=document expose=expose deploy=deploy publish=publish configure=configure"
)
_IRREGULAR = {"wrote": "write", "written": "write", "rewrote": "rewrite", "rewritten": "rewrite", "built": "build"}
_OPENERS = re.compile(
    r"^[\W\d_]*(?:(?:ok(?:ay)?|good|great|perfect|now|next|then|first|second|finally|also|so|done|alright|and|but"
    r"|step \d+)[,.:!—–-]*\s+)+",
    re.IGNORECASE,
)
_TO_BE = re.compile(
    r"^(?:let me|let['’]s|i['’]ll|i will|i need to|we need to|need to|i['’]m going to|i am going to|going to|i should"
    r"|we should|i must|todo:?|still (?:need )?to(?: do:?)?|i want to|plan(?:s|ned)? to)\s+"
    r"(?:also\s+|now\s+|first\s+|just\s+|then\s+)*",
    re.IGNORECASE,
)
_DOER = re.compile(
    r"^(?:(?:i['’]ve|i have|i['’]m|i am|i|we['’]ve|we have|we['’]re|we|successfully|also|just|already)\s+)+",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?P<label>`[^`]+`(?: \([^)]*\))?|[A-Z][\w ]{0,25})\s?(?:[—–-]|:)\s+(?=\w)")
_IS_THERE = re.compile(
    r"^(?P<object>`[^`]+`(?: [`*\w]+)?) (?:function|method|field|type|parameter|column|test|helper|constant|const"
    r"|class|module|hook|flag|option|struct|component|endpoint|command|script|section)\b",
    re.IGNORECASE,
)
_ALIKE = words("add update move wire fix refactor simplify")
"""Of these one may be told as another, where it is done to the same two names."""
_VERB = re.compile(r"([A-Za-z-]+)\s+(.+)", re.DOTALL)
_OBJECT = re.compile(
    r"^(.{3,120}?)(?=$|[;:.](?:\s|$)|,\s|\s(?:—|–|-)\s"
    r"|\s(?:since|because|so that|so|which|where|when|if|before|after|while|and then)\b)",
    re.IGNORECASE,
)
_DONE_TO = re.compile(
    r"^(?P<object>[^,]{3,90}?)\s(?:(?:is|are|was|were|has been|have been)\s)?(?:now\s|all\s|already\s|also\s)?"
    r"(?P<verb>\w+(?:ed|built|written|rewritten|split))\b(?! by\b)",
    re.IGNORECASE,
)
_NOT_SO = re.compile(
    r"\b(?:not|never|isn|wasn|can|could|should|must|if|when|to be|which|that|need|needs|will|would|how|why|was|were"
    r"|is|are|because|since|after)\b",
    re.IGNORECASE,
)
_NEW = re.compile(r"^new\b[\s—:-]*(.{3,90})", re.IGNORECASE)
_TOWARDS = re.compile(r"\s(?:to|in|into|from|on|for|as|at)\s", re.IGNORECASE)
_QUOTED = re.compile(r"`([^`]+)`")
_IN_CODE = re.compile(r"[a-z][A-Z]|_|\w\.\w|/\w")
_WORD_IN_CODE = re.compile(r"[\w./:@-]+")
_JOINED = re.compile(r"\s(?:and|plus|\+)\s|,")
_KIND = re.compile(r"(?:^|\s)([a-z]{3,})s?(?: \([^)]*\))?$")
_FILE = re.compile(r"\.[a-z]{1,5}$")
_GENERAL = words("file code change thing need all new old exist import test update function project up out")
_SHORTEST_WORD = 3
_COMPARED = 16


class TaskStep(NamedTuple):
    """A step: whether it is still to be done, and its verb's meaning.

    names, others: names in code of what it is done to, and of what else is said of it. heads, stems: the stems of what
    it is done to, and of all words. kind: what sort of thing it is done to ("parameter"), '' where no word says.
    """

    is_to_be: bool
    verb: str
    names: frozenset[str]
    others: frozenset[str]
    heads: frozenset[str]
    stems: frozenset[str]
    kind: str
    said: str


def step_of(text: str) -> TaskStep | None:
    """The step that a statement of one sentence tells; None: none."""
    said = text.replace("**", "").strip()
    opened = _OPENERS.match(said)
    said = said[opened.end() :] if opened is not None else said.lstrip("#- *")
    label = _LABEL.match(said)
    if label is not None:
        said = said[label.end() :]
    to_be = _TO_BE.match(said)
    rest = said[to_be.end() :] if to_be is not None else _DOER.sub("", said)
    led = _VERB.match(rest)
    if led is not None:
        verb, form = _verb(led[1].lower())
        if verb is not None and (to_be is None or form == "base"):
            is_done = form == "past" and (to_be is None)
            return step_to(verb, led[2], rest, is_to_be=not is_done)
    if to_be is not None:
        return None
    new = _NEW.match(said)
    if new is not None:
        return step_to("add", new[1], said, is_to_be=False)
    there = _IS_THERE.match(said)
    if there is not None:
        return step_to("add", there["object"], said[: there.end()], is_to_be=False)
    done_to = _DONE_TO.match(said)
    if done_to is not None and not _NOT_SO.search(done_to["object"]):
        verb, form = _verb(done_to["verb"].lower())
        if verb is not None and form == "past":
            return step_to(verb, done_to["object"], done_to.group(), is_to_be=False)
    return None


def _verb(word: str) -> tuple[str | None, str]:
    """The meaning of a verb of work, and its form."""
    if word in _IRREGULAR:
        return _VERBS[_IRREGULAR[word]], "past"
    if word in _VERBS:
        return _VERBS[word], "base"
    found = inflection(word)
    return _VERBS.get(found.base) if found.form in {"past", "ing"} else None, found.form


def step_to(verb: str, rest: str, said: str, *, is_to_be: bool) -> TaskStep | None:
    """The step of a verb's meaning, done to what `rest` begins with; None: it names nothing."""
    if not (rest[0].isalnum() or rest[0] in "`'\"<@$-"):
        return None
    match = _OBJECT.match(rest + " " if len(rest) < _SHORTEST_WORD else rest)
    if match is None:
        return None
    named = match[1]
    thing = _TOWARDS.split(f" {named} ", maxsplit=1)[0].strip()
    if not thing:
        return None
    kind = _KIND.search(_JOINED.split(thing, maxsplit=1)[0])
    names = names_in_code(thing)
    return TaskStep(
        *(is_to_be, verb, names, names_in_code(named) - names, _stems(thing), _stems(named)),
        "" if kind is None else kind[1].lower(),
        said[: len(said) - len(rest) + match.end()].strip(),
    )


def _stems(phrase: str) -> frozenset[str]:
    found = (word for word in words_of(phrase.replace("`", "")) if len(word) >= _SHORTEST_WORD)
    return frozenset(
        stem(word) for word in found if word not in _GENERAL and word not in SAYS_NOTHING and word not in BINDERS
    )


def names_in_code(text: str) -> frozenset[str]:
    """The names in a text that are set in backticks, or look like code."""
    found = [*_QUOTED.findall(text), *(word for word in _WORD_IN_CODE.findall(text) if _IN_CODE.search(word))]
    return frozenset(word.strip("().:").split("(")[0].split("/")[-1].lower() for word in found) - {""}


def steps_done(told: Iterable[Statement]) -> Iterator[StatusChange]:
    """Of each step that was done the statement that it was to be which shares most with it; a step is done once."""
    waiting: list[tuple[Statement, TaskStep] | None] = []
    by_mark: dict[tuple[int, str], list[int]] = {}
    for one in sorted(told, key=lambda one: (one.at, one.statement)):
        step = step_of(one.text)
        if step is None:
            continue
        marks = [(one.scope, mark) for mark in sorted(step.names | step.others | step.stems)]
        if step.is_to_be:
            for mark in marks:
                by_mark.setdefault(mark, []).append(len(waiting))
            waiting.append((one, step))
            continue
        best, shared = -1, (0, 0)
        for number in sorted({place for mark in marks for place in by_mark.get(mark, [])[-_COMPARED:]}, reverse=True):
            found = waiting[number]
            if found is not None and found[0].at < one.at and is_one_step(found[1], step):
                same = (len(found[1].names & step.names), len(found[1].stems & step.stems))
                if same > shared:
                    best, shared = number, same
        if best >= 0 and (planned := waiting[best]) is not None:
            waiting[best] = None
            yield StatusChange(planned[0].statement, one.statement, "", "", planned[1].said, step.said)


def is_one_step(a: TaskStep, b: TaskStep) -> bool:
    """Whether two steps are one: verbs of one meaning, and the same name in code or most of the same words."""
    same, names = a.stems & b.stems, a.names & b.names
    is_other_sort = a.kind and b.kind and not (a.kind.startswith(b.kind) or b.kind.startswith(a.kind))
    if is_other_sort:
        return False
    if a.others and b.others and a.others.isdisjoint(b.others) and a.others.isdisjoint(b.names):
        return False
    anywhere = (a.names | a.others) & (b.names | b.others)
    if a.verb != b.verb:
        return len({name for name in anywhere if not _FILE.search(name)}) > 1 and {a.verb, b.verb} <= _ALIKE
    if names:
        # many things are done to one file
        is_file_alone = all(map(_FILE.search, names)) and not (
            a.names == b.names == names and len(same) == len(b.stems)
        )
        return not is_file_alone or len(same) > len(names)
    if a.names and b.names:
        return len(anywhere) > 1
    if a.heads.isdisjoint(b.heads):
        return False
    is_most = 2 * len(same) >= min(len(a.stems), len(b.stems))
    return a.stems == b.stems or (len(same) > 1 and (is_most or len(same) > len(anywhere) > 0))
