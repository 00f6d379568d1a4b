"""What nightly's screen says of strategies: what is counted is named, and what is left out is said."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from small_home import SmallHome, interaction, outcome

from slowwave.flows.nightly.learned_lines import learned_lines

AS_OF = datetime(2026, 3, 20)  # noqa: DTZ001 - times are naive and hold UTC everywhere


def test_strategies_are_counted_apart_from_where_they_were_tried_and_the_rest_that_fail_is_told(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    rows = []
    for day in range(1, 17):
        for kind in range(4):
            for strategy, success in (("rerun it", False), ("read the log", True), ("ask first", True)):
                name = f"{day}-{kind}-{strategy}"
                at = f"2026-03-{day:02}T09:{kind:02}:00Z"
                rows.append(interaction(name, session_id=name, created_at=at))
                rows.append(
                    outcome(
                        f"o-{name}", interaction_id=name, session_id=name, created_at=at, strategy=strategy,
                        task_type=f"kind {kind}", success=success, error_message=None if success else "It timed out",
                    )
                )  # fmt: skip
    home.land(*rows)
    home.nightly(AS_OF)
    lines = learned_lines(home.settings.current.resolve())
    texts = [text for label, text in lines if label == "avoid"]
    assert "; 3 strategies tried in 12 combinations with project, agent and kind of task, " in dict(lines)["learned"]
    assert "strategies to avoid: 4; hard tasks: 0;" in dict(lines)["learned"]
    assert len(texts) == 4
    assert texts[-1] == "1 more: `slowwave sql costliest_anti_patterns` shows all"


def test_what_was_inferred_is_counted_beside_attempts_or_among_them(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    inferred = {"basis": "inferred", "basis_method": "transcript_tests/1"}
    home.land(
        *(outcome(f"o{n}", interaction_id=f"i{n}", **(inferred if n % 3 else {})) for n in range(6)),
        outcome("both", interaction_id="i0", success=False, **inferred),
    )
    home.nightly(AS_OF)
    (learned,) = [text for label, text in learned_lines(home.settings.current.resolve()) if label == "learned"]
    assert learned.startswith("2 attempts of 7 outcomes, 5 more attempts inferred and not learned from; ")
    home.settings.params_file.write_text("[attempts]\nlearn_from_inferred = true\n")
    home.nightly(AS_OF)
    (learned,) = [text for label, text in learned_lines(home.settings.current.resolve()) if label == "learned"]
    assert learned.startswith("6 attempts of 7 outcomes, 4 of them inferred, 1 more attempt inferred and not learned ")
