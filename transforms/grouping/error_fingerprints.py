"""Which error messages are the same error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.hashing import hash_texts
from slowwave.transforms.core.methods.registry import implementation
from slowwave.transforms.grouping.error_parts import named_placeholders, shown_placeholders
from slowwave.transforms.grouping.error_variables import error_families, error_named
from slowwave.transforms.grouping.failing_tests import error_subject
from slowwave.transforms.grouping.params import ErrorParams

_COLUMNS = (
    *("project", "error_message", "error_id", "error_template", "error_family", "error_family_template"),
    *("example", "reason"),
)


@dataclass(frozen=True)
class ErrorGrouping:
    """A version of the method: the line that tells a message, its places that vary by kind, and those that do by text.

    `summary` adds the column summary to messages (error_message), `masked` is Expr -> Expr, and `templates`
    takes project, masked and returns these with template and family.
    """

    summary: Callable[[pl.DataFrame, ErrorParams], pl.DataFrame]
    masked: Callable[[pl.Expr], pl.Expr]
    templates: Callable[[pl.DataFrame, ErrorParams], pl.DataFrame]


ERROR_3 = ErrorGrouping(error_subject, error_named, error_families)


def masked_errors(messages: pl.DataFrame, params: ErrorParams) -> pl.DataFrame:
    """error_message, masked: the line that tells the error, values in it by their kind; each follows from its message.

    `messages`: error_message, distinct and none blank.
    """
    by: ErrorGrouping = implementation(params.method)
    told = by.summary(messages.select("error_message"), params)
    return told.select("error_message", masked=by.masked(pl.col("summary")))


def error_fingerprints(errors: pl.DataFrame, params: ErrorParams | None = None) -> pl.DataFrame:
    """The error each message is an occurrence of.

    A function of the set of distinct rows alone: their order, number and batching do not matter. Projects do not touch.

    Args:
        errors: project, error_message.
        params: evidence asked for and bounds.

    Returns:
        One row per distinct input row whose message is not blank (see `is_blank`), sorted by project and error_message:
        project, error_message, error_id (digest of the template, the same in every project), error_template,
        error_family (digest of the template that errors of the project have in common once names are masked),
        error_family_template, example (the shortest message of the template in the project; of equal length, the first
        in code point order), reason (the placeholders put in).
    """
    params = params or ErrorParams()
    said = errors.select("project", "error_message").filter(~is_blank(pl.col("error_message")))
    read = masked_errors(said.select("error_message").unique(), params)
    return errors_of(said.unique(), params, read).sort("project", "error_message")


def errors_of(messages: pl.DataFrame, params: ErrorParams, read: pl.DataFrame) -> pl.DataFrame:
    """`error_fingerprints` of distinct messages, none of them blank, in their order: to sort them takes the longest.

    `read`: of `masked_errors`, of at least these messages.
    """
    if messages.is_empty():
        return pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.String))
    by: ErrorGrouping = implementation(params.method)
    masked = messages.join(
        read.select("error_message", "masked"), on="error_message", how="left", maintain_order="left"
    )
    templates = by.templates(masked.select("project", "masked").unique(), params)
    templates = templates.join(
        _readable_templates(templates["template"], "error_id", "error_template"), on="template", how="left"
    )
    families = _readable_templates(templates["family"], "error_family", "error_family_template")
    templates = templates.join(families, on="family", how="left")
    put_in = named_placeholders(pl.col("masked"))
    of_template = ["project", "error_template"]
    of_masked = templates.select(
        *of_template,
        "masked",
        "error_id",
        "error_family",
        "error_family_template",
        number=pl.struct(of_template).rank("dense"),
        reason=pl.when(put_in == "").then(pl.lit("no placeholder")).otherwise(pl.format("put in: {}", put_in)),
    )
    told = masked.join(of_masked, on=["project", "masked"], how="left", maintain_order="left")
    size = pl.col("error_message").str.len_chars()
    examples = (
        told.select("number", "error_message", size=size)
        .filter(pl.col("size") == pl.col("size").min().over("number"))
        .group_by("number")
        .agg(example=pl.col("error_message").min())
    )
    return told.join(examples, on="number", how="left", maintain_order="left").select(_COLUMNS)


def _readable_templates(templates: pl.Series, digest: str, text: str) -> pl.DataFrame:
    """Distinct templates, with their digest and their text as people read it, under these names."""
    shown = templates.unique().to_frame().with_columns(shown_placeholders(pl.col(templates.name)).alias(text))
    return shown.with_columns(hash_texts(shown[text]).alias(digest))
