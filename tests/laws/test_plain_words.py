"""Screens, recipes and help use the words of the glossary, and none of those that newcomers stumbled over."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.transforms.core.glossary import GLOSSARY
from slowwave.transforms.core.schema import columns, table_comment
from slowwave.transforms.graph import EVIDENCE, PUBLISHED
from slowwave.transforms.landing.tables import LANDED

ROOT = Path(str(resources.files("slowwave")))
# by pattern what to say instead
INSTEAD = {
    r"\becho(es|ed|ing)?\b": "quoted",
    r"\brepeated word for word\b": "quoted",
    r"\bparroted\b": "quoted, as the prompt did",
    r"\bwhatever words\b": "in other words",
    r"\brelied on\b|\breferred to\b": "used",
    r"\bperson's word\b": "needs review",
    r"\btake[ns]? (it )?apart\b": "explained",
    r"\blets? go of\b": "deleted, released",
    r"\bworth a look\b": "review priority",
    r"\b(highest )?lower bound among\b|\bhighest lower bound\b": "best so far",
    r"\bno detected use\b": "never visibly used",
    r"\bat hand\b": "can be read",
}
# names of methods, options and columns, which others rely on
NAMES = re.compile(r"echo/1|[a-z_]*echoed_[a-z_]+|`[^`]*`|\bechoed \(quoted\)")


def page_texts() -> Iterator[tuple[str, str]]:
    """Each sentence that the dashboard, the report or help may show: a literal that is no docstring."""
    for folder in ("dashboards", "flows/cli", "flows/mcp"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            of_code = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if not isinstance(node, ast.Constant) or id(node) in of_code or not isinstance(node.value, str):
                    continue
                if " " in node.value.strip():
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def recipe_texts() -> Iterator[tuple[str, str]]:
    for name, recipe in cookbook().items():
        yield name, recipe.question
        for column in recipe.columns:
            yield f"{name}.{column.name}", column.meaning


def help_texts() -> Iterator[tuple[str, str]]:
    """The help of each command: its docstring."""
    for path in sorted((ROOT / "flows" / "cli" / "commands").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", ast.get_docstring(node) or ""


def declared_texts() -> Iterator[tuple[str, str]]:
    """What the tables say of themselves and of their columns."""
    for table in {*LANDED, *EVIDENCE, *PUBLISHED}:
        yield table.name, table_comment(table)
        for column in columns(table):
            yield f"{table.name}.{column.name}", column.description


@pytest.mark.parametrize(
    "texts",
    [page_texts, recipe_texts, GLOSSARY.items, help_texts, declared_texts],
    ids=["pages", "recipes", "glossary", "help", "columns"],
)
def test_no_word_needs_a_second_reading(texts):
    found = [
        f"{place}: {text!r}: say {better}"
        for place, text in texts()
        for pattern, better in INSTEAD.items()
        if re.search(pattern, NAMES.sub("", text), re.IGNORECASE)
    ]
    assert found == []


def test_a_meaning_is_one_sentence_or_two():
    for word, meaning in GLOSSARY.items():
        assert meaning.endswith("."), word
        assert len(meaning) < 120, word
        assert not meaning.lower().startswith(f"{word} "), word
