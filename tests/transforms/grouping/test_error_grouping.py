"""Error grouping on messages marked with the error they are, beside what others do; run with -s to see the figures."""

from __future__ import annotations

from statistics import fmean

import polars as pl
import pytest
from error_formats import HELD_OUT, format_errors
from error_grouping import by_lines, coding_errors, printed
from system_lines import system_lines


def test_each_format_is_grouped_by_what_failed_and_by_family():
    messages = format_errors()
    errors = printed("Messages made up by format, by failing thing", messages, "project")
    families = printed("The same by family", messages.with_columns(error="family"), "project")
    assert min(errors["error/3"].values()) >= 0.9
    for formats in (HELD_OUT, set(errors["error/3"]) - HELD_OUT):
        means = {name: fmean(of[format_] for format_ in formats) for name, of in errors.items()}
        assert means["error/3"] > max(of for name, of in means.items() if name != "error/3") + 0.3
        assert fmean(families["families"][format_] for format_ in formats) > 0.9


def test_messages_of_coding_tools_are_grouped_by_what_failed():
    coding = coding_errors().with_columns(error="named")
    accuracy = printed("Messages of coding tools, by fault and what it names", coding, "system")
    assert fmean(accuracy["error/3"].values()) > 0.85
    for other in ("drain3", "masking", "1st line"):
        assert fmean(accuracy["error/3"].values()) > fmean(accuracy[other].values()) + 0.2


def test_messages_of_coding_tools_are_grouped_by_error():
    coding = coding_errors()
    many = by_lines(coding).filter(pl.col("lines") == "many")
    assert coding.height >= 300
    assert 2 * many.height >= coding.height
    accuracy = printed("Messages of coding tools", coding, "system")
    of_lines = printed("The same by number of lines", by_lines(coding), "lines")
    assert fmean(accuracy["families"].values()) > 0.7
    assert of_lines["families"]["many"] > 0.8
    for other in ("drain3", "masking"):
        assert of_lines["families"]["many"] > of_lines[other]["many"] + 0.5


@pytest.mark.parametrize("seed", [7, 8])
def test_lines_of_systems_no_rule_was_written_on_are_grouped_by_template(seed):
    accuracy = printed("Log lines of systems made up", system_lines(seed=seed), "project")
    ours = fmean(accuracy["families"].values())
    assert ours > 0.85
    for other in ("drain3", "masking"):
        assert ours > fmean(accuracy[other].values()) + 0.05


def test_no_message_names_the_machine_it_was_made_on():
    said = coding_errors()["error_message"]
    assert not said.str.contains(r"/root\b|/tmp/tmp|pyenv|/opt/|site-packages/slowwave").any()
