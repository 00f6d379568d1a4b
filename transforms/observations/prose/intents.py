"""What a statement of work means to do, or tells as done: verb, names in code and the stems of all its words."""

from __future__ import annotations

import re
from typing import NamedTuple

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import words
from slowwave.transforms.observations.pairs.words import BINDERS
from slowwave.transforms.observations.prose.verbs import deed_verb
from slowwave.transforms.observations.states.clause_words import words_of
from slowwave.transforms.observations.states.plan_words import SAYS_NOTHING
from slowwave.transforms.observations.turns.cues import stem
from slowwave.transforms.observations.turns.steps import names_in_code
from slowwave.transforms.observations.work.verbs import work_verb

_OPENERS = re.compile(
    r"^[\W\d_]*(?:(?:ok(?:ay)?|good|great|perfect|excellent|now|next|then|first|second|third|finally|also|so|alright"
    r"|and|but|right|sure|yes|understood|fix \d+|phase \d+\w?|step \d+\w?|task \d+\w?|part \d+\w?)[,.:!—–-]*\s+)+",
    re.IGNORECASE,
)
_TO_BE = re.compile(
    r"^(?:let me|let['’]s|i['’]ll|i will|i (?:also |still )?need to|we (?:also |still )?need to|need to"
    r"|i['’]m going to"
    r"|i am going to|going to|i should|we should|i must|todo:?|i want to|the (?:plan|fix|idea|goal) is to"
    r"|plan(?:s|ned)? to"
    r"|we['’]ll|we will|the next step is to|next step:|time to|remaining:|i can|we can)\s+"
    r"(?:(?:also|now|first|just|then|quickly|start|begin|continue|proceed|go|ahead|and|by)\s+)*",
    re.IGNORECASE,
)
_DOER = re.compile(
    r"^(?:(?:i['’]ve|i have|i['’]m|i am|i|we['’]ve|we have|we['’]re|we|successfully|also|just|already|now)\s+)+",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^(?!I\b|We\b|Let\b)(?:`[^`]+`(?: \([^)]*\))?"
    r"|[A-Z][\w ./()`-]{0,60}?)\s?(?:\s[—–-]|:)\s+(?=\w)"
)
_ENDS_NAME = r"\s[—–-]\s|:\s|,\s|;"
_JOINED = re.compile(r"(?:[,;]\s+(?:and\s+|then\s+)?|\s+and\s+(?:then\s+|also\s+)?)(?=[a-z]{3,}\b)")
_VERB = re.compile(r"([A-Za-z-]+)\s+(.+)", re.DOTALL)
_OF_IT = re.compile(r"(?P<verb>[a-z]+) (?:it|them)\b")
_NEW = re.compile(r"^new\b[\s—:-]*(?P<object>.{3,120})", re.IGNORECASE)
_IS_THERE = re.compile(
    r"^(?P<object>`[^`]+`(?: [`*\w]+)?) (?:function|method|field|type|parameter|column|test|helper|constant|const"
    r"|class|hook|flag|option|struct|component|endpoint)\b",
    re.IGNORECASE,
)
_STANDS = re.compile(
    r"^(?P<object>[^,;:]{3,90}?)\s(?:is|are)\s(?:now\s|all\s|fully\s)*"
    r"(?:in place|ready|live|set up|up and running|running|working|available|done|complete|finished)\b",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"^(?P<object>[^,;:]{3,90}?)\s(?P<be>(?:is now|are now|was|were|has been|have been)\s)?"
    r"(?:now\s|all\s|also\s|fully\s|successfully\s)*"
    r"(?P<verb>\w+ed|built|written|rewritten|split|set)\b(?P<rest>.*)",
    re.IGNORECASE,
)
_TOWARDS = re.compile(r"\s(?:to|in|into|from|on|for|at|with|by|of|that|which|so|when|where|if|\w{3,}ing)\s|[,;:(]")
_STATES = re.compile(r"\b(?:is|are|was|were|does|did|will|would|can|cannot|could|should|has|have|had)\b|n['’]t\b")
"""With one of these what begins with "-ing" is the subject of a sentence."""
_IS_DONE = re.compile(r"\b(?:has|have) been\b|✅")
_NOT_SO = re.compile(
    r"\b(?:not|never|isn|wasn|can|could|should|must|if|when|to be|which|that|need|needs|will|would|how|why|because"
    r"|since|after|where|what|already|once|though|although"
    r"|even|i|we|you|there|should)\b",
    re.IGNORECASE,
)
_GENERAL = frozenset(
    map(
        stem,
        words(
            "file code change thing need all new old exist update function project up out add make use now way both "
            "same other first only also sure following existing necessary proper correct properly correctly so "
            "that this it"
        ),
    )
)
_SHORTEST_WORD = 3
_LONGEST_SAID = 120


class Intent(NamedTuple):
    """An act: to be, or done; its verb, names in code, and the stems of all that is told with it.

    objects, heads: the names and stems of what it is done to alone; noun: the last of these, '' where it is a name.
    is_weak: told in the present ("passes `x` on"), alone no event. is_meant: the speaker says so ("let me", "now",
    "adding"): not only an item of a plan.
    """

    is_to_be: bool
    verb: str
    names: frozenset[str]
    stems: frozenset[str]
    objects: frozenset[str]
    heads: frozenset[str]
    noun: str
    said: str
    is_weak: bool
    is_meant: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether it names nothing that it is done to: "add it back"."""
        return not (self.objects or self.heads)


def intents(text: str, *, is_listed: bool = False) -> tuple[Intent, ...]:
    """The acts that a statement of one sentence tells, in its order: "adding the flag, and updating the help".

    is_listed: whether it stands in a list of what was done: then it tells what is there, without a verb, too.
    """
    text = text.replace("**", "").strip()
    opened = _OPENERS.match(text)
    said = text[opened.end() :] if opened is not None else text.lstrip("#-*•> ")
    label = _LABEL.match(said)
    about = "" if label is None else said[: label.end()]
    said = said if label is None else said[label.end() :]
    to_be = _TO_BE.match(said)
    rest = said[to_be.end() :] if to_be is not None else _DOER.sub("", said)
    pieces = _pieces(rest)
    is_begun = to_be is not None or opened is not None or rest != said or text.endswith((".", ":", "…"))
    led = [
        _led(piece, about, is_to_be=to_be is not None, is_begun=is_begun or at > 0) for at, piece in enumerate(pieces)
    ]
    first = led[0] if to_be is None else next((one for one in led if one is not None), None)
    if first is None or (is_listed and to_be is None and (first.is_to_be or first.is_weak)):
        listed = _listed(said, about) if is_listed and to_be is None else None
        other = None if to_be is not None else _come_about(said, about)
        return tuple(one for one in (other or listed,) if one is not None)
    is_meant = to_be is not None or opened is not None
    told = [one for one in led if one is not None and one.is_to_be == first.is_to_be]
    return tuple(one._replace(is_meant=is_meant or one.is_meant) for one in told)


def _pieces(said: str) -> list[str]:
    """The parts of a sentence that begin with verbs of their own; "it" is what the part before it named."""
    pieces = [piece for piece in _JOINED.split(said) if piece] or [""]
    for at in range(1, len(pieces)):
        led, before = _OF_IT.match(pieces[at]), _VERB.match(pieces[at - 1])
        if led is not None and before is not None:
            thing = _TOWARDS.split(f" {before[2]} ", maxsplit=1)[0].strip()
            pieces[at] = f"{led['verb']} {thing}{pieces[at][led.end() :]}"
    return pieces


def _led(piece: str, about: str, *, is_to_be: bool, is_begun: bool) -> Intent | None:
    """The act of a piece that begins with its verb; None: it does not, or that verb tells no act in this form."""
    led = _VERB.match(piece)
    if led is None:
        return None
    verb, form = deed_verb(led[1].lower())
    is_doing = form == "ing" and is_begun and (is_to_be or not _STATES.search(piece))
    is_base = form == "base" and not _IS_DONE.search(piece)
    if verb is None or not (is_base or is_doing or (not is_to_be and form in {"past", "s"})):
        return None
    found = _intent(verb, piece, about, is_to_be=form in {"base", "ing"}, is_weak=form == "s")
    return found._replace(is_meant=form == "ing")


def _listed(said: str, about: str) -> Intent | None:
    """What an item of a list of what was done names: a thing, and what it is."""
    whole = f"{about} {said}".strip()
    if not (about or said.startswith(("`", "✅"))):
        return None
    named = _TOWARDS.split(f" {about or re.split(_ENDS_NAME, said, maxsplit=1)[0]} ", maxsplit=1)[0]
    names, objects = names_of(whole), names_of(named)
    stems, heads = stems_of(whole, names), stems_of(named, names)
    return Intent(False, "", names, stems, objects, heads, "", whole[:_LONGEST_SAID], is_weak=False)


def _come_about(said: str, about: str) -> Intent | None:
    """What is told as there, or done to: "new helper", "`x` field", "the flag was removed", "`y` added to `z`"."""
    there = _NEW.match(said) or _IS_THERE.match(said)
    if there is not None:
        return _intent("add", f"new {said[there.start('object') :]}", about, is_to_be=False, is_weak=False)
    stands = _STANDS.match(said)
    if stands is not None and not _NOT_SO.search(stands["object"]):
        found = _listed(f"`` {stands['object']}", about)
        return None if found is None else found._replace(said=stands.group(), is_meant=True)
    match = _PASSIVE.match(said)
    if match is None or _NOT_SO.search(match["object"]) or not (words_of(match["object"]) or "`" in match["object"]):
        return None
    verb, form = deed_verb(match["verb"].lower())
    first, *others = match["object"].lower().split(maxsplit=2)
    led = inflection(first.strip("`*"))
    is_act = led.is_verb and (led.form in {"s", "ing", "past"} or others[:1] in (["the"], ["a"], ["all"]))
    if verb is None or form != "past" or is_act or not (match["be"] or work_verb(match["verb"].lower())[0]):
        return None
    about, rest = f"{about} {match['object']}", f"{match['verb']} {match['object']}{match['rest']}"
    return _intent(verb, rest, about, is_to_be=False, is_weak=False)


def _intent(verb: str, rest: str, about: str, *, is_to_be: bool, is_weak: bool) -> Intent:
    after = rest.split(None, 1)[1] if " " in rest else ""
    thing = "" if after.startswith("and ") else _TOWARDS.split(f" {after} ", maxsplit=1)[0].strip()
    whole = f"{about} {after}"
    names = names_of(whole)
    last = words_of(thing.replace("`", ""))[-1:]
    noun = stem(last[0]) if last and last[0] not in names and stem(last[0]) not in _GENERAL else ""
    stems, heads = stems_of(whole, names), stems_of(thing, names)
    return Intent(is_to_be, verb, names, stems, names_of(thing), heads, noun, rest[:_LONGEST_SAID], is_weak)


def names_of(text: str) -> frozenset[str]:
    """Names in code, without dots and brackets around them."""
    return frozenset(name.strip(".()[]:") for name in names_in_code(text)) - {""}


def stems_of(text: str, names: frozenset[str] = frozenset()) -> frozenset[str]:
    """The stems of words that tell something, but for names in code."""
    found = (word for word in words_of(text.replace("`", "")) if len(word) >= _SHORTEST_WORD and word not in names)
    stems = {stem(word) for word in found if word not in SAYS_NOTHING and word not in BINDERS}
    return frozenset(stems - _GENERAL)
