"""Which error messages are the same error."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.blank import is_blank
from slowwave.transforms.error_cause import error_cause
from slowwave.transforms.error_lines import error_summary
from slowwave.transforms.error_masking import error_masked
from slowwave.transforms.error_mining import error_mined
from slowwave.transforms.error_params import ErrorParams
from slowwave.transforms.error_placeholders import masked_error, named_placeholders, shown_placeholders
from slowwave.transforms.error_templates import error_templates
from slowwave.transforms.hashing import hashed

_COLUMNS = ("project", "error_message", "error_id", "error_template", "example", "reason")


def error_fingerprints(errors: pl.DataFrame, params: ErrorParams | None = None) -> pl.DataFrame:
    """The error each message is an occurrence of: method `error/2`, or `error/1`.

    A function of the set of distinct rows alone: their order, number and batching do not matter. Projects do not touch.

    Args:
        errors: project, error_message.
        params: evidence asked for and bounds.

    Returns:
        One row per distinct input row whose message is not blank (see `is_blank`), sorted by project and error_message:
        project, error_message, error_id (digest of the template, the same in every project), error_template, example
        (the shortest message of the template in the project; of equal length, the first in code point order), reason
        (the placeholders put in; how many texts were merged, and in which tokens this one differs, with what stands
        there).
    """
    params = params or ErrorParams()
    said = errors.select("project", "error_message").filter(~is_blank(pl.col("error_message")))
    if said.is_empty():
        return pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.String))
    distinct = said.unique().sort("project", "error_message")
    is_first = params.method == "error/1"
    told = error_summary if is_first else error_cause
    mask, mined = (masked_error, error_templates) if is_first else (error_masked, error_mined)
    masked = told(distinct, params).select("project", "error_message", masked=mask(pl.col("summary")))
    templates = mined(masked.select("project", "masked").unique(), params)
    shown = templates.select(pl.col("template").unique()).with_columns(
        error_template=shown_placeholders(pl.col("template"))
    )
    shown = shown.with_columns(hashed(shown["error_template"]).alias("error_id"))
    put_in = named_placeholders(pl.col("masked"))
    merged = pl.format("{} texts merged, differing in token {}", "texts", shown_placeholders(pl.col("places")))
    template_wide = pl.col("error_message").sort_by(pl.col("error_message").str.len_chars(), "error_message").first()
    return (
        masked.join(templates, on=["project", "masked"], how="left")
        .join(shown, on="template", how="left")
        .with_columns(
            example=template_wide.over("project", "error_template"),
            reason=pl.concat_str(
                pl.when(put_in == "").then(pl.lit("no placeholder")).otherwise(pl.format("put in: {}", put_in)),
                pl.when(pl.col("places") != "").then(merged),
                separator="; ",
                ignore_nulls=True,
            ),
        )
        .select(_COLUMNS)
        .sort("project", "error_message")
    )
