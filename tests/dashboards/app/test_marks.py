"""What of a text is marked: quotes as `echo/1` finds them, and longer words that it shares with what it uses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slowwave.dashboards.app.panel import QUOTED, SHARED, MarkedSpan, cut_spans, mark_text
from slowwave.transforms.evidence.params import EvidenceParams

PARAMS = EvidenceParams()
MEMORY = "Prices are kept as integers of the smallest coin, never as floats, in every table and in every message."


def marked(text, quotes=(), used=()):
    return [(span.text, span.kind) for span in mark_text(text, quotes, used, PARAMS) if span.kind]


def test_a_quote_is_marked_whatever_its_case_and_white_space():
    said = MEMORY.upper().replace(" ", " \n ")
    assert marked(f"I know: {said} So it is.", [MEMORY]) == [(said, QUOTED)]


def test_of_a_memory_quoted_in_part_that_part_is_marked():
    begin = MEMORY[:84]
    ((text, kind),) = marked(f"{begin} and so on", [MEMORY])
    assert kind == QUOTED
    assert begin.startswith(text)
    assert len(text) == PARAMS.echo_code_points
    assert marked("Prices are kept", [MEMORY]) == []


def test_shared_words_are_marked_and_quotes_come_first():
    assert marked("the integers are of coin", used=[MEMORY]) == [("integers", SHARED)]
    assert marked(MEMORY, [MEMORY], [MEMORY]) == [(MEMORY, QUOTED)]


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3), st.integers(0, 90))
def test_marking_and_cutting_lose_no_character(text, memories, most):
    spans = mark_text(text, memories, memories, PARAMS)
    assert "".join(span.text for span in spans) == text
    first, rest = cut_spans(spans, most)
    assert "".join(span.text for span in first) == text[:most]
    assert "".join(span.text for span in rest) == text[most:]
    assert all(isinstance(span, MarkedSpan) and span.text for span in [*first, *rest])
