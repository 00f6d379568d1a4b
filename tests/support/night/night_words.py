"""Made-up text at the speed of arrays: words by Zipf's law in four scripts, punctuation, code, JSON, emoji, numbers.

A token is a word with what follows it (a space, a comma, the end of a line), so that a text is its tokens joined.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

FORMS = 4  # of a stem, the commonest first
_SUFFIXES = (" ", ", ", ". ", ".\n", "\n", ":\n- ", "\n\n", ".")
_SUFFIXES_CJK = ("", "\uff0c", "。", "。\n", "\n", "\uff1a\n- ", "\n\n", "。")
_VARIANTS = 2 * len(_SUFFIXES)  # with a capital letter or without
LAST = 7
_ENDS_SENTENCE = np.array([False, False, True, True, True, True, True, True])
ANSWER_MARKS = (0.83, 0.07, 0.05, 0.02, 0.01, 0.01, 0.01)
MEMORY_MARKS = (0.93, 0.06, 0.01)
_DRAWS = 2**21
_MARK_DRAWS = 4096
TERMS = 80  # words a project has of its own
_TERM_DRAWS = 1024
_RARE_PER_MILLE = 12

# The commonest words of English carry sentences, and methods know them.
_SENTENCE_WORDS = (
    "the of and to a in is for that it on with as be this are was by not or an at from we you if can which have has "
    "but will all use used when only there so no one do its new more than then they our out what were into up should "
    "must may after before also each other some how set get add run any them first same because about who time make "
    "made like where just now over under between both very still here see two did had been would could most such these "
    "those your my I need works case even while next back last via per without within through keep kept prefer decided"
)
_COMMON = _SENTENCE_WORDS.split(" ")
_LATIN = ("bcdfghjklmnprstvw", "aeiou", ("", "s", "ed", "ing"))
_ACCENTED = ("bdfghklmnprstvwz" * 3 + "ßçñ", "aeiou" * 4 + "äöüéèàôî", ("", "s", "en", "é"))
_CYRILLIC = ("бвгджзклмнпрстфхцчш", "аеиоуыэюя", ("", "а", "ом", "ами"))  # noqa: RUF001 - Cyrillic
_CJK = 0x4E00
_EMOJI = ("🎉", "🚀", "✅", "❌", "⚠️", "🐛", "👍🏽", "👩\u200d💻", "🔥", "📦")
OPENERS = (
    "\n\nDecision: ",
    "\n\n## Constraint\n\n",
    "\n\n**Requirement:** ",
    "\nFact: ",
    " We decided to ",
    " The service must ",
    " The team prefers ",
)
_LANGUAGES = 4
_IN_OTHER_LANGUAGES = {7: 1, 8: 2, 9: 3}  # of every ten projects one each


def _stems(chance: random.Random, count: int, consonants: str, vowels: str) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = chance.choices((1, 2, 3, 4), (2, 5, 3, 1))[0]
        parts = [chance.choice(consonants) + chance.choice(vowels) for _ in range(syllables)]
        found["".join(parts) + chance.choice(["", *consonants])] = None
    return list(found)


def _cjk(chance: random.Random, count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found[
            "".join(chr(_CJK + min(int(chance.expovariate(1 / 900)), 8000)) for _ in range(chance.choice((1, 2, 2, 3))))
        ] = None
    return list(found)


def _identifiers(chance: random.Random, words: list[str], count: int) -> list[str]:
    made = []
    for _ in range(count):
        one, two, three = chance.sample(words, 3)
        made.append(
            chance.choice(
                (
                    f"{one}_{two}",
                    f"{one.title()}{two.title()}",
                    f"src/{one}/{two}_{three}.py",
                    f"{one}-{two}",
                    f"v{chance.randrange(9)}.{chance.randrange(30)}.{chance.randrange(9)}",
                    f"`{one}.{two}()`",
                    f"--{one}-{two}",
                    f"{one.upper()}_{two.upper()}",
                )
            )
        )
    return made


def _snippets(chance: random.Random, words: list[str], count: int) -> list[str]:
    """Blocks of code, JSON, shell sessions and stack traces."""

    def line(kind: int) -> str:
        one, two, three = chance.sample(words, 3)
        number = chance.randrange(10_000)
        return (
            f"    {one} = {two}({three}, {number})",
            f'    "{one}": {{"{two}": {number}, "{three}": "{one} {two}"}},',
            f"$ {one} --{two}={number} ./{three}",
            f'  File "/srv/{one}/{two}.py", line {number}, in {three}',
        )[kind]

    fences = (
        ("```python\ndef {}():\n", "\n```"),
        ("```json\n{{\n  // {}\n", "\n}\n```"),
        ("```\n# {}\n", "\n```"),
        ("Traceback in {}:\n", ""),
    )
    made = []
    for _ in range(count):
        kind = chance.randrange(4)
        opened, closed = fences[kind]
        body = "\n".join(line(kind) for _ in range(chance.randint(2, 14)))
        made.append(f"\n{opened.format(chance.choice(words))}{body}{closed}\n")
    return made


@dataclass(frozen=True)
class Vocabulary:
    """Tokens, and tables that turn uniform numbers into words.

    `tokens` holds the variants of every form (`form * _VARIANTS + ...`), then emoji, openers and snippets; `draws` per
    language forms as often as they occur; `forms` the first form of each language and the one after the last.
    """

    tokens: pa.StringArray
    draws: NDArray[np.int32]
    forms: NDArray[np.int64]
    emoji: int
    openers: int
    snippets: int

    @property
    def size(self) -> int:
        """Number of static tokens: those of a chunk come after them."""
        return len(self.tokens)


def vocabulary(seed: int) -> Vocabulary:
    """About 50,000 forms in Latin, accented Latin, Cyrillic and Chinese script."""
    chance = random.Random(f"vocabulary {seed}")
    latin = _stems(chance, 8_000, *_LATIN[:2])
    identifiers = _identifiers(chance, latin, 3_000)
    # names of things become common words of a log, but not the commonest
    named = [word for at, one in enumerate(latin[400:]) for word in (one, *identifiers[at // 2 : at // 2 + at % 2])]
    languages = [[word for stem in _COMMON for word in [stem] * FORMS]]
    for stem in [*latin[:400], *named]:
        languages[0] += [stem + end for end in _LATIN[2]] if stem.isalpha() and stem.islower() else [stem] * FORMS
    for consonants, vowels, ends in (_ACCENTED, _CYRILLIC):
        languages.append([stem + end for stem in _stems(chance, 1_500, consonants, vowels) for end in ends])
    languages.append([word for word in _cjk(chance, 3_000) for _ in range(FORMS)])
    draws = []
    start = 0
    starts = [0]
    for forms in languages:
        stems = len(forms) // FORMS
        weight = (1 / (np.arange(stems) + 2.7))[:, None] * np.array([0.5, 0.25, 0.15, 0.1])
        ends = np.rint(np.cumsum(weight.ravel()) / weight.sum() * _DRAWS).astype(np.int64)
        draws.append(np.repeat(np.arange(start, start + len(forms), dtype=np.int32), np.diff(ends, prepend=0)))
        start += len(forms)
        starts.append(start)
    tokens = []
    for language, forms in enumerate(languages):
        marks = _SUFFIXES_CJK if language == _LANGUAGES - 1 else _SUFFIXES
        tokens += [word + mark for form in forms for word in (form, form[:1].upper() + form[1:]) for mark in marks]
    emoji = len(tokens)
    tokens += [f"{one} " for one in _EMOJI]
    openers = len(tokens)
    tokens += OPENERS
    snippets = len(tokens)
    tokens += _snippets(chance, [*latin, *identifiers[:200]], 3_000)
    return Vocabulary(pa.array(tokens), np.stack(draws), np.array(starts), emoji, openers, snippets)


@dataclass(frozen=True)
class ProjectWords:
    """Of each project its language, and the words that are its own (projects x TERMS)."""

    language: Numbers
    terms: NDArray[np.int32]


def project_words(words: Vocabulary, chance: np.random.Generator, projects: int) -> ProjectWords:
    """Drawn for so many projects."""
    language = np.array([_IN_OTHER_LANGUAGES.get(project % 10, 0) for project in range(projects)])
    first, last = words.forms[language], words.forms[language + 1]
    terms = first[:, None] + 600 + chance.integers(0, 2**31, (projects, TERMS)) % (last - first - 600)[:, None]
    return ProjectWords(language, terms.astype(np.int32))


def _lookup(weights: NDArray[np.float64], size: int) -> NDArray[np.int16]:
    ends = np.rint(np.cumsum(weights) / weights.sum() * size).astype(np.int64)
    return np.repeat(np.arange(len(weights), dtype=np.int16), np.diff(ends, prepend=0))


_TERM = _lookup(1 / (np.arange(TERMS) + 2.7), _TERM_DRAWS)


def places(lengths: Numbers) -> tuple[Numbers, Numbers]:
    """Starts of texts of these lengths laid end to end (one more than texts), and the text each token is of."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return starts, np.repeat(np.arange(len(lengths)), lengths)


def drawn_forms(
    words: Vocabulary, chance: np.random.Generator, own: ProjectWords, project: Numbers, share: float
) -> NDArray[np.int32]:
    """A word for each token of these projects; `share` of them are the project's own.

    Texts in another language than the first have a quarter of its words.
    """
    count = len(project)
    uniform = chance.integers(0, 2**32, count, dtype=np.uint32)
    other = chance.integers(0, 2**32, count, dtype=np.uint32)
    spoken = np.where(other & 3 == 0, 0, own.language[project])
    forms = words.draws[spoken, uniform % _DRAWS]
    is_term = np.flatnonzero((other >> 2) % 1024 < share * 1024)
    forms[is_term] = own.terms[project[is_term], _TERM[(other[is_term] >> 12) % _TERM_DRAWS]]
    return forms


def marks(chance: np.random.Generator, shares: tuple[float, ...], starts: Numbers) -> NDArray[np.int16]:
    """What follows each token; the last of a text ends it."""
    found = _lookup(np.array(shares), _MARK_DRAWS)[chance.integers(0, _MARK_DRAWS, starts[-1], dtype=np.uint16)]
    found[starts[1:][np.diff(starts) > 0] - 1] = LAST
    return found


def tokens_of(forms: NDArray[np.int32], following: NDArray[np.int16], starts: Numbers) -> NDArray[np.int32]:
    """Words written with what follows them, a capital letter at the beginning of a sentence."""
    first = np.empty(len(forms), bool)
    first[1:] = _ENDS_SENTENCE[following[:-1]]
    first[starts[:-1][np.diff(starts) > 0]] = True
    return forms * _VARIANTS + first * len(_SUFFIXES) + following


def rare_tokens(chance: np.random.Generator, count: int) -> pl.Series:
    """Numbers, tickets, hashes, addresses: what no vocabulary holds."""
    number = pl.Series(chance.integers(0, 10**9, count))
    kind = pl.Series(chance.integers(0, 5, count))
    frame = pl.DataFrame({"number": number, "kind": kind})
    digits = pl.col("number").cast(pl.String)
    by_kind = (
        pl.format("{} ", (pl.col("number") % 10_000).cast(pl.String)),
        pl.format("#{} ", digits.str.slice(0, 5)),
        pl.format("{}ms ", digits.str.slice(0, 3)),
        pl.format("{}f{}c ", digits.str.slice(0, 4), digits.str.slice(4)),
        pl.format("10.{}.{}.7 ", pl.col("number") % 256, pl.col("number") // 256 % 256),
    )
    written = pl.coalesce(*(pl.when(pl.col("kind") == at).then(form) for at, form in enumerate(by_kind)))
    return frame.select(written).to_series()


def sprinkle(words: Vocabulary, chance: np.random.Generator, tokens: NDArray[np.int32], extra: list[pl.Series]) -> None:
    """Put numbers, emoji and the like in place of some tokens; `extra` gets the strings that are new."""
    count = len(tokens)
    rare = np.flatnonzero(chance.integers(0, 1000, count, dtype=np.uint16) < _RARE_PER_MILLE)
    made = rare_tokens(chance, max(1, len(rare) // 2))
    tokens[rare] = words.size + sum(map(len, extra)) + chance.integers(0, len(made), len(rare))
    extra.append(made)
    merry = np.flatnonzero(chance.integers(0, 2048, count, dtype=np.uint16) == 0)
    tokens[merry] = words.emoji + chance.integers(0, len(_EMOJI), len(merry))


def joined(words: Vocabulary, tokens: NDArray[np.int32], starts: Numbers, extra: list[pl.Series]) -> pa.StringArray:
    """The texts: tokens (static ones, then those of `extra`) from each start to the next, trimmed."""
    table = pa.concat_arrays(
        [words.tokens, *(one.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.string()) for one in extra)]
    )
    taken = table.take(pa.array(tokens))
    lists = pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), taken)
    return pc.call_function("ascii_trim_whitespace", [pc.call_function("binary_join", [lists, ""])])
