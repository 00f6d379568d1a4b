"""`used/3` judged on dialogues whose facts are linked to the turns and answers they came from.

The features and the fit are those that ship; no conversation is scored by a fit that saw it. Links are made by turn, so
precision is understated: an answer without a link is not proven not to use a memory.
`pytest tests/real_logs/test_used.py -s -m shared_data -n 0` prints the figures.
"""

import numpy as np
import pytest
import real_rows
from used_3_fit import LAYOUTS, Case, cross_fit, read_cases
from used_fits import average_precision, recall_at

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not real_rows.FOLDER.is_dir(), reason="the real logs are not beside the checkout"),
]
# By layout of the memories: average precision, share found at precision .8, expected uses by true ones.
FLOORS = {"all": (0.65, 0.52), "joined": (0.6, 0.45), "few": (0.6, 0.4)}


@pytest.fixture(scope="module")
def layouts() -> dict[str, dict[str, Case]]:
    return {layout: read_cases(layout) for layout in LAYOUTS}


def test_uses_are_ranked_and_counted_in_conversations_that_the_fit_did_not_see(layouts):
    fits = cross_fit(layouts)
    for layout, cases in layouts.items():
        pairs, expected, true = [], 0.0, 0
        for name, case in cases.items():
            odds = np.full(case.gold.shape, -100.0)
            odds[case.row, case.memory] = case.scores(fits[name])
            pairs.append((odds.ravel(), case.gold.ravel()))
            expected += (1 / (1 + np.exp(-odds))).sum()
            true += case.gold.sum()
        precision, found = average_precision(pairs), recall_at(0.8, pairs)
        print(f"\n{layout}: AP {precision:.3f}, found at .8 {found:.3f}, expected {expected:.0f} of {true}")
        assert precision >= FLOORS[layout][0]
        assert found >= FLOORS[layout][1]
        assert 0.8 <= expected / true <= 1.25
