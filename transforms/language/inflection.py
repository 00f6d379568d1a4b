"""The uninflected form of an English word: plural, third person, past and -ing forms become one.

Inflection only, no derivation ("tester" is not "test"). Known verbs are looked up, because spelling alone cannot tell
"scraping" (scrape) from "scrapping" (scrap); other words lose an ending only where their spelling leaves no doubt,
so "red", "bus", "sing" and "being" stay as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from slowwave.transforms.language.verbs import DOUBLING_VERBS, IRREGULAR_FORMS, UNINFLECTED, VERBS

Form = Literal["base", "s", "past", "ing", "other"]

_VOWEL_GROUPS = re.compile(r"[aeiouy]+")
# one syllable ending in consonant, vowel, consonant: "hop" doubles (hopping), so "hoping" comes from "hope"
_ONE_SYLLABLE_CVC = re.compile(r"[^aeiou]*[aeiouy][^aeiouwxy]")
_SHORTEST_PLURAL = 4
_ENDINGS: tuple[tuple[str, Form], ...] = (("ing", "ing"), ("ied", "past"), ("ed", "past"))
_BRITISH = re.compile(r"(?<=[iy])s(?=(?:e|es|ed|ing)$)")


class Inflection(NamedTuple):
    """A word's uninflected form, whether it is a known verb, and the form it was in."""

    base: str
    is_verb: bool
    form: Form


def _s_form(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def _stems(verb: str) -> tuple[list[str], list[str]]:
    """What -ed and what -ing may be appended to."""
    if verb.endswith("ie"):
        return [verb[:-1]], [verb[:-2] + "y"]
    if verb.endswith("e"):
        return [verb[:-1]], [verb if verb.endswith(("ee", "oe", "ye")) else verb[:-1]]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return [verb[:-1] + "i"], [verb]
    if verb in DOUBLING_VERBS or _ONE_SYLLABLE_CVC.fullmatch(verb):
        # both spellings of "cancelled" and "canceled"; for the others only the doubled one
        stems = [verb + verb[-1]] + ([verb] if verb.endswith("l") and verb in DOUBLING_VERBS else [])
        return stems, stems
    return [verb], [verb]


def _known_forms() -> dict[str, Inflection]:
    known: dict[str, Inflection] = {}
    for verb in sorted(VERBS):
        past, ing = _stems(verb)
        known.setdefault(_s_form(verb), Inflection(verb, is_verb=True, form="s"))
        for stem in past:
            known.setdefault(stem + "ed", Inflection(verb, is_verb=True, form="past"))
        for stem in ing:
            known.setdefault(stem + "ing", Inflection(verb, is_verb=True, form="ing"))
    for text, verb in IRREGULAR_FORMS.items():
        form: Form = "s" if text.endswith("s") else "past" if verb in VERBS else "other"
        known[text] = Inflection(verb, is_verb=verb in VERBS, form=form)
    for verb in VERBS:  # last: "set" and "read" are their own past
        known[verb] = Inflection(verb, is_verb=True, form="base")
    for word in UNINFLECTED - VERBS:
        known[word] = Inflection(word, is_verb=False, form="other")
    return known


_KNOWN = _known_forms()


def _singular(word: str) -> str:
    if len(word) < _SHORTEST_PLURAL or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _SHORTEST_PLURAL:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "shes", "ches", "zzes")):
        return word[:-2]
    return word[:-1]


def _without_ending(stem: str) -> str:
    """The verb an unknown -ed or -ing form was made of, as far as spelling tells."""
    if stem[-1] == stem[-2] and stem[-1] not in "lszaeiou":
        return stem[:-1]
    if _ONE_SYLLABLE_CVC.fullmatch(stem) or stem[-1] in "cuvz" or stem.endswith(("at", "iz", "bl", "pl", "dl", "tl")):
        return stem if stem.endswith(("eat", "oat")) else stem + "e"
    return stem


@lru_cache(maxsize=65_536)
def inflection(word: str) -> Inflection:
    """The uninflected form of a lower-case English word of letters only."""
    known = _KNOWN.get(word)
    if known is None:
        word = _BRITISH.sub("z", word)
        known = _KNOWN.get(word)
    if known is not None:
        return known
    for ending, form in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= len("use") and _VOWEL_GROUPS.search(stem) and not word.endswith("eed"):
            return Inflection(stem + "y" if ending == "ied" else _without_ending(stem), is_verb=False, form=form)
    singular = _singular(word)
    return Inflection(singular, is_verb=False, form="other" if singular == word else "s")
