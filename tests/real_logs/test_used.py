"""`used/3` judged on dialogues whose facts are linked to the turns and answers they came from.

The features and the fit are those that ship; no conversation is scored by a fit that saw it. Links are made by turn, so
precision is understated: an answer without a link is not proven not to use a memory.
`pytest tests/real_logs/test_used.py -s -m shared_data -n 0` prints the figures.
"""

import numpy as np
import pytest
import real_rows
from used_3_fit import LAYOUTS, Case, cross_fit, read_case
from used_fits import average_precision, recall_at

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not real_rows.FOLDER.is_dir(), reason="the real logs are not beside the checkout"),
]
# By layout of the memories, of answers with a link: average precision, share found at precision .8.
FLOORS = {"all": (0.63, 0.51), "joined": (0.65, 0.52), "cut": (0.6, 0.45)}


@pytest.fixture(scope="module")
def cases() -> dict[tuple[str, str], Case]:
    return {("locomo", layout): read_case("locomo", real_rows.FOLDER / "locomo", layout) for layout in LAYOUTS}


def test_uses_are_ranked_and_counted_in_conversations_that_the_fit_did_not_see(cases):
    for (name, layout), odds in cross_fit(cases).items():
        case = cases[name, layout]
        linked = case.is_linked_row[case.row]
        missed = len(case.pair_row) - case.is_linked.sum()
        gold = np.append(case.is_linked[linked], np.ones(missed, bool))
        pairs = [(np.append(odds[linked], np.full(missed, -100.0)), gold)]
        precision, found = average_precision(pairs), recall_at(0.8, pairs)
        expected = (1 / (1 + np.exp(-odds))).sum() / len(case.pair_row)
        print(f"\n{layout}: AP {precision:.3f}, found at .8 {found:.3f}, expected {expected:.2f} of what is linked")
        assert precision >= FLOORS[layout][0]
        assert found >= FLOORS[layout][1]
        if layout == "all":
            assert 0.75 <= expected <= 1.25
