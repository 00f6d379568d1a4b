"""What the source of a memory says of how sure it is."""

import polars as pl
from each import each

from slowwave.transforms.health.params import StatedConfidenceParams
from slowwave.transforms.health.stated_confidence import stated_confidence

SCHEMA = {"memory_type": pl.String, "source": pl.String}


def told(rows, **params):
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return frame.select(stated_confidence(StatedConfidenceParams(**params)).alias("told"))["told"].to_list()


# The table of `stated/2`: a released method does not change.
@each(
    ("memory_type", "source", "worth"),
    [
        ("preference", "explicit_instruction", 1.0),
        ("preference", "Explicit ", 1.0),
        ("preference", "user_stated", 1.0),
        ("preference", "inferred_from_correction", 0.7),
        ("preference", "'; DROP TABLE", 0.7),
        ("knowledge", "user_stated", 1.0),
        ("knowledge", "code_analysis", 0.8),
        ("knowledge", None, None),
        ("preference", "", None),
        ("preference", " \u00a0", None),
        ("identity", "user_stated", None),
        ("project", "user_stated", None),
        (None, "user_stated", None),
        (None, None, None),
        ("domain_knowledge", "user_stated", 1.0),
        ("Domain Knowledge", "User-Stated", 1.0),
        ("domain_knowledge", "code_analysis", 0.8),
        ("knowledge", "explicit_instruction", 1.0),
        ("user_preference", "explicit instruction", 1.0),
        ("preferences", "inferred_from_correction", 0.7),
    ],
)
def test_types_and_sources_are_known_by_all_their_names(memory_type, source, worth):
    assert told([(memory_type, source)]) == [worth]


def test_what_is_inferred_is_worth_what_the_params_say():
    rows = [("preference", "guess"), ("knowledge", "guess"), ("knowledge", "runbook")]
    assert told(rows, inferred_preference=0.2, inferred_knowledge=0.3, knowledge_sources=("Runbook",)) == [
        0.2,
        0.3,
        1.0,
    ]
