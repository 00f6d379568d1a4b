r"""`extract/1`: statements of an answer worth remembering, by AtoCore's seven rules.

Four look for a label (`Decision:`, `## Constraint`, `**Requirement:**`, `Fact:`) at the start of a line or sentence,
with the statement behind it or in the block or list below it; three, in what is left, for a sentence (who prefers what,
what was decided, what must be). Code, quotations, tables, questions and conditions are nobody's statement. A sentence
is looked for outside quotation marks only.
"""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.frames import Frame, conform, empty
from slowwave.transforms.core.hashing import hash_texts
from slowwave.transforms.evidence.echo.echo import normalise_text
from slowwave.transforms.evidence.statements.blocks import blocks
from slowwave.transforms.evidence.statements.params import ExtractParams
from slowwave.transforms.evidence.statements.tables import MEMORY_TYPES, ExtractedStatements
from slowwave.transforms.language.word_runs import with_edges

_ANSWERS = {"response": 1, "response_summary": 2}
_WHERE = {1: "response", 2: "summary", 3: "both"}

# Every statement has one of these, in any case: most answers have none, and are looked at no further.
_TRIGGERS = ["decision", "constraint", "requirement", "fact", "prefer", "decided", "must", "shall", "required"]
_WORDS = "decision|constraint|requirement|fact"
# Without one of these there is no label, and no sentence: an s may be long, as the expressions below have it.
_LONG_S = "\u017f"
_OF_LABELS = [*_WORDS.split("|"), _LONG_S]
_OF_SENTENCES = ["prefer", "decided", "must", "shall", "requir"]
_QUALIFIERS = "key|final|new|main|important|hard|our|project|design|technical|architecture|architectural|product|team"
_NUMBER = r"s?(?:[ \t]+(?:#|no\.?[ \t]?)?\d{1,3})?"
_LABEL_WORD = rf"(?:(?:{_QUALIFIERS})[ \t]+)?({_WORDS}){_NUMBER}"
_LABEL_END = r"[*_]{0,3}(?:[ \t]*[:\uff1a]|[ \t]+[–—-][ \t])[*_]{0,3}[ \t]*"
_LABELLED = rf"(?is)^[*_]{{0,3}}{_LABEL_WORD}{_LABEL_END}(\S.*)$"
_LABEL_ALONE = rf"(?is)^[*_]{{0,3}}{_LABEL_WORD}[*_]{{0,3}}[ \t]*[:\uff1a]?[*_]{{0,3}}$"

# What stands in quotation marks or in code is somebody else's sentence; an apostrophe is no quotation mark.
_QUOTED = r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|`[^`\n]*`|(?:^|[\s(=,])'[^'\n]*'"
_FULL_STOP = r"[.!][\"”’)\]*_]*$"
# Behind the end of a sentence a label has a capital letter: `e.g. decision: none` is none.
_CAPITAL_WORDS, _CAPITAL_QUALIFIERS = (
    "|".join(f"{word[0].upper()}(?i:{word[1:]})" for word in words.split("|")) for words in (_WORDS, _QUALIFIERS)
)
_LABEL_BEHIND = (
    r"([.!?][\"”’)\]*_]*)[ \t]+"
    rf"([*_]{{0,3}}(?:(?:{_CAPITAL_QUALIFIERS})[ \t]+(?i:{_WORDS})|{_CAPITAL_WORDS})(?i:{_NUMBER}){_LABEL_END})"
)
_LABEL_BEFORE = rf"(?i)^[*_]{{0,3}}{_LABEL_WORD}{_LABEL_END}"
_SENTENCE_END = r"([.!?][\"”’)\]*_]*)[ \t]+([^\p{Ll}\s])"
_PERSON = r"(?:i|we|they|he|she|the (?:user|users|team|owner|client|customer|maintainers?)|users?|you|\p{Lu}\p{L}+)"
_OFTEN = r"(?:(?:always|usually|generally|also|strongly|still|now|clearly|really|both|all|would|do|does)[ \t]+)?"
_SENTENCES = {
    "preference_sentence": (
        rf"(?:^|[^\p{{L}}])(?i:{_PERSON})[ \t]+(?i:{_OFTEN}prefer(?:s|red)?)[ \t]+\S"
        r"|^(?i:(?:always[ \t]+)?prefer)[ \t]+\S"
        r"|(?i:(?:^|\W)(?:my|our|your|their|his|her|user's|user’s)[ \t]+preference[ \t]+(?:is|are)[ \t])"
    ),
    "decided_to_sentence": r"(?i)\bdecided[ \t]+(?:not[ \t]+to|to|against|on|that)[ \t]+\S",
    "requirement_sentence": (
        r"(?i)\b(?:must|shall)[ \t]+(?:(?:not|never|always|only|also|all|each|still)[ \t]+)?\p{L}"
        r"|\brequirements?[ \t]+(?:is|are)[ \t]+(?:that|to|for)\b"
        r"|\b(?:is|are)[ \t]+required[ \t]+to[ \t]+\p{L}"
    ),
}
# Without one of these no sentence of the rule is found: looking for them takes less than the expressions.
_OF_RULES = {
    "preference_sentence": ["prefer"],
    "decided_to_sentence": ["decided"],
    "requirement_sentence": ["must", "shall", "requir", _LONG_S],
}
# Conditions, questions, what was not decided, and guesses (`must have been`).
_FEW_WORDS = r"[ \t]+(?:\S+[ \t]+){0,4}"
_GUESSED = (
    "so|such|really|quite|very|pretty|super|truly|incredibly|great|good|nice|amazing|awesome|incredible|wonderful|cool"
    "|lovely|fantastic|beautiful|fun|happy|proud|glad|sad|tough|hard|difficult|tired|thrilled|excited|nervous"
)
_NOT_STATED = {
    "preference_sentence": (
        rf"(?i)\b(?:if|whether|unless|which(?:ever)?|what(?:ever)?|however|should){_FEW_WORDS}prefer"
        r"|\bas[ \t]+you[ \t]+prefer"
        r"|\bprefer(?:s|red)?[ \t]+(?:me|not[ \t]+to[ \t]+say)\b"
    ),
    "decided_to_sentence": (
        r"(?i)(?:(?:^|\W)(?:if|whether|unless|once|until|when|not|never|yet|be)|n['’]t)[ \t]+"
        r"(?:\S+[ \t]+){0,2}decided\b"
    ),
    "requirement_sentence": (
        r"(?i)\b(?:must|shall)[ \t]+(?:not[ \t]+)?have[ \t]+\p{L}"
        r"|\bmust[ \t]+(?:really[ \t]+)?(?:feel|seem|look|mean|bring)\b"
        rf"|\bmust[ \t]+be[ \t]+(?:an?[ \t]+)?(?:{_GUESSED}|\p{{L}}+ing)\b"
        r"|\b(?:i|you|we|he|she)[ \t]+(?:must|shall)[ \t]|\bmust[ \t]+(?:admit|confess|say)\b|\ba[ \t]+must\b"
    ),
}
_EDGES = " \t*_"
_SAID = {"text_id": pl.Int64, "block": pl.UInt32, "at": pl.Int64, "rule": pl.String, "text": pl.String}


def extracted_statements(interactions: pl.DataFrame, params: ExtractParams) -> Frame[ExtractedStatements]:
    """The statements in the answers of a set of interactions: ExtractedStatements, sorted by key.

    Args:
        interactions: interaction_id, occurred_at, project, agent, session_id, prompt, response, response_summary,
            reinforce; one row per interaction_id. Those with `reinforce` false are not to be learned from.
        params: bounds.
    """
    asked = interactions.lazy().filter("reinforce").with_row_index("row")
    texts = pl.concat(
        [
            asked.select((pl.col("row").cast(pl.Int64) * 4 + bit).alias("text_id"), pl.col(name).alias("text"))
            for name, bit in _ANSWERS.items()
        ]
    )
    worth_reading = (
        texts.filter(pl.col("text").str.contains_any(_TRIGGERS, ascii_case_insensitive=True))
        .with_columns(pl.col("text").str.contains_any(_OF_LABELS, ascii_case_insensitive=True).alias("is_whole"))
        .collect(engine="in-memory")
    )
    if worth_reading.is_empty():  # most nights of a small home: the rules alone take longer to read than its answers
        return empty(ExtractedStatements)
    of_blocks = _labels_first(blocks(worth_reading, _OF_SENTENCES))
    labelled = _labelled_texts(of_blocks.filter("is_whole"), params)
    told = of_blocks.join(
        labelled.select("text_id", "block"), on=["text_id", "block"], how="anti", maintain_order="left"
    )
    said = pl.concat([labelled, _sentences(told)])
    found = (
        said.with_columns(
            pl.col("text").str.replace_all(r"\s{2,}|[^\S ]", " ").str.strip_chars(_EDGES),
            pl.col("rule").replace_strict(MEMORY_TYPES, return_dtype=pl.String).alias("memory_type"),
        )
        .filter(
            pl.col("text").str.len_chars().is_between(params.min_code_points, params.max_code_points),
            ~pl.col("text").str.contains(r"(?:[?\uff1f:\uff1a]|\.\.\.|…)[\"”’)\]*_]*$"),
        )
        .with_columns(statement(pl.col("text")).alias("stated"))
        .sort("text_id", "block", "at")
        .group_by((pl.col("text_id") // 4).alias("row"), "rule", "stated", maintain_order=True)
        .agg(
            pl.col("memory_type", "text").first(),
            (pl.col("text_id") % 4).unique().sum().replace_strict(_WHERE, return_dtype=pl.String).alias("found_in"),
        )
        .with_columns(pl.col("row").cast(pl.UInt32))
    )
    found = found.with_columns(hash_texts(found["stated"]).alias("statement_id"))
    known = asked.select("row", "interaction_id", "occurred_at", "project", "agent", "session_id", "prompt").join(
        found.lazy().select("row").unique(), on="row", how="semi"
    )
    prompts = known.with_columns(normalise_text(pl.col("prompt").fill_null("")))
    rows = (
        found.lazy()
        .join(prompts, on="row")
        .with_columns(
            pl.col("project", "agent").fill_null(""),
            pl.col("prompt").str.contains(pl.col("stated"), literal=True).alias("in_prompt"),
        )
    )
    return conform(ExtractedStatements, rows).sort(ExtractedStatements.key).collect(engine="in-memory")


def statement(text: pl.Expr) -> pl.Expr:
    """What is compared of a statement: normalised as for `echo/1`, without emphasis, code marks and end marks."""
    return normalise_text(text.str.replace_all(r"[*`]|__", "")).str.strip_chars(" .!;,")


def _labels_first(of_blocks: pl.DataFrame) -> pl.DataFrame:
    """The blocks, cut where a label follows the end of a sentence, so that each label begins one.

    A block with such a label within quotation marks stays whole.
    """
    found = [text.str.count_matches(_LABEL_BEHIND) for text in (pl.col("text"), _outside(pl.col("text")))]
    is_cut = (found[0] > 0) & (found[0] == found[1])
    with_label = pl.col("text").str.contains_any(_OF_LABELS, ascii_case_insensitive=True)
    whole = of_blocks.filter("is_whole")
    cut = (
        whole.lazy()
        .filter(~pl.col("is_heading"), with_label)
        .filter(is_cut)
        .select("block", pl.col("text").str.replace_all(_LABEL_BEHIND, "$1\n$2").str.split("\n").alias("parts"))
    )
    parts = (
        whole.lazy()
        .join(cut, on="block", how="left", maintain_order="left")
        .with_columns(pl.coalesce("parts", pl.concat_list("text")).alias("text"))
        .drop("parts")
        .explode("text", empty_as_null=False)
        .collect(engine="in-memory")
    )
    every = pl.concat([parts, of_blocks.filter(~pl.col("is_whole"))])
    return every.with_columns(pl.int_range(pl.len(), dtype=pl.UInt32).alias("block"))


def _outside(text: pl.Expr) -> pl.Expr:
    """A text with an ellipsis for each quotation."""
    return text.str.replace_all(_QUOTED, "…")


def _labelled_texts(of_blocks: pl.DataFrame, params: ExtractParams) -> pl.DataFrame:
    """text_id, block, at, rule, text of what stands behind a label, or below one that stands alone."""
    label = pl.col("text").str.extract_groups(_LABELLED)
    alone = (pl.col("text").str.extract(_LABEL_ALONE, 1)).str.to_lowercase()
    if of_blocks.is_empty():
        return pl.DataFrame(schema=_SAID)
    told = of_blocks.lazy().with_columns(label.alias("label"), alone.alias("alone"))
    told = told.with_columns(
        pl.col("label").struct[0].str.to_lowercase().alias("word"), pl.col("label").struct[1].alias("value")
    )
    follows = pl.col("alone").shift().over("text_id").is_not_null() & ~pl.col("is_heading")
    # a list goes on with the label above it, anything else but the first block below it ends it
    reach = (
        pl.when(pl.col("alone").is_not_null())
        .then("alone")
        .when(~follows & ~(pl.col("is_item") & ~pl.col("is_heading")))
        .then(pl.lit(""))
        .forward_fill()
        .over("text_id")
    )
    word = pl.coalesce("word", pl.when(pl.col("alone").is_null()).then(reach))
    value = pl.coalesce("value", "text").str.strip_chars()
    first = _split_sentences(value).list.first()
    return (
        told.with_columns(word.alias("word"), value.alias("value"), first.alias("first"))
        .filter(
            pl.col("word").is_not_null(),
            pl.col("word") != "",
            ~pl.col("is_heading") | pl.col("label").struct[0].is_not_null(),
        )
        .select(
            "text_id",
            "block",
            pl.lit(0, dtype=pl.Int64).alias("at"),
            pl.format("{}_heading", "word").alias("rule"),
            pl.when(pl.col("value").str.len_chars() <= params.max_code_points)
            .then("value")
            .otherwise("first")
            .alias("text"),
        )
        .collect(engine="in-memory")
    )


def _split_sentences(text: pl.Expr) -> pl.Expr:
    """The sentences of a text: `e.g. this` is not the end of one."""
    return text.str.replace_all(_SENTENCE_END, "$1\n$2").str.split("\n")


def _sentences(of_blocks: pl.DataFrame) -> pl.DataFrame:
    """text_id, block, at, rule, text of the sentences that say what is preferred, decided or required."""
    sentences = (
        of_blocks.lazy()
        .filter(
            ~pl.col("is_heading"),
            pl.col("text").str.contains_any(_OF_SENTENCES, ascii_case_insensitive=True),
        )
        .select("text_id", "block", "is_item", _split_sentences(pl.col("text")).alias("text"))
        .with_columns(pl.int_ranges(pl.col("text").list.len()).alias("at"))
        .explode("text", "at", empty_as_null=False)
        .filter(pl.col("text").str.contains_any([*_OF_SENTENCES, _LONG_S], ascii_case_insensitive=True))
        # what ends without a full stop is a line of something else, unless it is an item of a list
        .filter(pl.col("is_item") | pl.col("text").str.contains(_FULL_STOP))
        .with_columns(pl.col("text").str.replace(_LABEL_BEFORE, ""))
        .with_columns(_outside(pl.col("text")).alias("outside"))
        .collect(engine="in-memory")
    )
    # one after the other: of a lazy frame each row would be looked at by all three
    found = [
        sentences.filter(pl.col("outside").str.contains_any(_OF_RULES[rule], ascii_case_insensitive=True))
        .filter(pl.col("outside").str.contains(with_edges(pattern)))
        .filter(~pl.col("outside").str.contains(with_edges(_NOT_STATED[rule])))
        .select("text_id", "block", "at", pl.lit(rule).alias("rule"), "text")
        for rule, pattern in _SENTENCES.items()
    ]
    return pl.concat(found)
