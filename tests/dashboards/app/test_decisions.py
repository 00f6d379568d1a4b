"""What the buttons of the dashboard run: the commands they show, previewed, landed, taken back, and from whose page."""

from __future__ import annotations

import re
import shutil
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from drawn_pages import IGNORED, drawn, grids, published_by, words
from review_acts import STATED, item, items, landed, reviewable_rows, rows_of, states
from small_home import SmallHome, interaction, memory

from slowwave.dashboards.app import decision_commands
from slowwave.dashboards.app.decision_commands import (
    DecisionCommand,
    LandedDecision,
    decided_since,
    land_decision,
    preview_decision,
)
from slowwave.dashboards.app.own_page import allow_decisions, are_decisions_allowed, may_decide
from slowwave.dashboards.app.pages.memory import memory_page
from slowwave.dashboards.app.pages.review import review_page
from slowwave.dashboards.app.panel import draw_thing
from slowwave.flows.ask.cells import cell_text
from slowwave.flows.decide.forget import apply_plan, published_plan
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.publish.run import start_run

AS_OF = datetime(2026, 6, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings(IGNORED)]  # each command is a process of its own


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    home = SmallHome(tmp_path_factory.mktemp("published") / "home")
    home.land(*reviewable_rows())
    home.land(
        memory("gone", changed_at="2026-01-01T08:00:00Z"),
        memory("gone", changed_at="2026-01-03T08:00:00Z", status="invalid"),
    )
    home.nightly(AS_OF)
    return home


@pytest.fixture
def home(published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(published.folder, tmp_path / "home", symlinks=True)
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    return SmallHome(tmp_path / "home")


def landed_by_ada(command: DecisionCommand, reason: str = "agreed"):
    return land_decision(command, preview_decision(command), by="ada", reason=reason)


def undo_of(done: LandedDecision) -> DecisionCommand | None:
    """What takes a decision back, whatever it expects."""
    return done.undo and replace(done.undo, expect="")


def shown(command: DecisionCommand):
    preview = preview_decision(command)
    return preview.changes, preview.notes


def test_a_merge_of_several_items_is_taken_back(home):
    merging, stated = item(home, kind="merge")["item_id"], item(home, text=STATED)["item_id"]
    both = DecisionCommand("review", "merge", (stated, item(home, about="wait")["item_id"]), {"into": "c60"})
    assert both.line.endswith(" --into c60 --yes")
    (note,) = preview_decision(both).notes
    assert note.endswith(": another item of this command changes the same memory: run it again")
    before = states(home)
    done = landed_by_ada(DecisionCommand("review", "merge", (merging,)))
    assert (done.says, undo_of(done)) == ("merged 1 item", DecisionCommand("review", "reject", [merging]))
    assert decided_since(AS_OF) == {merging: "merged by ada"}
    assert states(home) != before
    assert done.undo is not None
    assert landed_by_ada(done.undo).says == "rejected 1 item"
    assert states(home) == before


def test_the_queue_is_shown_where_decisions_cannot_be_read(home):
    waiting = item(home, text=STATED)["item_id"]
    landed_by_ada(DecisionCommand("review", "promote", (waiting,)))
    for file in (home.folder / "lake" / "decisions").rglob("*.parquet"):
        file.write_bytes(b"damaged")
    allow_decisions({"localhost:1"})
    try:
        with closing(published_by(home)) as published:
            page = drawn(review_page, published)
    finally:
        allow_decisions(())
    assert "cannot be read: slowwave doctor says which file is damaged" in words(page)
    assert any(caption.startswith("Items, most important first") for caption in grids(page))


def test_what_changes_no_memory_has_no_undo(home):
    kept = DecisionCommand("review", "promote", (item(home, kind="contradiction")["item_id"],))
    assert shown(kept) == ([], ["c50 stays as it is", "c60 stays as it is"])
    assert landed_by_ada(kept).undo is None
    assert shown(kept) == ([], ["1 item already so"])


def test_a_hold_has_a_name_a_reason_and_a_release(home):
    hold = DecisionCommand("forget", "hold", ("unused",))
    with pytest.raises(UserError, match="say why"):
        landed_by_ada(hold, reason=" ")
    with pytest.raises(UserError, match="say who"):
        land_decision(hold, preview_decision(hold), by="\u200b", reason="it is asked about")
    assert landed(home)[0] == 0
    assert preview_decision(hold).changes == [("unused", "on hold", "no", "yes")]
    done = landed_by_ada(hold)
    with pytest.raises(UserError, match="on hold"):
        preview_decision(DecisionCommand("memory", "archive", ("unused",)))
    release = DecisionCommand("forget", "release", ("unused",))
    assert undo_of(done) == release
    assert preview_decision(release).changes == [("unused", "on hold", "yes", "no")]
    assert preview_decision(hold).changes == []
    again = landed_by_ada(hold)
    assert "held already" in again.says
    assert again.undo is None, "the hold is another's"
    landed_by_ada(release)
    assert preview_decision(DecisionCommand("memory", "archive", ("unused",))).changes
    assert preview_decision(release).changes == []
    assert landed(home)[0] == 2


def test_what_forgetting_archived_is_restored_as_it_was(home):
    restore = DecisionCommand("forget", "restore", ("gone",))
    with pytest.raises(UserError, match="never archived by `forget apply`"):
        preview_decision(restore)
    plan = published_plan(home.settings)
    with writer_lock(home.settings, "forget apply"):
        apply_plan(start_run(home.settings, "backfill"), plan, plan.rows)
    assert states(home)["gone"]["status"] == "archived"
    assert preview_decision(restore).changes == [("gone", "status", "archived", "invalid")]
    done = landed_by_ada(restore)
    assert states(home)["gone"]["status"] == "invalid"
    assert (done.says, undo_of(done)) == ("restored 1 memory", DecisionCommand("memory", "archive", ("gone",)))


@pytest.mark.parametrize("memory_id", ["-x", "--yes", "a\x00b", "x" * 200_000])
def test_an_id_is_never_an_option(home, memory_id):
    with pytest.raises(UserError, match="nothing was changed"):
        preview_decision(DecisionCommand("memory", "archive", (memory_id,)))
    assert landed(home)[0] == 0


def test_an_edit_keeps_its_text_to_the_last_character(home):
    text = "-\r\nlast line\n\n" + "é" * 200_000
    landed_by_ada(DecisionCommand("memory", "edit", ("unused",), {"content": text}))
    assert states(home)["unused"]["content"] == text


def test_what_has_changed_since_it_was_shown_is_not_landed(home):
    edit = DecisionCommand("memory", "edit", ("unused",), {"content": "The cellar has a third door."})
    seen = preview_decision(edit)
    home.land(memory("unused", changed_at="2026-06-02T08:00:00Z", content="The cellar has no door."))
    with pytest.raises(UserError, match="not any more as it was shown: it was changed at 2026-06-02 08:00:00Z"):
        land_decision(edit, seen, by="ada", reason="")
    assert rows_of(home, "decisions") == 0


_DECIDED_BY_ADA = (
    r"^'ada' decided this at 20..-..-.. ..:..:..Z \(`{} {}` of '.+'\): look again \(nothing was changed\)$"
)


def two_at_once(home) -> list[tuple[DecisionCommand, DecisionCommand]]:
    """Of each kind of command what one person says of a thing, and another who looked at it at the same time."""
    stated = (item(home, text=STATED)["item_id"],)
    return [
        (DecisionCommand("review", "promote", stated), DecisionCommand("review", "promote", stated)),
        (DecisionCommand("review", "merge", stated, {"into": "c60"}), DecisionCommand("review", "reject", stated)),
        (DecisionCommand("memory", "archive", ("c50",)), DecisionCommand("memory", "archive", ("c50",))),
        (DecisionCommand("memory", "pin", ("c50",)), DecisionCommand("memory", "edit", ("c50",), {"content": "No."})),
        (DecisionCommand("forget", "hold", ("unused",)), DecisionCommand("forget", "hold", ("unused",))),
        (DecisionCommand("forget", "hold", ("unused",)), DecisionCommand("memory", "archive", ("unused",))),
    ]


@pytest.mark.parametrize("number", range(6))
def test_of_two_who_look_at_once_the_second_is_told_who_decided(home, number):
    first, second = two_at_once(home)[number]
    seen = preview_decision(second)
    landed_by_ada(first, "the first")
    before, rows = states(home), landed(home)
    with pytest.raises(UserError, match=_DECIDED_BY_ADA.format(first.group, first.verb)):
        land_decision(second, seen, by="bob", reason="the second")
    assert (states(home), landed(home)) == (before, rows)


def test_a_decision_on_an_item_is_refused_once_its_memory_was_decided_on(home):
    reject = DecisionCommand("review", "reject", (item(home, kind="unused")["item_id"],))
    seen = preview_decision(reject)
    landed_by_ada(DecisionCommand("memory", "pin", ("unused",)))
    with pytest.raises(UserError, match=_DECIDED_BY_ADA.format("memory", "pin")):
        land_decision(reject, seen, by="bob", reason="")
    assert landed(home)[0] == 1


def test_a_publish_between_look_and_landing_changes_nothing_of_what_lands(home):
    promote = DecisionCommand("review", "promote", (item(home, text=STATED)["item_id"],))
    seen = preview_decision(promote)
    home.land(interaction("j6", created_at="2026-06-01T09:00:00Z", response=f"{STATED} And so on."))
    home.nightly(datetime(2026, 6, 2))  # noqa: DTZ001 - as above
    with pytest.raises(UserError, match="not any more as it was shown"):  # its sources are others
        land_decision(promote, seen, by="ada", reason="")
    assert landed(home)[0] == 0
    seen = preview_decision(promote)
    home.nightly(datetime(2026, 6, 3))  # noqa: DTZ001 - as above
    land_decision(promote, seen, by="ada", reason="")
    made = states(home)[promote.targets[0]]
    shown_sources = [will_be for _, name, _, will_be in seen.changes if name == "source_ids"]
    assert shown_sources == [cell_text(made["source_ids"])]
    assert "j6" in made["source_ids"]


def test_undo_takes_back_what_its_reader_saw_or_nothing(home):
    edit = DecisionCommand("memory", "edit", ("unused",), {"content": "The cellar has a third door."})
    undo = landed_by_ada(edit).undo
    assert undo is not None
    (note,) = preview_decision(undo).notes
    assert re.fullmatch("it takes back the `memory edit` of 20.*Z by ada", note)
    pin = DecisionCommand("memory", "pin", ("unused",))
    land_decision(pin, preview_decision(pin), by="bob", reason="")
    rows = landed(home)
    with pytest.raises(UserError, match=r"^'bob' decided this at 20.*Z \(`memory pin` of 'unused'\): look again"):
        preview_decision(undo)
    assert landed(home) == rows


def test_undo_of_what_another_has_taken_back_says_who(home):
    undo = landed_by_ada(DecisionCommand("memory", "pin", ("unused",))).undo
    assert undo is not None
    seen = preview_decision(undo)
    land_decision(undo, preview_decision(undo), by="bob", reason="")
    with pytest.raises(UserError, match=r"^'bob' decided this at 20.*Z \(`memory undo` of 'unused'\): look again"):
        land_decision(undo, seen, by="ada", reason="")
    assert landed(home)[0] == 2


def test_an_undo_of_review_is_refused_once_another_has_decided(home):
    item_id = item(home, text=STATED)["item_id"]
    undo = landed_by_ada(DecisionCommand("review", "promote", (item_id,))).undo
    assert undo is not None
    reject = DecisionCommand("review", "reject", (item_id,))
    land_decision(reject, preview_decision(reject), by="bob", reason="")
    with pytest.raises(UserError, match=r"^'bob' decided this at 20.*Z \(`review reject`"):
        preview_decision(undo)
    assert landed(home)[0] == 2


def test_a_command_that_is_killed_before_it_said_anything_is_no_silence(home, monkeypatch):
    promote = DecisionCommand("review", "promote", (item(home, text=STATED)["item_id"],))
    preview = preview_decision(promote)
    for printed in ("", '{"decided": ['):
        script = f"import os, sys; sys.stdout.write({printed!r}); sys.stdout.flush(); os.kill(os.getpid(), 9)"
        real = decision_commands.subprocess.run

        def killed(arguments, *, script=script, real=real, **options):
            is_landing = any(one.startswith("--by=") for one in arguments)
            return real([arguments[0], "-c", script] if is_landing else arguments, **options)

        with monkeypatch.context() as patched:
            patched.setattr(decision_commands.subprocess, "run", killed)
            with pytest.raises(UserError, match="ended before it said what it did"):
                land_decision(promote, preview, by="ada", reason="")
    assert landed(home)[0] == 0


def test_another_writer_is_named_and_nothing_lands(home):
    command = DecisionCommand("review", "reject", (item(home, kind="unused")["item_id"],))
    seen = preview_decision(command)
    with writer_lock(home.settings, "nightly"), pytest.raises(UserError) as refused:
        land_decision(command, seen, by="ada", reason="")
    assert str(refused.value).startswith("`slowwave nightly` (process ")
    assert str(refused.value).endswith("run this again when it has finished")
    assert landed(home)[0] == 0


def test_a_decision_comes_from_the_page_of_this_dashboard():
    own = {"Host": "127.0.0.1:8501", "Origin": "http://127.0.0.1:8501"}
    assert not may_decide(own)
    allow_decisions({"127.0.0.1:8501", "localhost:8501"})
    try:
        assert may_decide(own)
        for header, value in (
            ("Host", "rebound.example:8501"),
            ("Host", "localhost:8501"),
            ("Origin", "http://other.example"),
            ("Origin", "http://127.0.0.1:8502"),
            ("Origin", "null"),
        ):
            assert not may_decide({**own, header: value}), (header, value)
        rebound = dict.fromkeys(("Host", "Origin"), "rebound.example")
        assert not may_decide({**rebound, "Origin": "http://rebound.example"})
        assert not may_decide({"Host": own["Host"]})
    finally:
        allow_decisions(())
    assert not are_decisions_allowed()


def test_buttons_stand_beside_their_commands_only_where_they_are_allowed(home, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    item_id = items(home)["item_id"][0]
    published = published_by(home)
    for draw, address in ((draw_thing, {"open": f"item:{item_id}"}), (memory_page, {"memory_id": "unused"})):
        assert not drawn(draw, published, **address).button
    allow_decisions({"127.0.0.1:8501"})
    try:
        labels = [
            {button.label for button in drawn(draw, published, **address).button}
            for draw, address in ((draw_thing, {"open": f"item:{item_id}"}), (memory_page, {"memory_id": "unused"}))
        ]
    finally:
        allow_decisions(())
        published.close()
    assert labels == [{"Promote", "Reject", "Next item"}, {"Hold", "Edit", "Archive", "Invalidate", "Undo"}]


def test_a_narrowed_dashboard_lets_nobody_decide(home):
    refused = home.ask("dashboard", "--allow-decisions", "--user", "ada")
    assert (refused.returncode, "--user" in refused.stderr) == (2, True)
