"""What two statements are to each other: words dispose, whatever the score proposes."""

from __future__ import annotations

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.observations.pairs.conflicts import conflicts, only_retracts
from slowwave.transforms.observations.pairs.reading import reading
from slowwave.transforms.observations.pairs.relation import relation
from slowwave.transforms.observations.pairs.statement_tokens import tokens
from slowwave.transforms.observations.params import ObservationParams

PARAMS = ObservationParams()
ALIKE = 10_000

SAME = [
    ("User prefers dark mode", "The user prefers dark mode."),
    ("Don't deploy on Fridays", "Do not deploy on Fridays"),
    ("Never use tabs", "Do not use tabs"),
    ("Retry twenty-five times after 30s", "Retry 25 times after 30 seconds"),
    ("The cache holds 1,000 rows", "The cache holds 1000 rows"),
    ("Run `make lint` before pushing", "Please run `make lint` before pushing!"),
    ("The team tests each release", "The team is testing every release"),
    ("Deploys take 5 minutes", "Deploys take 5 min"),
    ("Run make lint before pushing a branch.", "Before pushing a branch, run make lint."),
    ("With Alice the team ships faster", "The team ships faster with Alice"),
]
APART = [
    ("The port is 8080", "The port is 9090"),
    ("Retry two times", "Retry 3 times"),
    ("Wait 30 seconds", "Wait 30 minutes"),
    ("Use Python 3.11", "Use Python 3.12"),
    ("Deploy on Fridays", "Do not deploy on Fridays"),
    ("Deploy with approval", "Deploy without approval"),
    ("The cache is enabled", "The cache is disabled"),
    ("The method is safe", "The method is unsafe"),
    ("The demo is on Monday", "The demo is on Tuesday"),
    ("The demo is on 2026-03-01", "The demo is on 2026-03-02"),
    ("Released in March", "Released in April"),
    ("Ask Alice for access", "Ask Bob for access"),
    ("Edit src/app.py first", "Edit src/api.py first"),
    ("Ask for access early", "Ask Alice for access early"),
    ("Alice reports to Bob", "Bob reports to Alice"),
    ("Alice beat Bob in Paris", "Bob beat Alice in Paris"),
    ("Copy from staging to production", "Copy from production to staging"),
    ("The user prefers tabs over spaces", "The user prefers spaces over tabs"),
    ("Run the tests before pushing", "Run the tests after pushing"),
    ("Deploy to staging", "Deploy only to staging"),
    ("Alice lives in Paris", "Alice lived in Paris"),
    ("The tests are slow", "Are the tests slow?"),
    ("The user uses vim", "The user used to use vim"),
]  # fmt: skip
CHANGED = [
    ("The API port is 8080", "The API port is 9090"),
    ("The cache is enabled", "The cache is disabled"),
    ("The release is on Friday", "The release is on Monday"),
    ("Always run the tests before pushing", "Do not run the tests before pushing"),
    ("User lives in Munich", "User moved from Munich to Berlin"),
    ("User lives in Munich", "User moved to Berlin"),
    ("User lives in Munich", "User now lives in Berlin"),
    ("User uses vim", "User used to use vim, now uses neovim"),
    ("The team uses Jest for unit tests", "The team switched from Jest to Vitest for unit tests"),
    ("We deploy to AWS", "We now deploy to GCP instead of AWS"),
    ("The default branch is main", "The default branch is now trunk"),
    ("The user prefers tabs over spaces", "The user prefers spaces over tabs"),
]
TAKEN_BACK = [
    ("The user likes tea", "Forget that the user likes tea"),
    ("User lives in Munich", "User no longer lives in Munich"),
]
UNRELATED = [
    ("Issue 12 is fixed", "Issue 13 is fixed"),
    ("Review PR 12 first", "Review PR 13 first"),
    ("Alice likes apples", "Alice likes pears"),
    ("Nate won 2 games", "Nate won 3 games"),
    ("Bob lives in Munich", "Alice moved from Munich to Berlin"),
    ("Alice now lives in Berlin", "Bob lives in Berlin"),
    ("Alice reports to Bob", "Bob reports to Alice"),
    ("Hegrane moved the exporter from zaske to zayu", "Hegrane moved the exporter from wiwi to gagra"),
    ("Run ripa before you deploy Graske", "The cache was moved from ripa to heki by Graske"),
]


def _related(earlier: str, later: str, *, is_later: bool = True):
    return relation(reading(earlier), reading(later), ALIKE, PARAMS, is_later=is_later)


@each(("one", "other"), SAME)
def test_one_fact_in_other_words(one, other):
    assert _related(one, other).relation == _related(other, one).relation == "same_fact"


@each(("one", "other"), APART)
def test_numbers_negation_dates_names_roles_and_qualifiers_keep_facts_apart(one, other):
    for is_later in (True, False):
        assert _related(one, other, is_later=is_later).relation != "same_fact"
        assert _related(other, one, is_later=is_later).relation != "same_fact"


@each(("earlier", "later"), CHANGED)
def test_a_newer_state_supersedes(earlier, later):
    found = _related(earlier, later)
    assert found.relation == "supersedes"
    assert found.reason
    assert not found.is_retraction


@pytest.mark.parametrize(("earlier", "later"), TAKEN_BACK)
def test_what_is_taken_back_is_told_apart(earlier, later):
    assert _related(earlier, later).is_retraction


@each(("earlier", "later"), UNRELATED)
def test_what_can_both_be_true_is_left_alone(earlier, later):
    for is_later in (True, False):
        assert _related(earlier, later, is_later=is_later).relation in {None, "may_be_one"}


PERHAPS = [
    ("Never deploy on Fridays after 15:00.", "Don't deploy on Fridays after 15:00.", "the same content words"),
    ("Run tests quickly", "Quickly run tests", "the same content words in another order"),
]


@pytest.mark.parametrize(("one", "other", "reason"), PERHAPS)
def test_the_same_content_words_may_be_one_fact_however_unlike(one, other, reason):
    found = relation(reading(one), reading(other), 0, PARAMS, is_later=True)
    assert (found.relation, found.reason) == ("may_be_one", reason)


def test_words_that_name_different_things_keep_even_a_proposal_away():
    assert _related("The frontend is tested in Chrome", "The backend is tested in Chrome").relation is None


def test_who_does_what_to_whom_may_not_be_one_fact():
    assert _related("Alice trains Bob", "Bob trains Alice").relation is None


def test_words_put_for_others_may_be_one_fact_where_they_are_alike_enough():
    one, other = reading("The team ships each release quickly"), reading("The team ships each release fast")
    least = round(PARAMS.proposal_similarity * 10_000)
    found = relation(one, other, least, PARAMS, is_later=True)
    assert (found.relation, found.reason) == ("may_be_one", "one says quickly, the other fast")
    assert relation(one, other, least - 1, PARAMS, is_later=True).relation is None


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("CI runs on GitHub Actions", "CI runs on Jenkins", "GitHub Actions against Jenkins"),
        ("Alice lives in Paris", "Alice lives in London", "Paris against London"),
    ],
)
@pytest.mark.parametrize("is_later", [True, False])
def test_two_places_of_one_thing_may_be_at_odds(one, other, said, is_later):
    found = _related(one, other, is_later=is_later)
    assert (found.relation, found.reason) == ("may_contradict", f"may be at odds, unless it is both: {said}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CI runs on GitHub Actions", "Backups run on Jenkins"),
        ("CI ran on GitHub Actions", "CI ran on Jenkins"),
        ("CI runs on GitHub Actions", "CI runs for Jenkins"),
        ("Alice met Bob in Paris", "Alice met Bob in London"),
        ("CI runs on GitHub Actions in March", "CI runs on Jenkins in April"),
    ],
)
def test_what_is_not_one_thing_at_one_time_is_not_at_odds(one, other):
    assert _related(one, other, is_later=False).relation is None


@pytest.mark.parametrize(
    ("earlier", "later", "reason", "words"),
    [
        ("The limit is 30 seconds", "The limit is 60s", "newer, and the number is another: 30 seconds against 60s",
         ("30 seconds", "60s")),
        ("We use tabs", "We now use spaces", "now spaces instead of tabs", ("tabs", "spaces")),
        ("The response cache is enabled", "The response cache is not enabled",
         "newer, and the negation is another: not enabled", ("not enabled",)),
        ("The release is on Friday", "The release is on Monday",
         "newer, and the date is another: Friday against Monday", ("Friday", "Monday")),
    ],
)  # fmt: skip
def test_reasons_show_words_as_they_were_written(earlier, later, reason, words):
    found = _related(earlier, later)
    assert (found.reason, found.words) == (reason, words)


@pytest.mark.parametrize(
    "text",
    ["Forget that the user likes tea", "Please forget that the service uses Python 3.11.", "Scratch that!",
     "Let's forget about the port", "Delete the memory about Alice."],
)  # fmt: skip
def test_what_only_takes_back(text):
    assert only_retracts(text)
    assert reading(text).is_retraction


@pytest.mark.parametrize(
    "text",
    ["The user no longer likes tea", "Ignore the warnings of eslint", "Forget that the port is 8080, it is 9090",
     "Forget that we use tabs but keep the editor", "Forget about tea. The user likes coffee", "Forget tokens on exit"],
)  # fmt: skip
def test_what_says_something_besides(text):
    assert not only_retracts(text)


def test_at_one_instant_neither_replaces_the_other():
    assert _related("The API port is 8080", "The API port is 9090", is_later=False).relation == "contradicts"


def test_a_score_below_the_threshold_merges_nothing():
    one, other = reading("User prefers dark mode"), reading("The user prefers dark mode.")
    least = round(PARAMS.same_words_similarity * 10_000)
    assert relation(one, other, least, PARAMS, is_later=True).relation == "same_fact"
    assert relation(one, other, least - 1, PARAMS, is_later=True).relation == "may_be_one"


def test_more_words_need_more_likeness():
    one, other = reading("User prefers dark mode"), reading("User prefers dark mode everywhere")
    least = round(PARAMS.more_words_similarity * 10_000)
    assert relation(one, other, least, PARAMS, is_later=True).reason == "the same with everywhere"
    perhaps = relation(one, other, least - 1, PARAMS, is_later=True)
    assert (perhaps.relation, perhaps.reason) == ("may_be_one", "one has more words: everywhere")


words = st.sampled_from(
    ["the", "user", "Alice", "Bob", "port", "cache", "8080", "9090", "not", "never", "is", "was", "uses", "prefers",
     "from", "to", "over", "before", "Monday", "March", "enabled", "disabled", "30s", "src/app.py", "now", "no",
     "longer", "used", "forget", "that", ",", ".", "?", "one", "two", "hundred", "can't"]
)  # fmt: skip
statements = st.lists(words, max_size=12).map(" ".join) | st.text(max_size=60)


@given(statements, statements)
def test_conflicts_and_one_fact_do_not_depend_on_the_order(one, other):
    mine, others = reading(one), reading(other)
    turned = [(conflict.kind, conflict.other, conflict.mine) for conflict in conflicts(others, mine)]
    assert [tuple(conflict) for conflict in conflicts(mine, others)] == turned
    same = [
        relation(*pair, ALIKE, PARAMS, is_later=False).relation == "same_fact"
        for pair in ((mine, others), (others, mine))
    ]
    assert same[0] == same[1]


@given(statements)
def test_a_statement_has_no_conflict_with_itself(text):
    assert conflicts(reading(text), reading(text)) == []


@given(statements, st.integers(2, 10**6).map(str))
def test_a_number_more_is_never_the_same_fact(text, number):
    for changed in (f"{text} {number}", f"{number} {text}"):
        assert _related(text, changed).relation != "same_fact"


@given(st.text(max_size=300))
def test_any_text_can_be_read(text):
    assert all(token.text for token in tokens(text))
    assert reading(text) == reading(text)


def test_a_long_text_is_read_in_linear_time():
    assert len(reading("a1" * 1_000_000).content) <= 1
    assert reading("not " * 500_000).negations
    assert reading("replaced from " * 500_000 + "now").content
