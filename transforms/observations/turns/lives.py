"""What changes in somebody's life from one statement to another: how often they won, what they play, who they are with.

How many of a thing they have is told by counting words: "another", "a third".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

from slowwave.transforms.language.hinted import Hinted
from slowwave.transforms.language.lexicon import words
from slowwave.transforms.observations.states.acts import DONE, TO_BE, StatedActs
from slowwave.transforms.observations.states.clause_words import words_of
from slowwave.transforms.observations.states.plan_words import SAYS_NOTHING
from slowwave.transforms.observations.turns.cues import Cue, stem

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NTH = rf"(?P<nth>{'|'.join(_ORDINALS)})"
_TALLIES = (
    Hinted(
        r"\b(?P<verb>w[io]n(?:s|ning)?|r[ua]ns?|complet(?:ed|es)|visit(?:ed|s)|publish(?:ed|es)|earn(?:ed|s))\b"
        rf"[^.;]{{0,40}}?\b{_NTH} (?P<thing>[^,;.]{{2,60}})",
        "|".join(_ORDINALS),
    ),
    Hinted(rf"\b{_NTH} (?P<verb>win|victory|title)\b(?P<thing>[^,;.]{{0,60}})", "|".join(_ORDINALS)),
)
_NO_TALLY = words("time week month year day place round grade floor half prize semester")
_PASTIME = Hinted(
    r"\b(?:(?:currently|now|lately|hooked on|obsessed with|addicted to|these days|has been|have been)[^,;]{0,25}?\b"
    r"(?P<verb>reading|playing|watching|studying)"
    r"|(?P<other>plays|reads|watches|playing|reading|watching)(?=\b[^,;]*\b(?:non[- ]?stop|these days|right now)\b))\b "
    r"(?P<thing>[^,;.]{1,60})",
    "reading|playing|watching|studying|plays|reads|watches",
)
_NAMES = re.compile(r"\b[A-Z][\w'’]+|\d+")
_BONDS = (
    Hinted(r"\b(?:is|am) (?:still |currently )?single\b", "single"),
    Hinted(
        r"\b(?:is|are|am|has been|have been|started|starts|began) (?:dating|seeing|going out with)\b"
        r"|\bhas a (?:new )?(?:girlfriend|boyfriend)\b|\bto be (?:his|her|my) (?:girlfriend|boyfriend)\b",
        "dating|seeing|going out with|girlfriend|boyfriend",
    ),
    Hinted(r"\bmove[ds]? in (?:together|with (?:his|her|my) (?:girlfriend|boyfriend|partner)|with [A-Z]\w+)", "move"),
    Hinted(r"\b(?:is|are|am|got|gets|became) engaged (?:to|$)", "engaged"),
    Hinted(r"\b(?:is|are|am|got|gets) (?:now |happily )?married\b|\b(?:tied|ties) the knot\b", "married|the knot"),
    Hinted(r"\b(?:broke up|split up|got divorced|divorced)\b", "broke up|split up|divorced"),
)
_PETS = "dog|puppy|pup|cat|kitten|bird|parrot|turtle|hamster|rabbit|horse|snake"
_OTHERS = "car|bike|bicycle|motorcycle|boat|guitar|piano|camera|laptop|child|son|daughter|baby|brother|sister|tattoo"
_NAMED_AFTER = (
    r"(?=e?s?(?:$|[,.;]| (?:of|named|called|with|for|from|in|on|at|to|who|that|which|and|as|after|last|this|because|by"
    r"|together|is|are|do|does|have|has)\b))"
)
_OWNED = re.compile(
    rf"\b(?P<thing>{_PETS}|{_OTHERS}|pupp(?=ies\b)|child(?=ren\b)){_NAMED_AFTER}|\b(?P<friend>pets?|furry friends?)\b"
)
_COUNTED = re.compile(
    r"\b(?:has|have|having|owns?|his|her|their|my|our|of) (?:at least |about |already |now )?"
    rf"(?P<count>\d|two|three|four|five|six|seven|eight|nine|ten) (?:pet )?(?P<thing>{_PETS}|{_OTHERS})s\b",
    re.IGNORECASE,
)
_COUNTS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
_ONE_THING = {"puppy": "dog", "pup": "dog", "pupp": "dog", "kitten": "cat", "bicycle": "bike"}
_GETTING = words("adopt get buy purchase acquire acquir rescue foster welcome")
_MORE = re.compile(r"\b(?:another|new|more|additional|second|third|fourth|fifth|in addition)\b", re.IGNORECASE)
_BESIDE = re.compile(r"\b(?:for|of|with|to|from|on|in|at|about)\b")
_NONE = re.compile(r"\b(?:no|not|never|any)\b|n['’]t\b", re.IGNORECASE)


def tally_cues(text: str) -> Iterator[Cue]:
    """The how-manieth of its kind somebody won, ran or published."""
    for pattern in _TALLIES:
        for match in pattern.finditer(text):
            thing = words_of(match["thing"])[:4]
            if pattern is _TALLIES[1]:
                thing = (*words_of(text[: match.start()]), *thing)
            about = frozenset(stem(word) for word in thing if word not in SAYS_NOTHING)
            if about and thing[0] not in _NO_TALLY:
                verb = match["verb"][:1].lower()
                yield Cue(f"tally: {verb}", _ORDINALS.index(match["nth"].lower()), about, frozenset(), match.group())


def pastime_cues(text: str) -> Iterator[Cue]:
    """What somebody reads, plays or watches at present, by name."""
    match = _PASTIME.search(text)
    if match is not None:
        verb = (match["verb"] or match["other"]).lower()[:4]
        names = frozenset(_NAMES.findall(match["thing"]))
        if names:
            yield Cue(f"pastime: {verb}", 0, frozenset(), names, match.group())


def bond_cues(text: str) -> Iterator[Cue]:
    """How close somebody is to a partner."""
    found = [(stage, match) for stage, one in enumerate(_BONDS) if (match := one.search(text)) is not None]
    for stage, match in found[-1:]:
        yield Cue("bond", stage, frozenset(), frozenset(), match.group())


def owned_cues(text: str, told: StatedActs) -> Iterator[Cue]:
    """What somebody has, wants to have, or does not have; that they got one more; and how many they have."""
    for match in _COUNTED.finditer(text):
        count = match["count"].lower()
        thing = _one_thing(match["thing"].lower())
        yield Cue(f"count: {thing}", _COUNTS.get(count) or int(count), frozenset(), frozenset(), match.group())
    for act in told.acts:
        found = _OWNED.search(act.said.lower())
        if found is None or _BESIDE.search(act.said[: found.start()]):
            continue
        about = frozenset({_one_thing(found["thing"] or "pet")})
        is_getting = act.verb in _GETTING or (act.verb == "bring" and "home" in act.words)
        if is_getting and act.stage == DONE:
            yield Cue("owned", 1, about, frozenset(), act.said, _MORE.search(text) is not None)
        elif (is_getting or act.verb == "have") and (act.stage == TO_BE or _NONE.search(act.said)):
            yield Cue("owned", -1, about, frozenset(), act.said)
        elif act.verb == "have" and (act.form != "past" or act.said.startswith(("has", "have"))):
            yield Cue("owned", 0, about, frozenset(), act.said)


def _one_thing(name: str) -> str:
    return _ONE_THING.get(name, name)


def counted_on(before: Cue, after: Cue, _: timedelta, __: Callable[[str], bool]) -> bool:
    """Whether the second is a later one of the same kind."""
    return before.stage < after.stage and not before.words.isdisjoint(after.words)


def turned_to(before: Cue, after: Cue, _: timedelta, __: Callable[[str], bool]) -> bool:
    """Whether what is read or played at present has another name."""
    return before.names.isdisjoint(after.names)


def came_closer(before: Cue, after: Cue, _: timedelta, __: Callable[[str], bool]) -> bool:
    """Whether somebody is otherwise bound than before."""
    return before.stage < after.stage


def got_one_more(before: Cue, after: Cue, _: timedelta, __: Callable[[str], bool]) -> bool:
    """Whether who had none has one, or to what somebody had one more was added; that must be said."""
    if before.words != after.words or before.stage > after.stage:
        return False
    if before.stage < 0 or after.stage <= 0:
        return before.stage < 0 <= after.stage
    return after.is_marked or (before.stage == 0 and re.search(r"\b\d+ ", before.said) is not None)


def counted_anew(before: Cue, after: Cue, _: timedelta, __: Callable[[str], bool]) -> bool:
    """Whether there are more or fewer of them."""
    return before.stage != after.stage
