"""What several words say as one: "time out", "turn the cache off", "have the model check", "once the tests pass".

Works on the tokens of a text, before its words are read one by one.
"""

from __future__ import annotations

from itertools import takewhile

from slowwave.transforms.grouping.strategy_tokens import END, StrategyToken
from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import (
    AGENTS,
    BE,
    COLLECTIVES,
    COORDINATORS,
    DETERMINERS,
    FLOATING,
    PARTICLES,
    PHRASES,
    ROLES,
    USING,
)

_PHRASE_STARTS = {phrase[0] for phrase in PHRASES}
_PHRASE_PAIRS = {phrase[:2] for phrase in PHRASES}
_LONGEST_PHRASE = max(len(phrase) for phrase in PHRASES)
_FARTHEST_PARTICLE = 5
_FARTHEST_COLLECTIVE = 3
# Whether what an agent is to do needs a "to": "have the model check", "tell the model to check".
_ASKING = {"have": "", "let": "", "ask": "to", "tell": "to", "instruct": "to", "get": "to"}
_ONE = StrategyToken("number", "1")
_NOTHING = StrategyToken("word", "")
_TIMES = StrategyToken("word", "times")
_WORDS_THAT_CHANGE = {"once", "twice", "single", "full", "complete", "batch", *_ASKING}


def opens(token: StrategyToken) -> bool:
    """Whether a role begins with this word."""
    return token.kind == "word" and (token.text in ROLES or token.text in USING)


def _ends(found: list[StrategyToken], at: int) -> bool:
    """Whether nothing of the same phrase stands there."""
    return at >= len(found) or found[at] == END or opens(found[at]) or found[at].text in COORDINATORS


def _phrase_length(found: list[StrategyToken], start: int) -> int:
    for size in range(min(_LONGEST_PHRASE, len(found) - start), 1, -1):
        if tuple(token.text for token in found[start : start + size]) in PHRASES:
            return size
    return 1


def _parted_from(found: list[StrategyToken], at: int) -> int | None:
    """Place of the verb a particle belongs to: of "turn" for "off" in "turn the cache off"."""
    if not _ends(found, at + 1):
        return None
    for before in range(at - 1, max(at - _FARTHEST_PARTICLE, -1), -1):
        if _ends(found, before):
            return None
        if (found[before].text, found[at].text) in PHRASES:
            return before
    return None


def _without_parted(found: list[StrategyToken]) -> list[StrategyToken]:
    """The tokens with verb and particle together: "turn the cache off" as "disable the cache"."""
    whole = list(found)
    for at, token in enumerate(found):
        if token.text in PARTICLES and (verb := _parted_from(found, at)) is not None and verb < at - 1:
            whole[verb], whole[at] = StrategyToken("word", PHRASES[(found[verb].text, token.text)]), _NOTHING
    return [token for token in whole if token is not _NOTHING]


def _join_phrases(found: list[StrategyToken]) -> list[StrategyToken]:
    """Phrases that act as one word, as one word."""
    texts = {token.text for token in found}
    if _PHRASE_STARTS.isdisjoint(texts):
        return found
    whole = found if PARTICLES.isdisjoint(texts) else _without_parted(found)
    if _PHRASE_PAIRS.isdisjoint(
        zip([token.text for token in whole], [token.text for token in whole[1:]], strict=False)
    ):
        return whole
    joined: list[StrategyToken] = []
    at = 0
    while at < len(whole):
        size = _phrase_length(whole, at) if whole[at].text in _PHRASE_STARTS else 1
        said = tuple(token.text for token in whole[at : at + size])
        joined.append(whole[at] if size == 1 else StrategyToken("word", PHRASES[said]))
        at += size
    return joined


def _of_phrase(found: list[StrategyToken], start: int) -> list[StrategyToken]:
    return list(takewhile(lambda token: token != END and token.text not in COORDINATORS, found[start:]))


def _is_after(found: list[StrategyToken], at: int) -> bool:
    """Whether this "once" is a conjunction: "once the tests pass", not "run once", "once a day"."""
    rest = _of_phrase(found, at + 1)
    if not rest or opens(rest[0]) or rest[0].text in FLOATING:
        return False
    leads = at == 0 or found[at - 1] == END
    said = [inflection(token.text) for token in rest[1:] if token.kind == "word"]
    return leads or any(word.is_verb for word in said) or any(token.text in BE for token in rest)


def _place_after_agent(found: list[StrategyToken], at: int) -> int | None:
    """Of "have the model check" and "ask the model to check", the place right after who is asked."""
    here = at + 1
    while here < len(found) and found[here].text in DETERMINERS:
        here += 1
    if here >= len(found) or inflection(found[here].text).base not in AGENTS:
        return None
    here += 1
    needs_to = _ASKING[found[at].text] == "to"
    has_to = here < len(found) and found[here].text == "to"
    verb = here + has_to
    if has_to != needs_to or verb >= len(found) or found[verb].kind != "word":
        return None
    told = inflection(found[verb].text)
    return here if told.is_verb and told.form == "base" else None


def _calls_whole(found: list[StrategyToken], at: int) -> bool:
    if found[at].text == "complete" and (at == 0 or found[at - 1].text not in DETERMINERS):
        return False  # "complete the suite"
    near = found[at + 1 : at + 1 + _FARTHEST_COLLECTIVE]
    named = takewhile(lambda token: token.kind == "word" and not opens(token) and token.text not in DETERMINERS, near)
    return any(inflection(token.text).base in COLLECTIVES for token in named)


def _is_batchwise(found: list[StrategyToken], at: int) -> bool:
    """As in "batch copy with checkpoints"; not in "batch requests", "the batch copy"."""
    if at + 1 >= len(found) or (at and found[at - 1].text in DETERMINERS):
        return False
    done = inflection(found[at + 1].text)
    article_follows = at + 2 < len(found) and found[at + 2].text in DETERMINERS
    return done.is_verb and done.form in {"base", "ing"} and (article_follows or _ends(found, at + 2))


def _plain(found: list[StrategyToken], at: int, before: list[StrategyToken]) -> list[StrategyToken]:
    """What a word stands for where it is; `before` is what the words before it stand for."""
    text = found[at].text
    if text == "twice":
        return [StrategyToken("number", "2"), _TIMES]
    if text == "once":
        return [StrategyToken("word", "after")] if _is_after(found, at) else [_ONE, _TIMES]
    if text == "single" and not _ends(found, at + 1):
        return [] if before[-1:] == [_ONE] else [_ONE]
    if text in {"full", "complete"} and _calls_whole(found, at):
        return [StrategyToken("word", "whole")]
    if text == "batch" and _is_batchwise(found, at):
        return [StrategyToken("word", "batchwise")]
    if text in _ASKING and _place_after_agent(found, at) is not None:
        return [StrategyToken("word", "ask")]
    return [found[at]]


def idioms(found: list[StrategyToken]) -> list[StrategyToken]:
    """The tokens with each idiom as the plain word or words it stands for."""
    found = _join_phrases(found)
    if _WORDS_THAT_CHANGE.isdisjoint([token.text for token in found]):
        return found
    plain: list[StrategyToken] = []
    dropped = -1
    for at, token in enumerate(found):
        if at == dropped:
            continue
        plain += _plain(found, at, plain) if token.kind == "word" else [token]
        if token.text in _ASKING and token.kind == "word" and (asked := _place_after_agent(found, at)) is not None:
            dropped = asked if found[asked].text == "to" else -1
    return plain
