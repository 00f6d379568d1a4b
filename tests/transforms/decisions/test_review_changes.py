"""What a word on a review item changes in the memory log, and how it is taken back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.decisions.effects import values_json
from slowwave.transforms.decisions.review.changes import (
    MERGE,
    PROMOTE,
    REJECT,
    CannotDecideError,
    ReviewCommand,
    holds,
    requested_changes,
    takes_back,
    undo_merge,
    undoing_changes,
    with_before,
)
from slowwave.transforms.landing.stated_changes import changes_of

FIELDS = {"content": "Text", "project": "shop", "status": "active", "superseded_by": None}
Memory = dict[str, Any]


def item(kind: str, *memory_ids: str, target: str | None = None) -> dict[str, Any]:
    told = {"item_id": "it", "kind": kind, "project": "shop", "memory_type": "knowledge", "text": "Said"}
    return {**told, "memory_ids": list(memory_ids), "target_memory_id": target}


def memories(**known: Memory) -> dict[str, Memory]:
    return {name: {**FIELDS, "confidence": None, "source_ids": None, **fields} for name, fields in known.items()}


def after(states: dict[str, Memory], changes: list[Memory]) -> dict[str, Memory]:
    """The memory log's rule: NULL carries over, '' clears a text, `clears` anything else."""
    now = {name: dict(state) for name, state in states.items()}
    for change in changes:
        state = now.setdefault(change["memory_id"], {**FIELDS, "confidence": None, "source_ids": None})
        told = {name: value for name, value in change.items() if name in state and value is not None}
        state.update({name: None if value == "" else value for name, value in told.items()})
        state.update(dict.fromkeys(change.get("clears", [])))
    return now


def test_a_statement_becomes_a_memory_or_an_invalid_one() -> None:
    for command, status in ((PROMOTE, "active"), (REJECT, "invalid")):
        (change,) = requested_changes(ReviewCommand(command), item("candidate"), {}, ["i2", "i1"])
        stated = {"memory_id": "it", "content": "Said", "memory_type": "knowledge", "project": "shop"}
        assert change == {**stated, "source_ids": ["i1", "i2"], "status": status}


@pytest.mark.parametrize(
    ("own", "said", "ended", "becomes"),
    [
        (None, None, (2, 0), 0.75),
        (None, None, (0, 1), 0.33),
        (None, None, (0, 0), None),
        (None, 0.9, (0, 1), 0.9),
        (0.6, None, (2, 0), 0.6),
        (0.6, 0.0, (2, 0), 0.0),
    ],
)
def test_a_promoted_candidate_has_a_confidence_that_can_grow(
    own: float | None, said: float | None, ended: tuple[int, int], becomes: float | None
) -> None:
    evidence = {"succeeded_count": ended[0], "failed_count": ended[1]}
    known = memories(waits={"status": "candidate", "confidence": own})
    changes = requested_changes(
        ReviewCommand(PROMOTE, confidence=said), item("candidate", "waits") | evidence, known, []
    )
    assert after(known, changes)["waits"] == known["waits"] | {"status": "active", "confidence": becomes}
    if own is None:  # a statement of answers becomes a memory
        (change,) = requested_changes(ReviewCommand(PROMOTE, confidence=said), item("candidate") | evidence, {}, [])
        assert change.get("confidence") == becomes
    (rejected,) = requested_changes(ReviewCommand(REJECT), item("candidate", "waits") | evidence, known, [])
    assert "confidence" not in rejected


def test_confidence_is_said_of_promoted_candidates_alone() -> None:
    for command, kind in ((REJECT, "candidate"), (PROMOTE, "unused"), (MERGE, "merge")):
        with pytest.raises(CannotDecideError, match="--confidence is for `promote` of a candidate"):
            requested_changes(ReviewCommand(command, confidence=0.5), item(kind, "a", "b"), memories(a={}, b={}), [])


def test_content_is_never_rewritten() -> None:
    known = memories(a={}, b={}, it={})
    for kind, ids in (("candidate", ()), ("candidate", ("a",)), ("contradiction", ("a", "b")), ("merge", ("a", "b"))):
        for wish in (
            ReviewCommand(PROMOTE),
            ReviewCommand(REJECT),
            ReviewCommand(REJECT, memory_id="a"),
            ReviewCommand(MERGE, into="b"),
        ):
            try:
                changes = requested_changes(wish, item(kind, *ids), known, [])
            except CannotDecideError:
                continue
            assert all("content" not in change for change in changes)


@pytest.mark.parametrize(
    ("confidences", "becomes"),
    [((0.5, 0.75, 0.6), 0.75), ((0.8, 0.75, None), None), ((None, 0.75, 0.9), None), ((0.5, None, None), None)],
)
def test_a_merge_takes_the_highest_initial_confidence_if_the_target_has_one(
    confidences: tuple[float | None, ...], becomes: float | None
) -> None:
    known = memories(**{name: {"confidence": said} for name, said in zip("abc", confidences, strict=True)})
    changes = requested_changes(ReviewCommand(MERGE), item("merge", "a", "b", "c", target="a"), known, [])
    assert changes[-1].get("confidence") == becomes


def test_a_merge_gathers_sources_and_who_has_none_is_its_own() -> None:
    known = memories(a={"source_ids": ["s2", "s1"]}, b={}, c={"source_ids": ["s3", "s1"]})
    changes = requested_changes(ReviewCommand(MERGE), item("merge", "a", "b", "c", target="a"), known, [])
    assert changes[-1] == {"memory_id": "a", "source_ids": ["b", "s1", "s2", "s3"]}
    assert changes[:-1] == [{"memory_id": m, "status": "superseded", "superseded_by": "a"} for m in ("b", "c")]


@pytest.mark.parametrize(("project", "is_taken"), [("shop", True), ("", True), ("other", False)])
def test_a_candidate_merges_within_its_project_or_into_a_global_memory(project: str, is_taken: bool) -> None:
    known = memories(a={"project": project})
    if is_taken:
        assert requested_changes(ReviewCommand(MERGE, into="a"), item("candidate"), known, [])
    else:
        with pytest.raises(CannotDecideError, match="another project"):
            requested_changes(ReviewCommand(MERGE, into="a"), item("candidate"), known, [])


STATE = st.fixed_dictionaries(
    {
        "status": st.just("active"),
        "superseded_by": st.none(),
        "confidence": st.none() | st.sampled_from([0.25, 0.5, 0.75]),
        "source_ids": st.none() | st.lists(st.sampled_from(["s1", "s2", "s3"]), min_size=1, unique=True),
    }
)
WISHES = [
    ("merge", ReviewCommand(MERGE)),
    ("contradiction", ReviewCommand(REJECT, memory_id="b")),
    ("contradiction", ReviewCommand(MERGE, into="b")),
]


@given(st.lists(STATE, min_size=2, max_size=4), st.sampled_from(WISHES))
def test_what_is_taken_back_leaves_nothing_behind(states: list[Memory], case: tuple[str, ReviewCommand]) -> None:
    kind, wish = case
    known = memories(**dict(zip("abcd", states, strict=False)))
    changes = with_before(requested_changes(wish, item(kind, *known, target="a"), known, []), known)
    done = after(known, changes)
    assert all(holds(change, done[change["memory_id"]]) for change in changes)
    undone = undoing_changes(changes)
    back = after(done, undone)
    assert back == known
    assert all(holds(change, back[change["memory_id"]]) for change in undone)


@given(STATE, STATE, STATE, st.booleans(), st.sampled_from([PROMOTE, REJECT]))
def test_a_merged_candidate_leaves_nothing_behind_in_its_target(
    candidate: Memory, target: Memory, other: Memory, is_landed: bool, command: str
) -> None:
    known = memories(t=target, o=other, **({"it": {**candidate, "status": "candidate"}} if is_landed else {}))
    about = item("candidate", *(["it"] if is_landed else []))
    merged = with_before(requested_changes(ReviewCommand(MERGE, into="t"), about, known, ["i1"]), known)
    done = after(known, merged)
    for wish in (ReviewCommand(command), ReviewCommand(MERGE, into="o")):
        changes = undo_merge(requested_changes(wish, about, done, ["i1"]), merged, "it")
        now = after(done, changes)
        assert now["t"] == known["t"]
        assert now["it"]["superseded_by"] == wish.into
        assert len({change["memory_id"] for change in changes}) == len(changes)
    assert now["it"]["status"] == "superseded"


@pytest.mark.parametrize("kind", ["contradiction", "outdated", "merge", "harmful", "candidate"])
def test_what_takes_a_decision_back(kind: str) -> None:
    about, gone = item(kind, "a", "b"), [{"memory_id": "a", "status": "superseded"}]
    wrong = [{"memory_id": "a", "status": "invalid"}]
    is_pair = kind in {"contradiction", "outdated"}
    assert takes_back(ReviewCommand(REJECT), about, MERGE, gone) == (kind != "candidate")
    assert takes_back(ReviewCommand(PROMOTE), about, MERGE, gone) == is_pair
    assert takes_back(ReviewCommand(PROMOTE), about, REJECT, wrong) == (kind != "candidate")
    assert not takes_back(ReviewCommand(PROMOTE), about, REJECT, [{"memory_id": "a", "status": "active"}])
    assert not takes_back(ReviewCommand(PROMOTE), about, REJECT, [])


def test_the_later_of_what_is_outdated_gains_no_sources() -> None:
    known = memories(a={"source_ids": ["s1"]}, b={"source_ids": ["s2"]})
    changes = requested_changes(ReviewCommand(MERGE), item("outdated", "a", "b", target="b"), known, [])
    assert changes == [{"memory_id": "a", "status": "superseded", "superseded_by": "b"}]


def test_what_is_not_there_says_nothing() -> None:
    assert not holds({"memory_id": "a", "status": "active"}, None)
    assert not holds({"memory_id": "a", "status": "active"}, memories(a={"status": "invalid"})["a"])
    assert not holds({"memory_id": "a", "clears": ["confidence"]}, memories(a={"confidence": 0.5})["a"])


@pytest.mark.parametrize(
    ("of", "scope", "is_landed", "becomes"),
    [
        ("ada", None, False, "ada"),
        ("ada", "user", False, "ada"),
        ("ada", "project", False, None),
        (None, None, False, None),
        (None, "project", False, None),
        ("ada", None, True, "ada"),
        ("ada", "project", True, None),
    ],
)
def test_a_candidate_is_promoted_for_its_user_unless_it_is_said_to_be_for_all(
    of: str | None, scope: Any, is_landed: bool, becomes: str | None
) -> None:
    known = memories(waits={"status": "candidate", "user_id": of}) if is_landed else {}
    about = item("candidate", *known) | {"user_id": of}
    changes = requested_changes(ReviewCommand(PROMOTE, scope=scope), about, known, [])
    blank = {"it": {"user_id": None, "status": "candidate"}}
    assert after(known or blank, changes)["waits" if is_landed else "it"]["user_id"] == becomes


def test_scope_is_said_of_promoted_candidates_alone_and_a_user_of_those_that_have_one() -> None:
    for command, kind in ((REJECT, "candidate"), (PROMOTE, "unused"), (MERGE, "merge")):
        with pytest.raises(CannotDecideError, match="--scope is for `promote` of a candidate"):
            requested_changes(ReviewCommand(command, scope="project"), item(kind, "a", "b"), memories(a={}, b={}), [])
    with pytest.raises(CannotDecideError, match="no single user"):
        requested_changes(ReviewCommand(PROMOTE, scope="user"), item("candidate"), {}, [])


@pytest.mark.parametrize(("of", "into", "is_taken"), [("ada", "ada", True), ("ada", None, True), ("ada", "bob", False),
                                                      (None, "ada", False), (None, None, True)])  # fmt: skip
def test_a_candidate_merges_into_a_memory_of_its_user_or_of_all(
    of: str | None, into: str | None, is_taken: bool
) -> None:
    known = memories(a={"user_id": into})
    about = item("candidate") | {"user_id": of}
    if is_taken:
        changes = requested_changes(ReviewCommand(MERGE, into="a"), about, known, [])
        assert changes[0].get("user_id") == of
    else:
        with pytest.raises(CannotDecideError, match="another user"):
            requested_changes(ReviewCommand(MERGE, into="a"), about, known, [])


def test_an_expiring_memory_is_extended_and_the_extension_taken_back() -> None:
    at = datetime(2026, 5, 10)  # noqa: DTZ001 - times are naive and hold UTC everywhere
    known, asked = memories(ends={"expires_at": at}), item("expiring", "ends")
    changes = with_before(requested_changes(ReviewCommand(PROMOTE), asked, known, []), known)
    assert changes_of(values_json({"changes": changes})) == changes
    extended = after(known, changes)
    assert extended["ends"]["expires_at"] == at + timedelta(days=90)
    assert takes_back(ReviewCommand(REJECT), asked, PROMOTE, changes)
    assert after(extended, undoing_changes(changes)) == known
    assert requested_changes(ReviewCommand(REJECT), asked, known, []) == []
    with pytest.raises(CannotDecideError, match="let it expire"):
        requested_changes(ReviewCommand(MERGE), asked, known, [])
