"""Draws mutations of `transforms` and `flows` by a seed and prints them as the list that `make mutants` tries.

Usage: draw_mutants.py SEED COUNT. Kinds take turns, no file gets two. What cannot change any answer is dropped by hand
from the list afterwards, and said there.
"""

from __future__ import annotations

import ast
import itertools
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "in": "not in", "is": "is not"}
_DROPPED = {"filter", "sort", "unique", "fill_null", "drop_nulls"}
_JOINED: dict[type[ast.operator], tuple[str, str]] = {
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
}


class Mutant(NamedTuple):
    """A line of a file, which of the lines that read so, and what it becomes."""

    kind: str
    file: str
    line: str
    nth: int
    becomes: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Everything that could be mutated in a file, a line each."""
    text = path.read_text()
    lines = text.splitlines()
    for node in _inside_functions(ast.parse(text)):
        for kind, line, start, end, old, new in _changes(node, lines):
            part = lines[line][start:end]
            if part.count(old) != 1:
                continue
            whole = lines[line]
            becomes = whole[:start] + part.replace(old, new) + whole[end:]
            nth = sum(other.strip() == whole.strip() for other in lines[: line + 1])
            yield Mutant(kind, str(path.relative_to(ROOT)), whole.strip(), nth, becomes.strip())


def _inside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                yield from ast.walk(statement)


_Change = tuple[str, int, int, int, str, str]


def _changes(node: ast.AST, lines: list[str]) -> Iterator[_Change]:
    """Kind, line (from 0), the columns within which something is replaced, what, and by what."""
    if isinstance(node, ast.Compare | ast.BoolOp | ast.BinOp):
        yield from _between_operands(node, lines)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        sign = "not " if isinstance(node.op, ast.Not) else "~"
        yield "negation", node.lineno - 1, node.col_offset, node.col_offset + len(sign), sign, ""
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "constant", *_span(node), str(node.value), str(node.value + 1)
    elif isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant) and type(node.value.value) is bool:
        yield "flag", *_span(node.value), str(node.value.value), str(not node.value.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DROPPED:
        line, start, end = node.lineno - 1, node.func.value.end_col_offset or 0, node.end_col_offset or 0
        if node.func.value.end_lineno == node.lineno == node.end_lineno:
            yield "dropped", line, start, end, lines[line][start:end], ""


def _between_operands(node: ast.Compare | ast.BoolOp | ast.BinOp, lines: list[str]) -> Iterator[_Change]:
    if isinstance(node, ast.Compare):
        between = _between(node.left, node.comparators[0])
        sign = lines[between[0]][between[1] : between[2]].strip() if between else ""
        if between and sign in _COMPARED and len(node.ops) == 1:
            yield "comparison", *between, sign, _COMPARED[sign]
    elif isinstance(node, ast.BoolOp):
        between = _between(node.values[0], node.values[1])
        if between:
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield "and/or", *between, old, new
    elif type(node.op) in _JOINED:
        between = _between(node.left, node.right)
        if between:
            yield "operator", *between, *_JOINED[type(node.op)]


def _span(node: ast.Constant) -> tuple[int, int, int]:
    return node.lineno - 1, node.col_offset, node.end_col_offset or 0


def _between(left: ast.expr, right: ast.expr) -> tuple[int, int, int] | None:
    """Where the operator between two operands stands, if all is on one line."""
    if left.end_lineno != right.lineno or left.end_col_offset is None:
        return None
    return right.lineno - 1, left.end_col_offset, right.col_offset


def drawn(seed: int, count: int) -> list[Mutant]:
    """Mutants of as many files; every kind in turn, fewer of `flows` than of `transforms`, of compiled loops none.

    Who reaches a line is told by a call beside it, which numba would not compile.
    """
    chance = random.Random(seed)
    by_kind: dict[str, list[Mutant]] = {}
    for folder, share in (("transforms", 1.0), ("flows", 0.6)):
        files = [path for path in sorted((ROOT / folder).glob("*.py")) if not path.stem.endswith("_kernel")]
        for mutant in (one for path in files for one in mutants(path)):
            if chance.random() < share:
                by_kind.setdefault(mutant.kind, []).append(mutant)
    taken: list[Mutant] = []
    for kind in itertools.islice(itertools.cycle(sorted(by_kind)), count):
        had = {mutant.file for mutant in taken}
        taken.append(chance.choice([mutant for mutant in by_kind[kind] if mutant.file not in had]))
    return sorted(taken, key=lambda mutant: (mutant.file, mutant.line))


def main() -> None:
    """Print the list."""
    for mutant in drawn(int(sys.argv[1]), int(sys.argv[2])):
        print("[[mutant]]")
        for name, value in mutant._asdict().items():
            print(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        print()


if __name__ == "__main__":
    main()
