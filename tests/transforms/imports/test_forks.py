"""Of sessions that share turns, whose each turn is."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.imports.forks import Outline, SeenTurn, hash_outline, owners


def outline(session: str, turns: dict[str, int], modified_at: float = 0.0, **copied_from: str) -> Outline:
    """A session with turns that began at minutes."""
    seen = {turn: SeenTurn(f"claude-code:{turn}", f"2026-05-01T09:{minute:02d}:00Z") for turn, minute in turns.items()}
    return Outline(session, seen, copied_from, modified_at)


def of_turns(*outlines: Outline) -> dict[str, str | None]:
    found = owners(outlines)
    return {turn: found.of(turn) for one in outlines for turn in one.turns}


def test_a_session_alone_has_its_turns() -> None:
    alone = outline("first", {"a": 1, "b": 2})
    assert of_turns(alone) == {"a": "first", "b": "first"}
    assert owners([alone]).copies(alone) == frozenset()
    assert owners([]).of("a") is None


def test_a_fork_that_went_on_is_no_owner_of_what_it_copied() -> None:
    first, fork = outline("first", {"a": 1, "b": 2}, 90), outline("fork", {"a": 1, "b": 2, "c": 5}, 60)
    assert of_turns(first, fork) == {"a": "first", "b": "first", "c": "fork"}
    assert owners([first, fork]).copies(fork) == frozenset({"a", "b"})


def test_of_two_that_went_on_it_is_the_one_that_did_so_earlier() -> None:
    first, fork = outline("first", {"a": 1, "b": 2, "c": 3}, 90), outline("fork", {"a": 1, "b": 2, "d": 5}, 60)
    assert of_turns(first, fork) == {"a": "first", "b": "first", "c": "first", "d": "fork"}


def test_of_two_with_the_same_turns_it_is_the_one_written_to_first() -> None:
    assert of_turns(outline("z", {"a": 1}, 10), outline("b", {"a": 1}, 20)) == {"a": "z"}
    assert of_turns(outline("z", {"a": 1}, 10), outline("b", {"a": 1}, 10)) == {"a": "b"}


def test_a_fork_of_a_fork_is_followed_to_its_beginning() -> None:
    chain = [
        outline("first", {"a": 1, "b": 2}, 30),
        outline("second", {"a": 1, "b": 2, "c": 3, "d": 4}, 20),
        outline("third", {"a": 1, "b": 2, "c": 3, "e": 9}, 10),
    ]
    for order in permutations(chain):
        assert of_turns(*order) == {"a": "first", "b": "first", "c": "second", "d": "second", "e": "third"}


def test_a_copy_with_ids_of_its_own_says_what_it_was_copied_from() -> None:
    first = outline("first", {"a": 1, "b": 2}, 30)
    fork = outline("fork", {"a2": 1, "b2": 2, "c": 5}, 20, a2="a", b2="b")
    again = outline("again", {"a3": 1, "b3": 2, "c3": 5, "d": 6}, 10, a3="a2", b3="b2", c3="c")
    for order in permutations([first, fork, again]):
        found = owners(order)
        assert [found.of(turn) for turn in ("a", "a3", "c", "c3", "d")] == ["first", "first", "fork", "fork", "again"]
        assert found.copies(again) == frozenset({"a3", "b3", "c3"})


def test_a_ring_of_copies_ends() -> None:
    assert of_turns(outline("s", {"a": 1, "b": 2}, a="b", b="a")).keys() == {"a", "b"}


def test_two_files_of_one_session_are_no_forks() -> None:
    assert of_turns(outline("s", {"a": 1}), outline("s", {"a": 1, "b": 2})) == {"a": "s", "b": "s"}


def test_many_copies_are_told_by_when_they_were_written_to() -> None:
    many = [outline(f"s-{number:03d}", {"a": 1, f"own-{number}": 2}, 100 - number) for number in range(60)]
    assert owners(many).of("a") == "s-059"


def test_what_is_kept_of_a_session_is_nothing_that_was_said_in_it() -> None:
    said = "which port does it have?"
    seen = SeenTurn("pi:s:1", "2026-05-01T11:00:00+02:00")
    kept = hash_outline(Outline(said, {said: seen, "b": SeenTurn("pi:s:2", "soon")}, {said: "a"}, 7.0))
    assert said not in str(kept)
    assert [one.at for one in kept.turns.values()] == ["2026-05-01T09:00:00.000000"]
    original = hash_outline(Outline("first", {"a": seen}))
    assert owners([kept, original]).copies(kept) == frozenset(kept.turns)


@given(st.data())
def test_whatever_is_read_first_a_fork_of_forks_owns_only_what_it_added(data: st.DataObject) -> None:
    """Sessions are made as people make them: each copies a beginning of one before it, and goes on."""
    sessions: list[tuple[str, list[str]]] = [("s0", ["s0-0"])]
    belongs, clock = {"s0-0": "s0"}, 1
    minutes = {"s0-0": 0}
    for number in range(1, data.draw(st.integers(1, 6))):
        _, before = data.draw(st.sampled_from(sessions))
        turns = before[: data.draw(st.integers(1, len(before)))]
        for step in range(data.draw(st.integers(1, 3))):
            turn = f"s{number}-{step}"
            belongs[turn], minutes[turn] = f"s{number}", clock
            turns = [*turns, turn]
            clock += 1
        sessions.append((f"s{number}", turns))
    drawn = [outline(name, {turn: minutes[turn] for turn in turns}) for name, turns in sessions]
    shuffled = data.draw(st.permutations(drawn))
    found = owners(shuffled)
    assert found.of("s0-0") == "s0"
    assert {turn: found.of(turn) for turn in belongs} == belongs
