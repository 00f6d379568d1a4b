"""The benchmark's chart says in its title what to conclude."""

from __future__ import annotations

from night_chart import night_chart
from night_record import REST, WHOLE

RATIOS = {"land": 4.0, "used": 30.0, REST: 6.0, WHOLE: 40.0, "one more day": 50.0}


def test_the_title_concludes_from_the_largest_size() -> None:
    chart = night_chart({"small": {**RATIOS, WHOLE: 41.0}, "large": RATIOS}, list(RATIOS), (WHOLE, "one more day"))
    drawn = chart.to_dict()
    assert drawn["title"]["text"] == "A night of large costs 40 times reading its text; “used” takes 75% of it"
    assert [panel["title"]["text"] for panel in drawn["hconcat"]] == ["small", "large"]
