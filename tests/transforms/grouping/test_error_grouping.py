"""Error grouping on messages marked with the error they are, beside what others do; run with -s to see the figures."""

from __future__ import annotations

from statistics import fmean

import polars as pl
import pytest
from error_grouping import by_lines, coding_errors, printed
from system_lines import system_lines


def test_messages_of_coding_tools_are_grouped_by_error():
    coding = coding_errors()
    many = by_lines(coding).filter(pl.col("lines") == "many")
    assert coding.height >= 300
    assert 2 * many.height >= coding.height
    accuracy = printed("Messages of coding tools", coding, "system")
    of_lines = printed("The same by number of lines", by_lines(coding), "lines")
    assert fmean(accuracy["error/2"].values()) > 0.8
    assert of_lines["error/2"]["many"] > 0.8
    for other in ("error/1", "drain3", "masking"):
        assert of_lines["error/2"]["many"] > of_lines[other]["many"] + 0.5


@pytest.mark.parametrize("seed", [7, 8])
def test_lines_of_systems_no_rule_was_written_on_are_grouped_by_template(seed):
    accuracy = printed("Log lines of systems made up", system_lines(seed=seed), "project")
    ours = fmean(accuracy["error/2"].values())
    assert ours > 0.85
    for other in ("error/1", "drain3", "masking"):
        assert ours > fmean(accuracy[other].values()) + 0.05


def test_no_message_names_the_machine_it_was_made_on():
    said = coding_errors()["error_message"]
    assert not said.str.contains(r"/root\b|/tmp/tmp|pyenv|/opt/|site-packages/slowwave").any()
