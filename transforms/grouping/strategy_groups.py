"""Strategy texts that say the same thing, as groups.

Two texts are in one group when they have one key (`strategy_key`), so a group depends on its texts alone: not on the
order of rows, not on batches, not on what other texts there are, and no chain of small differences can join two
strategies. A score of similarity takes no part: in static embeddings "use a larger model" and "use a smaller model"
are nearer to each other than most paraphrases are.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import polars as pl

from slowwave.transforms.core.hashing import digest
from slowwave.transforms.grouping.phrases import PhraseWord, phrases
from slowwave.transforms.grouping.strategy_tokens import StrategyToken, is_english, tokens
from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import ARTICLES, CAUSATIVES, CLAUSES, COMPETING, EVENTS, FLOATING, OPPOSITES

# What a strategy text says, as a key: texts with one key say the same thing.
# Word order is free only where it carries no meaning. A text is read as phrases; each phrase is a bag of uninflected
# words in which every word keeps
# - its role: what follows "before", "to", "instead of", "with", "if" ... is marked with it, so "json to yaml" and
#   "yaml to json", "A before B" and "B before A" differ, while "before B, A" and "A before B" are one;
# - its negation, up to the end of the phrase;
# - its part, where a verb stands between two other words ("planner checks coder"), and which verb leads ("test the
#   build" is not "build the test");
# - its number: "3 retries, 5 s" is not "5 retries, 3 s".
# Phrases that are steps stay in order ("plan, act" is not "act, plan"). Function words go, words of one meaning become
# one. What these rules of English cannot read - other languages, formulas, single words, long texts - keeps every word
# in its place, and only case and punctuation are free.

_MOST_CHARACTERS = 2_000
_MOST_TOKENS = 64
_MOST_FREE_WORDS = 3
# In these forms the verb after these words is what is done, and the rest by what means: "backoff when retrying".
_PURPOSES = {"for": ("base", "s", "ing"), "to": ("base",), "if": ("ing",), "in": ("ing",), "with": ("base", "s", "ing")}
_LEADING_FORMS = ("base", "past", "ing", "s")


class StrategyKey(NamedTuple):
    """A text's key, and the words it was made of: as written, and uninflected."""

    key: str
    written: tuple[str, ...]
    uninflected: tuple[str, ...]


def _as_written(found: list[StrategyToken]) -> StrategyKey:
    texts = tuple(token.text for token in found)
    return StrategyKey("\n".join(("as written", *texts)), texts, texts)


def _short(found: list[StrategyToken]) -> StrategyKey:
    """Where one word at most says something, the others are kept too, in order: "use caching" is not "the cache"."""
    written = tuple(token.text for token in found if token.text not in ARTICLES)
    bases = tuple(inflection(text).base if text.isascii() and text.isalpha() else text for text in written)
    return StrategyKey("\n".join(("short", *bases)), written, bases)


def _without_running(parts: list[PhraseWord]) -> list[PhraseWord]:
    """One reading for "run the tests first" and "tests first"."""
    if len(parts) == 1:
        return parts
    fixed = [part for part in parts if not part.floats]
    run = next((part for part in fixed if part.base == "run" and part.is_verb and part.form != "s"), None)
    others = [part for part in fixed if part is not run]
    if run is None or not others or others[-1].base != "test":
        return parts
    if run is not fixed[0] and len(others) > 1:  # "cancel the test run"
        return parts
    others[-1].is_verb, others[-1].form = True, "base"
    return [part for part in parts if part is not run]


def _give_means(parts: list[PhraseWord]) -> None:
    """One reading for "use X when doing Y", "X for doing Y", "do Y with X"; and for "use X" and "X"."""
    plain = [part for part in parts if not part.role and not part.floats]
    means = [part for part in parts if part.role == "use"] or plain
    if means and not any(part.is_verb for part in plain):
        purpose = next((role for role in _PURPOSES if _is_purpose(role, parts)), None)
        if purpose:
            for part in parts:
                part.role = "" if part.role == purpose else part.role.removeprefix(f"{purpose}>")
            for part in means:
                part.role = "with"
        elif not plain and len(means) > 1 and not means[0].is_verb:
            for part in means:
                part.role = ""
    if not any(part.role == "with" for part in parts):
        for part in parts:
            part.role = "with" if part.role == "use" else part.role.replace(">use", ">with")


def _is_purpose(role: str, parts: list[PhraseWord]) -> bool:
    """Whether the words of a role tell what is done."""
    told = [part for part in parts if part.role == role]
    if not told or not told[0].is_verb or told[0].form not in _PURPOSES[role]:
        return False
    return len(told) == 1 or told[0].form == "ing" or role == "to"


def _give_purpose(parts: list[PhraseWord]) -> None:
    """One reading for "do X by doing Y" and "do Y to do X"."""
    told = [part for part in parts if part.role == "by"]
    plain = [part for part in parts if not part.role and not part.floats]
    if not told or told[0].form != "ing" or not told[0].is_verb or not plain or not plain[0].leads:
        return
    if any(part.role == "to" or part.role.partition(">")[0] in CLAUSES or part.negations for part in parts):
        return
    told[0].form = "base"
    for part in parts:
        part.role = {"by": "", "": "to"}.get(part.role, part.role)


def _order_in_time(parts: list[PhraseWord]) -> None:
    """One reading for "A after B" and "B before A"."""
    roles = {part.role for part in parts}
    if "after" not in roles or "before" in roles or any(part.negations for part in parts):
        return
    if all(part.floats for part in parts if not part.role):
        return
    for part in parts:
        clause, _, role = part.role.partition(">")
        if clause == "after":
            part.role = role
        elif clause not in CLAUSES:
            part.role = f"before>{part.role}" if part.role else "before"


def _verb_between(seen: list[PhraseWord]) -> int | None:
    """Place of the verb that has words on both sides: its subject and its object must not be swapped."""
    if len(seen) < len("svo"):
        # "the tester asks" is not "ask the tester"
        return next((at for at, part in enumerate(seen) if at and part.base in CAUSATIVES and part.form == "s"), None)
    first = seen[0]
    causes = first.base in CAUSATIVES
    inner = range(2 if causes else 1, len(seen) - 1)
    for at in inner:
        part = seen[at]
        free = causes or not first.is_verb or (part.form == "base" and first.form == "s")
        # an instruction is followed by plurals, not by another verb: "keep prompts short"
        if part.is_verb and (free or (part.form == "s" and not first.leads)):
            return at
    if any(part.is_verb for part in seen):
        return None
    # "dog bites man": of unknown words, the one that looks like a verb
    return next((at for form in ("s", "past", "ing") for at in inner if seen[at].form == form), None)


def _order_matters(parts: list[PhraseWord]) -> bool:
    """Words that go with their neighbours: names, adverbs, opposites, steps, what is sorted "by", many of one role."""
    said = {part.base for part in parts}
    placed = [part for part in parts if part.floats and (part.base in COMPETING or part.base not in FLOATING)]
    return (
        (len(parts) >= len("svo") and all(part.leads for part in parts))
        or sum(part.is_name for part in parts) > 1
        or len(placed) > 1
        or sum(not (part.is_verb or part.floats) for part in parts) > _MOST_FREE_WORDS
        or parts[0].role == "by"
        or any(OPPOSITES.get(word) in said for word in said)
    )


def _head(fixed: list[PhraseWord]) -> PhraseWord | None:
    """The verb that leads: "test the build", "write" in "tests first write"."""
    verbs = [part for part in fixed if part.is_verb and part.base not in EVENTS]
    if verbs and verbs[0] is fixed[0] and verbs[0].form != "s":
        return verbs[0]
    return min(verbs, key=lambda part: _LEADING_FORMS.index(part.form), default=None)


def _role_words(parts: list[PhraseWord], *, ordered: bool) -> list[str]:
    """The words of one role, each with all that tells it from the same word in another place."""
    fixed = [part for part in parts if not part.floats]
    between = _verb_between(fixed)
    head = _head(fixed) if between is None else fixed[between]
    words: list[str] = []
    side = "" if between is None else "<"
    for part in parts:
        if part is head:
            mark, side = "!", ">" if side else ""
        else:
            mark = ("" if part.floats else side) + (str(len(words)) if ordered else "")
            names_a_thing = part.form == "ing" and part is fixed[-1]  # "add logging" adds logs
            if part.is_participle and part.base not in EVENTS and not names_a_thing:
                mark += "~"  # "review merged code" is not "merge reviewed code"
        words.append(f"{part.role}:{'not ' * part.negations}{part.base}{mark}")
    return words


def _phrase_key(parts: list[PhraseWord]) -> str:
    scopes = {(part.role, part.scope) for part in parts if part.role}
    twice = len(scopes) > len({role for role, _ in scopes})  # "from a to b, from c to d"
    _give_purpose(parts)
    _give_means(parts)
    _order_in_time(parts)
    if twice:
        return "\n".join(_role_words(parts, ordered=True))
    of_roles: dict[str, list[PhraseWord]] = {}
    for part in parts:
        of_roles.setdefault(part.role, []).append(part)
    found: list[str] = []
    for of_role in map(_without_running, of_roles.values()):
        if len(of_role) == 1:  # nothing it could be mistaken for the verb or the object of
            found.append(f"{of_role[0].role}:{'not ' * of_role[0].negations}{of_role[0].base}")
        else:
            found += _role_words(of_role, ordered=_order_matters(of_role))
    return "\n".join(sorted(found))


def strategy_key(text: str) -> StrategyKey:
    """The key of a strategy text. It depends on the text alone, never on what other texts there are."""
    if len(text) > _MOST_CHARACTERS:
        written = tuple(text.casefold().split())
        return StrategyKey("\n".join(("long", *written)), written, written)
    found = tokens(text)
    content = [token for token in found if token.kind != "end"]
    if not content:
        return _as_written([StrategyToken("name", text.strip())])
    if (
        len(content) == 1
        or len(content) > _MOST_TOKENS
        or any(token.kind == "operator" for token in content)
        or not is_english(content)
    ):
        return _as_written(found)
    read = phrases(found)
    parts = [part for phrase in read for part in phrase]
    if not parts or (len(parts) == 1 and not (parts[0].role or parts[0].negations or " " in parts[0].base)):
        return _short(content)
    written, uninflected = tuple(part.written for part in parts), tuple(part.uninflected for part in parts)
    return StrategyKey("\n;\n".join(["phrases", *map(_phrase_key, read)]), written, uninflected)


_ID_CHARACTERS = 16


def strategy_id(key: str) -> str:
    """Short digest of a strategy's key; the same in every project."""
    return digest([key])[:_ID_CHARACTERS]


def _only_in(these: tuple[str, ...], others: tuple[str, ...]) -> str:
    return " ".join((Counter(these) - Counter(others)).elements())


def reason(text: str, read: StrategyKey, representative: str, representative_read: StrategyKey) -> str:
    """What a text and the representative of its group differ in.

    "same text", "case and punctuation", "small words" (articles, auxiliaries, contractions, number words),
    "inflection", "word order" or both, or "paraphrase" with the words that differ.
    """
    if text == representative:
        return "same text"
    if [c for c in text.casefold() if c.isalnum()] == [c for c in representative.casefold() if c.isalnum()]:
        return "case and punctuation"
    mine, other = read.uninflected, representative_read.uninflected
    if sorted(mine) != sorted(other):
        said, instead_of = _only_in(mine, other), _only_in(other, mine)
        return f'paraphrase ("{said}" for "{instead_of}")' if said and instead_of else "paraphrase"
    reasons = [] if sorted(read.written) == sorted(representative_read.written) else ["inflection"]
    reasons += [] if mine == other else ["word order"]
    return ", ".join(reasons) or "small words"


def strategy_groups(texts: pl.DataFrame) -> pl.DataFrame:
    """The group of each strategy text, sorted by project and strategy.

    Args:
        texts: project, strategy: distinct raw texts, none blank; perhaps is_apart: one that stands for no other text,
            unless all of its group are apart.

    Returns:
        project, strategy; strategy_id: digest of what is said, the same in every project; representative: the shortest
        text of the group in that project, of equals the first; reason: how the text differs from it, see `reason`.
    """
    is_apart = pl.col("is_apart") if "is_apart" in texts.columns else pl.lit(value=False)
    rows = texts.select("project", "strategy", is_apart.alias("is_apart")).unique()
    distinct = rows["strategy"].unique().sort().to_list()
    readings = {text: strategy_key(text) for text in distinct}
    ids = pl.DataFrame(
        {"strategy": distinct, "strategy_id": [strategy_id(readings[text].key) for text in distinct]},
        schema={"strategy": pl.String, "strategy_id": pl.String},
    )
    grouped = rows.join(ids, on="strategy", how="left", maintain_order="left").with_columns(
        pl.col("strategy")
        .sort_by("is_apart", pl.col("strategy").str.len_chars(), "strategy")
        .first()
        .over("project", "strategy_id")
        .alias("representative")
    )
    reasons = [
        reason(text, readings[text], shown, readings[shown])
        for text, shown in grouped.select("strategy", "representative").iter_rows()
    ]
    told = grouped.drop("is_apart").with_columns(pl.Series("reason", reasons, dtype=pl.String))
    return told.sort("project", "strategy")
