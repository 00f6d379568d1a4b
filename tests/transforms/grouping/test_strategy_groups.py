"""Strategy texts that say the same thing share an id; opposites, other numbers, names, roles and steps never do."""

import time

import polars as pl
from each import each
from hypothesis import given
from hypothesis import strategies as st
from strategy_pairs import DIFFERENT, NOT_YET, SAME

from slowwave.transforms.grouping.strategy_groups import strategy_groups, strategy_key
from slowwave.transforms.language.inflection import inflection

COLUMNS = {name: pl.String() for name in ("project", "strategy", "strategy_id", "representative", "reason")}

ROLE_WORDS = [
    *["before", "after", "to", "from", "into", "onto", "as", "for", "in", "of", "over", "against", "under", "without"],
    *["except", "with", "using", "like", "than", "instead of", "rather than"],
]

verbs = st.sampled_from(["retry", "cache", "review", "fetch", "validate", "frobnicate"])
nouns = st.sampled_from(["request", "result", "schema", "page", "widget", "json", "yaml", "postgres"])
written = st.sampled_from([text for pair in [*SAME, *DIFFERENT] for text in pair])
texts = st.one_of(written, st.text(min_size=1).filter(lambda text: text.strip()))
rows = st.lists(st.tuples(st.sampled_from(["", "atlas", "borealis"]), texts), unique=True, max_size=12)


def frame(pairs):
    return pl.DataFrame(pairs, schema={"project": pl.String, "strategy": pl.String}, orient="row")


def groups(*strategies):
    return strategy_groups(frame([("p", strategy) for strategy in strategies]))


def ids(*strategies):
    found = groups(*strategies)
    by_text = dict(found.select("strategy", "strategy_id").iter_rows())
    return [by_text[strategy] for strategy in strategies]


def same(*strategies):
    return len(set(ids(*strategies))) == 1


def reasons(*strategies):
    return dict(groups(*strategies).select("strategy", "reason").iter_rows())


# ------------------------------------------------------------------------------------------------------ what is grouped


@each(("a", "b"), SAME)
def test_these_say_the_same_thing(a, b):
    assert same(a, b)


@each(("a", "b"), DIFFERENT)
def test_these_do_not(a, b):
    assert not same(a, b)


def test_most_rewordings_group():
    pairs = [*SAME, *NOT_YET]
    grouped = sum(same(a, b) for a, b in pairs)
    assert grouped / len(pairs) >= 0.93


def test_one_word_matches_itself_only_in_any_case():
    assert same("Caching", "caching", "CACHING.")
    words = ["cache", "caching", "cached", "use caching", "caching results", "a", "e"]
    assert len(set(ids(*words))) == len(words)


@each(
    "word", ["red", "bus", "sing", "being", "thing", "status", "pandas", "kubernetes", "need", "class", "this", "speed"]
)
def test_words_that_only_look_inflected_stay_as_they_are(word):
    assert inflection(word).base == word


@each(
    ("word", "base"),
    [
        ("retries", "retry"),
        ("retried", "retry"),
        ("caches", "cache"),
        ("caching", "cache"),
        ("patches", "patch"),
        ("scraping", "scrape"),
        ("scrapping", "scrap"),
        ("planned", "plan"),
        ("written", "write"),
        ("tying", "tying"),
        ("analysing", "analyze"),
        ("labeled", "label"),
        ("labelled", "label"),
        ("frobnicating", "frobnicate"),
        ("gronked", "gronk"),
        ("gropped", "grop"),
        ("gropes", "grope"),
        ("boxes", "box"),
        ("queries", "query"),
        ("children", "child"),
    ],
)
def test_inflected_words_lose_their_ending(word, base):
    assert inflection(word).base == base


def test_the_reason_says_how_a_text_differs_from_the_one_shown():
    shown = "retry with backoff"
    assert reasons(
        shown,
        "Retry, with backoff!",
        "please do retry with the backoff",
        "retrying with backoffs",
        "with backoff, retry",
        "using backoff when retrying",
        "rerun a failed job",
        "execute again a failing job",
    ) == {
        shown: "same text",
        "Retry, with backoff!": "case and punctuation",
        "please do retry with the backoff": "small words",
        "retrying with backoffs": "inflection",
        "with backoff, retry": "word order",
        "using backoff when retrying": "inflection, word order",
        "rerun a failed job": "same text",
        "execute again a failing job": "same text",
    }
    assert reasons("run tests", "execute the tests") == {
        "run tests": "same text",
        "execute the tests": 'paraphrase ("execute" for "run")',
    }


def test_the_shortest_text_stands_for_its_group_and_of_equals_the_first():
    found = groups("please run the tests", "run tests", "Run tests", "tests run")
    assert found["representative"].unique().to_list() == ["Run tests"]


def test_no_rows_give_no_rows_of_the_same_columns():
    assert groups().schema == pl.Schema(COLUMNS)
    assert groups("a b").schema == pl.Schema(COLUMNS)


# ----------------------------------------------------------------------------------------------------------- properties


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_makes_no_difference(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    assert strategy_groups(frame(shuffled)).equals(strategy_groups(frame(pairs)))


@given(rows, st.integers(0, 12))
def test_further_texts_change_no_id(pairs, first):
    whole = strategy_groups(frame(pairs))
    batches = [part for part in (pairs[:first], pairs[first:]) if part]
    apart = pl.concat([strategy_groups(frame(part)) for part in batches] or [whole])
    key = ["project", "strategy", "strategy_id"]
    assert apart.select(key).sort(key).equals(whole.select(key).sort(key))


@given(rows)
def test_a_project_is_grouped_as_if_it_were_alone(pairs):
    whole = strategy_groups(frame(pairs))
    for project in {project for project, _ in pairs}:
        alone = strategy_groups(frame([pair for pair in pairs if pair[0] == project]))
        assert whole.filter(project=project).equals(alone)


@given(rows)
def test_grouping_what_stands_for_the_groups_changes_nothing(pairs):
    found = strategy_groups(frame(pairs))
    shown = found.select("project", strategy="representative", strategy_id="strategy_id").unique()
    again = strategy_groups(shown.select("project", "strategy"))
    assert (again["strategy"] == again["representative"]).all()
    assert again.select(shown.columns).equals(shown.sort("project", "strategy"))
    assert not again.select("project", "strategy_id").is_duplicated().any()


@given(rows)
def test_every_text_has_one_row_and_a_group_shows_one_of_its_own_texts(pairs):
    found = strategy_groups(frame(pairs))
    assert found.select("project", "strategy").rows() == sorted(pairs)
    members = set(found.select("project", "strategy_id", "strategy").rows())
    assert set(found.select("project", "strategy_id", "representative").rows()) <= members
    assert found.filter(pl.col("strategy") == pl.col("representative"))["reason"].unique().to_list() in (
        [],
        ["same text"],
    )


# --------------------------------------------------------------------------------------------------------------- guards


@given(verbs, nouns, nouns, st.integers(2, 99), st.integers(2, 99))
def test_another_number_is_another_strategy(verb, noun, other, m, n):
    a, b = f"{verb} the {noun} {m} times with {n} {other}s", f"{verb} the {noun} {n} times with {m} {other}s"
    assert same(a, b) == (m == n)


@given(verbs, nouns, st.sampled_from(["do not", "don't", "never", "avoid", "Do NOT", "not"]))
def test_a_negated_strategy_is_another_strategy(verb, noun, negation):
    assert not same(f"{verb} the {noun} on timeout", f"{negation} {verb} the {noun} on timeout")


@given(
    verbs,
    nouns,
    nouns,
    st.sampled_from(ROLE_WORDS),
)
def test_swapped_roles_are_another_strategy(verb, a, b, role):
    assert same(f"{verb} {a} {role} {b}", f"{verb} {b} {role} {a}") == (a == b)


@given(nouns, nouns, st.sampled_from(["checks", "calls", "bites", "is checking", "checked", "should check", "zaps"]))
def test_who_does_it_to_whom_matters(a, b, verb):
    assert same(f"the {a} {verb} the {b}", f"the {b} {verb} the {a}") == (a == b)


@given(st.lists(verbs, min_size=2, max_size=4, unique=True), st.sampled_from([", ", ", then ", " -> ", " then "]))
def test_steps_in_another_order_are_another_strategy(steps, joiner):
    assert not same(joiner.join(steps), joiner.join(steps[::-1]))


@given(verbs, nouns, verbs, nouns, st.sampled_from(["before", "when", "after", "instead of", "without", "unless"]))
def test_a_subordinate_phrase_may_stand_first(verb, noun, other_verb, other, word):
    main, subordinate = f"{verb} the {noun}", f"{word} the {other} {other_verb}"
    assert same(f"{main} {subordinate}", f"{subordinate}, {main}")


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=8), verbs)
def test_quoted_values_are_kept_letter_by_letter(value, verb):
    quoted = value.replace("`", "")
    assert not same(f"{verb} the value `{quoted}`", f"{verb} the value `{quoted}s`")
    assert same(f"{verb} the value `{quoted}`", f"{verb} value `{quoted}`.")


@given(written, st.sampled_from([str.upper, str.lower, "  {} ".format, "“{}”".format, "{}…".format]))
def test_case_and_marks_around_a_text_make_no_difference(text, change):
    changed = change(text)
    if any(mark in text for mark in "`'\"") and changed.strip() != text:
        return  # quoted values keep their case, and quotes in quotes stay
    assert same(text, changed)


# ------------------------------------------------------------------------------- what the systems before this got wrong


def test_a_text_of_one_word_does_not_match_everything():
    found = ids("a", "retry with a backoff", "gamma", "alpha beta gamma", "beta")
    assert len(set(found)) == len(found)


def test_opposite_strategies_are_apart():
    assert not same("do use the cache", "do not use the cache")
    assert not same("always mock the database in tests", "never mock the database in tests")


@given(
    st.permutations(["retry with backoff", "retry with backoff and jitter", "retry with jitter", "backoff with retry"])
)
def test_groups_do_not_depend_on_who_came_first_nor_on_which_side_is_asked(order):
    found = groups(*order)
    sizes = found.group_by("strategy_id").len()["len"].sort().to_list()
    assert sizes == [1, 1, 2]
    assert same("backoff with retry", "retry with backoff")
    assert same("retry with backoff", "backoff with retry")


# -------------------------------------------------------------------------------------------------------- hostile texts

HOSTILE = {
    "one megabyte": "retry with backoff " * 60_000,
    "one long word": "a" * 1_000_000,
    "wide characters": "重試" * 400_000,
    "quotes": "`" * 1_999,
    "open quotes": "`a " * 660,
    "opening quotes": "«" * 60_000,
    "brackets": "(" * 1_999,
    "brackets around brackets": "(" * 999 + "x y" + ")" * 999,
    "hyphens": "a-" * 990 + "b",
    "digits": "9" * 1_999,
    "digits and commas": "9,999" * 390,
    "control characters": "\x00\x01\x1b[31mretry\x07\x7f",
    "only control characters": "\x00\x01",
    "emoji": "🤖👍🏽👩‍💻",
    "right to left": "\u202eאל תנסה שוב\u202c",
    "combining": "e" + "\u0301" * 1_500,
    "punctuation": "?!...",
    "markup": "<script>alert(1)</script>",
    "sql": "'; DROP TABLE heuristics; --",
    "negations": "not " * 60,
    "prepositions": "to from with of in " * 12,
    "uses": "use " * 60,
    "numbers": "1 2 3 4 5 " * 10,
}


@each("name", HOSTILE)
def test_hostile_texts_are_read_and_quickly(name):
    text = HOSTILE[name]
    started = time.process_time()
    found = groups(text, text + " end", "retry with backoff")
    assert time.process_time() - started < 2
    assert found.height == 3
    assert found["strategy_id"].n_unique() == 3


@given(st.text())
def test_any_text_has_a_key(text):
    assert strategy_key(text).key


def test_many_texts_take_time_in_proportion():
    def seconds(count):
        batch = [f"retry step {number} with backoff" for number in range(count)]
        started = time.process_time()
        assert groups(*batch)["strategy_id"].n_unique() == count
        return time.process_time() - started

    seconds(100)
    assert seconds(8_000) < 40 * max(seconds(1_000), 0.01)


# ------------------------------------------------------------------------------------------------ one word more or less

READABLE = sorted({text for pair in [*SAME, *DIFFERENT] for text in pair if text.isascii() and '"' not in text})


@each("word", ["frobnicated", "not", "never", "without", "except", "unless", "only", "7", "before"])
def test_no_word_that_says_something_goes_unheard(word):
    for text in READABLE:
        if text == "no tests and docs" and word in {"not", "never"}:
            continue  # "no tests and not docs" says the same
        said = text.split()
        longer = [" ".join([*said[:at], word, *said[at:]]) for at in range(len(said) + 1)]
        assert [other for other in longer if strategy_key(other).key == strategy_key(text).key] == []


def test_ids_of_the_released_method():
    assert ids("retry with exponential backoff", "convert json to yaml", "caching", "do not retry 3 times") == [
        "be59938b555a73fa",
        "62b29ebab771b104",
        "aef1be01df72d73c",
        "1f0929082bf8c849",
    ]
