"""The uninflected form of an English word: plural, third person, past and -ing forms become one.

Inflection only, no derivation ("tester" is not "test"). Known verbs are looked up, because spelling alone cannot tell
"scraping" (scrape) from "scrapping" (scrap); other words lose an ending only where their spelling leaves no doubt,
so "red", "bus", "sing" and "being" stay as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from slowwave.transforms.language.lexicon import word_map, words

# Verbs as agents use them, and the forms of English words that no rule of spelling gives.

VERBS = words(
    "abort accept access add adjust aggregate alert align allocate allow analyze answer append apply approve "
    "archive ask assert assign attach audit avoid await backtrack batch begin benchmark bisect bite block "
    "brainstorm break bring browse build bump bundle buy cache calculate call cancel capture catch change chase "
    "check choose chunk clarify classify clean clear click clone close cluster collapse collect combine come "
    "comment commit compare compile complete compress compute configure confirm connect consolidate consult consume "
    "contact contain continue control convert copy correct count crawl create critique cut debug decide decline "
    "decode decompose decouple decrease deduplicate defer define delay delegate delete deploy derive describe "
    "design detect determine develop diagnose disable discard disconnect discuss divide do download draft draw "
    "drive drop dump duplicate eat edit embed emit enable encode encrypt enforce enhance ensure enter enumerate "
    "escalate escape establish estimate evaluate examine execute exit expand expect explain explore export expose "
    "extend extract fail fetch fill filter find finish fix flag flatten flush follow force forget format forward "
    "freeze gather generate get give go grade grant grep group guess halt handle help hide hold ignore implement "
    "import improve include increase index infer ingest initialize inject inline insert inspect install instrument "
    "integrate interrupt introduce invalidate invert investigate invoke isolate iterate join jump keep kill know "
    "label launch lead leap learn let limit link lint list listen load lock log lookup lower maintain make manage "
    "map mark mask match measure meet memoize merge migrate minimize mock modify monitor mount move mutate narrow "
    "navigate normalize notify observe obtain omit open optimize orchestrate order organize outline override "
    "overwrite paginate parallelize paraphrase parse partition pass patch pause pay perform permit pin plan play "
    "poll post postpone prefer prefetch prepare preserve prevent print prioritize probe process produce profile "
    "promote prompt propose protect prove provide prune publish pull purge push query queue quit quote raise rank "
    "read rebase rebuild rebut recalculate receive recheck recompute record recover recur recycle redact redeploy "
    "reduce refactor refer refine reflect refresh register reject release reload remap remember remove rename "
    "render reorder repair repeat replace replan reply report reproduce request rerun rescan reset resolve respond "
    "restart restore restrict resubmit resume retain retrieve retry return reuse revert review revise rewrite "
    "rollback rotate route run sample sanitize save scale scan schedule score scrap scrape screen search seed seek "
    "select send separate sequence serialize serve set setup shard share shorten show shuffle shut sign simplify "
    "simulate skip sleep slice solve sort spawn specify split squash stage standardize start stop store stream "
    "strip study submit subscribe substitute suggest summarize supersede supervise swap switch sync tag take teach "
    "tell terminate test think throttle throw tokenize touch trace track train transform translate traverse trigger "
    "trim truncate try tune understand undo uninstall unlock unpack unwrap update upgrade upload use utilize "
    "validate verify view visit vote wait wake walk warm warn watch wipe work wrap write zip "
    "adopt backup checkout erase locate login logout rephrase rerank reword rollout segment "
)
"""Base forms. Words that are nouns first and foremost (name, type, version, output) are left out."""

DOUBLING_VERBS = words(
    "admit begin cancel channel commit control debug defer equip forget format label marshal model occur offset "
    "omit permit prefer preset recur refer regret remap replan rerun reset resubmit signal submit total transmit "
    "travel tunnel unplug untar unwrap unzip "
)
"""Of more than one syllable, with a doubled last consonant before -ed and -ing."""

IRREGULAR_FORMS = word_map(
    "analyses=analysis apis=api axes=axis bases=base began begun=begin bit bitten=bite broke broken=break "
    "brought=bring built=build bought=buy caches=cache caught=catch children=child chose chosen=choose came=come "
    "criteria=criterion databases=database did done=do drawn drew=draw driven drove=drive ate eaten=eat feet=foot "
    "forgot forgotten=forget froze frozen=freeze got gotten=get gave given=give gone went=go halves=half hid "
    "hidden=hide held=hold hypotheses=hypothesis indexes indices=index kept=keep knew known=know leaves=leaf "
    "learnt=learn lives=life made=make men=man matrices=matrix meant=mean met=meet mice=mouse overridden "
    "overrode=override paid=pay people=person quizzes=quiz rebuilt=rebuild reran=rerun rewritten rewrote=rewrite "
    "ran=run said=say sought=seek sent=send shaken shook=shake showed shown=show spoke spoken=speak sped=speed "
    "spent=spend stole stolen=steal taken took=take taught=teach told=tell threw thrown=throw teeth=tooth "
    "understood=understand undid undone=undo vertices=vertex woke=wake wolves=wolf women=woman written wrote=write "
)

UNINFLECTED = words(
    "across address afterwards alias always analysis anything as athens atlas aws axios bedding being besides bias "
    "biased bing bleed breed bring building bus business canvas ceiling chaos chess cling cookies corpus cosmos css "
    "deed devops ding dns downwards during economics ethos evening everything feed finale fling fred gas gcs greed "
    "hers his https hundred indeed ios james jenkins js keras kindred king kubernetes kudos lens less locale logos "
    "macos mars mathematics meeting ming minus mlops mongoose morale morning movies naked nats need news nothing "
    "numpy offspring ops os ours pandas paris pathos perhaps physics ping plus postgres princess pudding rails "
    "rationale red redis ring rookies sacred sas seed series settings sibling sing sling something sometimes sops "
    "species speed spring status sting string success swing ted texas theirs thing things thus tls towards ts "
    "unless upwards versus wedding weed wellbeing whereas windows wing wring yes zombies "
    "batchwise likewise otherwise stepwise "
)
"""Words that only look inflected, and names that end in s."""


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


def uninflected(word: str) -> str:
    """The base of `inflection`, sooner for a word that has none of the endings: most words are rare, and met once."""
    return inflection(word).base if word[-1] in "sdge" or word in _KNOWN else word
