"""What holds of `error_fingerprints`: what must not matter, templates, ids and examples."""

import polars as pl
import pytest
from error_rows import USERS, frame
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.hashing import hash_texts
from slowwave.transforms.grouping.error_fingerprints import error_fingerprints

words = st.sampled_from([*USERS, "user", "file", "refused", "for", "the", "=", ":", "(", "]", "'x'", "Error"])
figures = st.sampled_from(
    ["3", "404", "HTTP 500", "0xff", "12ms", "/a/b", "a.b", "x_y", "n-1", "<number>", "<*>", "\n", "é"]
)
composed = st.lists(words | figures, min_size=1, max_size=7).map(" ".join)
similar = st.builds("no {} left for {} of {} today".format, *[st.sampled_from(USERS) | figures] * 3)
message = (composed | similar).filter(lambda text: bool(text.strip()))
messages = st.lists(message, min_size=1, max_size=40)


@given(messages, st.randoms(use_true_random=False))
def test_order_repetition_and_chunks_do_not_matter(texts, random):
    expected = error_fingerprints(frame(texts))
    shuffled = texts + random.choices(texts, k=5)
    random.shuffle(shuffled)
    chunked = pl.concat([frame([text]) for text in shuffled], rechunk=False)
    assert error_fingerprints(chunked).equals(expected)
    assert expected["error_message"].to_list() == sorted(set(texts))


@given(messages, messages)
def test_projects_do_not_touch(one, other):
    both = error_fingerprints(pl.concat([frame(other, "q"), frame(one, "p")]))
    assert both.equals(
        pl.concat(
            [
                error_fingerprints(frame(one, "p")),
                error_fingerprints(frame(other, "q")),
            ]
        )
    )


@given(messages)
def test_one_template_has_one_id_the_digest_of_its_text_in_every_project(texts):
    found = error_fingerprints(frame(texts))
    assert found["error_id"].equals(hash_texts(found["error_template"]).alias("error_id"))
    assert error_fingerprints(frame(texts, "elsewhere"))["error_id"].equals(found["error_id"])


@given(messages)
def test_a_template_is_its_own_template(texts):
    templates = error_fingerprints(frame(texts))["error_template"].unique().to_list()
    again = error_fingerprints(frame(templates))
    assert again["error_template"].to_list() == again["error_message"].to_list()


@given(messages)
def test_the_example_is_the_shortest_message_of_its_error(texts):
    found = error_fingerprints(frame(texts))
    for (_,), group in found.group_by("error_id"):
        assert set(group["example"]) == {min(group["error_message"].to_list(), key=lambda text: (len(text), text))}


def test_the_example_is_of_the_same_project():
    found = error_fingerprints(
        pl.concat([frame(["after 10s", "after 9s", "after 8s"], "p"), frame(["after 12s"], "q")]),
    )
    assert found["example"].to_list() == ["after 8s"] * 3 + ["after 12s"]


@given(st.lists(st.text(), max_size=20))
def test_any_text_has_a_template_without_control_characters(texts):
    found = error_fingerprints(frame(texts))
    said = frame(texts).filter(~is_blank(pl.col("error_message")))
    assert found["error_message"].to_list() == sorted(set(said["error_message"]))
    assert not found["error_template"].str.contains(r"[\x00-\x1f\x7f]").any()
    assert (found["error_template"] != "").all()


def test_unrelated_messages_change_nothing():
    texts = [*(f"no room left for user {user}" for user in USERS), "Connection refused", "disk 3 is full", "HTTP 404"]
    before = error_fingerprints(frame(texts))
    after = error_fingerprints(frame([*texts, "Connection reset", "something else entirely", "the tape 4 is lost"]))
    assert after.join(before, on="error_message", how="semi").equals(before)


@pytest.mark.parametrize("nothing", [[], [None, "", " \t", "\x1b"]])
def test_no_messages_no_errors(nothing):
    found = error_fingerprints(frame(nothing))
    assert found.is_empty()
    assert dict(found.schema) == dict.fromkeys(
        [
            *("project", "error_message", "error_id", "error_template", "error_family", "error_family_template"),
            *("example", "reason"),
        ],
        pl.String,
    )
