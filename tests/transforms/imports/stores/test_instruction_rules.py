"""The rules of a section of instructions, whatever Markdown people write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.imports.stores.claude_memories import memories_of, split_rules


def contents(text: str) -> list[str]:
    return [rule.content for rule in split_rules(text)]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Be brief.", ["Be brief."]),
        ("Be brief\nand kind.\n\nNo jokes.", ["Be brief\nand kind.", "No jokes."]),
        ("- Use tabs.\n* No emojis.\n+ Be brief.\n2) Test it.", ["Use tabs.", "No emojis.", "Be brief.", "Test it."]),
        ("- Use tabs\n  - but not here\n    - nor there\n- Next", ["Use tabs\n- but not here\n  - nor there", "Next"]),
        ("1. One\n   goes on\n\n   and on\n2. Two", ["One\ngoes on\n\nand on", "Two"]),
        ("- lazy\ncontinued\n\nA paragraph.", ["lazy\ncontinued", "A paragraph."]),
        ("- One\n\n- Two", ["One", "Two"]),
        # code
        ("Run it.\n\n```sh\n- no item\n# no heading\n```", ["Run it.\n\n```sh\n- no item\n# no heading\n```"]),
        ("- Run it:\n  ```\n  make\n  ```\n- Next", ["Run it:\n```\nmake\n```", "Next"]),
        ("```\nalone\n\n- x\n```\nAfter it.", ["```\nalone\n\n- x\n```", "After it."]),
        ("~~~\n```\n~~~~\nAfter it.", ["~~~\n```\n~~~~", "After it."]),
        ("```\nnever ended\n- x", ["```\nnever ended\n- x"]),
        # tables
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd.", ["| a | b |\n|---|---|\n| 1 | 2 |", "End."]),
        ("Ports:\n\n| a |\n|---|\n| 1 |", ["Ports:\n\n| a |\n|---|\n| 1 |"]),
        # what leads to a list belongs to its items: alone, they may say the opposite
        ("Never:\n- use emojis\n- push", ["Never: use emojis", "Never: push"]),
        ("Before a\npush, **always**:\n\n1. run tests", ["Before a push, **always**: run tests"]),
        ("**Style**\n- Use tabs", ["**Style** Use tabs"]),
        ("Like so:\n\nBe brief.", ["Like so:", "Be brief."]),
        ("Never:\n- push\n\nBut:\n- pull", ["Never: push", "But: pull"]),
        # no rules
        ("<!-- - a comment -->\n- Rule\n<!--\n- more\n--> Left\n", ["Rule", "Left"]),
        ("<!-- never ended\n- Rule", ["<!-- never ended", "Rule"]),
        ("Use `<!-- x -->` here.", ["Use `<!-- x -->` here."]),
        ("```\n<!-- code -->\n```", ["```\n<!-- code -->\n```"]),
        ("@docs/a.md\n@~/b.md\n\n- @c.md\n- Read @d.md first.", ["Read @d.md first."]),
        ("Rules\n=====\nBe brief.\n\n---\n***\n- - -\nNo jokes.", ["Be brief.", "No jokes."]),
        ("-\n- \n1.\n", ["-\n- \n1."]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_rules_are_items_and_paragraphs(text: str, rules: list[str]):
    assert contents(text) == rules


def test_lines_may_end_as_in_any_system_and_a_file_need_not_have_headings():
    text = "Be brief.\r\n\r\n- Use tabs.\r\n  Always.\r\n"
    found = [one.fields["content"] for one in memories_of("~/shop/CLAUDE.md", text) if one.rule]
    assert found == ["Be brief.", "Use tabs.\nAlways."]
    assert [one.memory_id for one in memories_of("~/shop/CLAUDE.md", text)] == [
        one.memory_id for one in memories_of("~/shop/CLAUDE.md", text.replace("\r", ""))
    ]


def test_front_matter_is_no_rule():
    text = "---\npaths:\n- src/**\n---\n# Style\n- Use tabs.\n"
    (section, rule) = memories_of("~/shop/.claude/rules/style.md", text)
    assert section.is_split
    assert rule.fields["content"] == "Use tabs."
    assert rule.fields["claude-memory"] == {"paths": ["src/**"]}


def test_equal_rules_are_told_apart_and_alike_in_what_does_not_count():
    one, two, three = split_rules("- Use tabs.\n- **use** TABS!\n- Use  `tabs`\n")
    assert [two.key, three.key] == [f"{one.key}-2", f"{one.key}-3"]


def test_an_id_tells_no_secret():
    keys = [split_rules(f"Log in with password={word}-{word}7Xq9.")[0].key for word in ("hunter", "another")]
    assert keys[0] == keys[1]


def test_a_very_long_section_takes_no_more_than_its_length():
    lines = 40_000
    assert len(split_rules("- Rule.\n" * lines)) == lines
    assert len(split_rules("<!--\n" * lines)) == 1
    assert len(split_rules("a:\n\n" * lines)) == lines
    assert len(split_rules("- " * lines + "x")) == 1
    assert split_rules("\n" * lines + "```\n" * (lines + 1))


said = ["- ", "1. ", "  ", "\t", "word ", "other", ":\n", "\n", "\n\n", "```", "~~~\n", "|a|\n", "**", "\u2028"]
left_out = ["<!--", "-->", "@x", "---\n"]


@given(st.lists(st.sampled_from(said), max_size=25).map("".join))
def test_no_word_is_lost(text: str):
    told = "\n".join(f"{rule.lead}\n{rule.content}" for rule in split_rules(text))
    assert {one for one in ("word", "other") if one in text} == {one for one in ("word", "other") if one in told}


@given(st.lists(st.sampled_from([*said, *left_out]), max_size=25).map("".join))
def test_whatever_the_text_each_rule_has_a_key_of_its_own(text: str):
    rules = split_rules(text)
    assert len({rule.key for rule in rules}) == len(rules)
    assert all(rule.content.strip() == rule.content != "" for rule in rules)
