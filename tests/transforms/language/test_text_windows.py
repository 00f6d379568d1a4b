"""Windows of texts: whatever 40 characters two texts share is found, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.language import text_windows as windows
from slowwave.transforms.language.text_windows import WINDOW, WindowSet, normalise_text, text_windows

letters = st.text(st.sampled_from("ab é\U0001f9e0"), max_size=90)


def shares(one: str, other: str) -> bool:
    """Whether two texts have 40 characters in a row in common."""
    one, other = normalise_text(one), normalise_text(other)
    return any(one[start : start + WINDOW] in other for start in range(len(one) - WINDOW + 1))


@given(erased=st.lists(letters, min_size=1, max_size=3), texts=st.lists(letters, min_size=1, max_size=5), at=st.data())
def test_a_text_is_found_where_it_shares_a_window(erased: list[str], texts: list[str], at: st.DataObject) -> None:
    part = at.draw(st.integers(0, 50))
    texts = [*texts, f"before {erased[0][part:]} after"]
    places, found = WindowSet(text_windows(erased)).find_windows(texts)
    expected = [place for place, text in enumerate(texts) if any(shares(one, text) for one in erased)]
    assert places.tolist() == expected
    assert bool(len(found)) == bool(expected)


def test_case_and_white_space_do_not_count_and_texts_do_not_run_into_each_other() -> None:
    text = "The vault in the cellar opens to whoever hums the old harbour song."
    sought = WindowSet(text_windows([text]))
    assert sought.find_windows([text.upper().replace(" ", "\r\n\t")])[0].tolist() == [0]
    assert sought.find_windows(["", text[:39], text[39:], text[:39], text[5:45]])[0].tolist() == [4]


def test_long_texts_are_looked_at_in_chunks_and_none_is_missed() -> None:
    text = "It rained on the roof of the mill all night."
    for before in (windows._CHUNK - WINDOW, windows._CHUNK - 1, windows._CHUNK):
        assert WindowSet(text_windows([text])).find_windows(["x" * before + text])[0].tolist() == [0]


def test_what_others_repeat_is_taken_out() -> None:
    common, own = "Every answer begins with this very sentence, always.", "Only here it says where the key is hidden."
    sought = WindowSet(text_windows([common + own]))
    left = sought.without(sought.find_windows([common])[1])
    assert left.find_windows([common])[0].tolist() == []
    assert left.find_windows([own])[0].tolist() == [0]


def test_no_window_reaches_over_what_parts_texts() -> None:
    sought = WindowSet(text_windows(["one half of it stands here and the other half there"]))
    assert (
        sought.find_windows([f"one half of it stands here{windows.BETWEEN}and the other half there"])[0].tolist() == []
    )
