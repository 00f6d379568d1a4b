"""The shape of the project: what may import what, and what pure code may not do.

Every rule is a function from source text to findings, so that each is also shown to catch what it forbids.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from each import each

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("transforms", "flows", "data", "dashboards")

# What a transform may import: modules that compute, without reading a clock, a file or the environment.
PURE_MODULES = frozenset(
    {
        "__future__", "abc", "base64", "bisect", "collections", "contextlib", "copy", "dataclasses", "datetime",
        "decimal", "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math",
        "operator", "random", "re", "shlex", "statistics", "string", "struct", "textwrap", "types", "typing",
        "typing_extensions", "unicodedata",
        "annotated_types", "numba", "numpy", "orjson", "polars", "pydantic", "pydantic_core", "scipy",
        "slowwave.transforms",
    }
)  # fmt: skip
# The transforms that load others at run time: loops that are compiled (whether they are changes no result, and is
# said), and methods, which are named where nothing heavy may be imported.
LOADING = {
    "transforms/core/compiled.py": frozenset({"imports importlib", "imports logging"}),
    "transforms/core/methods/registry.py": frozenset({"imports importlib"}),
}
# The polars submodule that is all input and output.
IMPURE_SUBMODULES = frozenset({"polars.io"})
# Built-in names a transform may not even mention; hash() of text differs from process to process.
IMPURE_BUILTINS = frozenset({"__import__", "breakpoint", "eval", "exec", "hash", "input", "open", "print"})
CLOCKS = frozenset({"now", "today", "utcnow"})
UNSEEDED = frozenset({"sample", "shuffle"})
IO_NAME = re.compile(r"(read|scan|sink|write)_")
# Names polars itself gives to reading and writing: forbidden even where they are not called (`f = pl.read_csv`).
POLARS_IO = frozenset(n for thing in (pl, pl.DataFrame, pl.LazyFrame) for n in dir(thing) if IO_NAME.match(n))

# The modules that run flows, and so may import Prefect when they are imported.
# Nobody else may import these at top level either: that would load Prefect all the same.
PREFECT_MODULES = frozenset({"flows/schedule/flows.py"})


@cache
def parsed(source: str) -> ast.Module:
    """The tree of a source: one is looked at by several rules."""
    return ast.parse(source)


def within(module: str, names: frozenset[str]) -> bool:
    """Whether a module is one of these or lies inside one."""
    return any(module == name or module.startswith(name + ".") for name in names)


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The (module, name) pairs an import statement brings in; name is '' for a plain import."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield from ((module, alias.name) for alias in node.names)


def import_impurity(module: str, name: str) -> str | None:
    """What is wrong with importing this into a transform."""
    full = f"{module}.{name}" if name else module
    if within(module, IMPURE_SUBMODULES) or within(full, IMPURE_SUBMODULES):
        return f"imports {full}"
    if not within(module, PURE_MODULES) and not (name and full in PURE_MODULES):
        return f"imports {full}"
    if name and (IO_NAME.match(name) or name == "*"):
        return f"imports {full}"
    if module == "random" and name != "Random":
        return f"imports {full}" if name else None
    return None


def attribute_impurity(node: ast.Attribute) -> str | None:
    """What is wrong with mentioning this attribute in a transform, called or not."""
    if node.attr in POLARS_IO:
        return f"does I/O with {node.attr}"
    if node.attr in CLOCKS:
        return f"reads a clock with {node.attr}"
    if isinstance(node.value, ast.Name) and node.value.id == "random" and node.attr != "Random":
        return f"draws from the shared random.{node.attr}"
    return None


def call_impurity(node: ast.Call) -> str | None:
    """What is wrong with this call in a transform."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if isinstance(node.func, ast.Attribute):
        if IO_NAME.match(name) and name not in POLARS_IO:
            return f"does I/O with {name}"
        if name == "open":
            return "does I/O with open"
        if name == "astimezone" and not node.args and not node.keywords:
            return "uses the local time zone with astimezone()"
        if name in UNSEEDED and not any(k.arg == "seed" for k in node.keywords):
            return f"draws at random with {name} and no seed"
    if name == "Random" and not node.args and not node.keywords:
        return "draws at random with Random and no seed"
    return None


def impurities(source: str) -> list[str]:
    """What a transform's source does that pure code may not, each as 'line N: …'."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(parsed(source)):
        problems: list[str | None] = []
        if isinstance(node, ast.Import | ast.ImportFrom):
            problems = [import_impurity(module, name) for module, name in imported(node)]
        elif isinstance(node, ast.Attribute):
            problems = [attribute_impurity(node)]
        elif isinstance(node, ast.Call):
            problems = [call_impurity(node)]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in IMPURE_BUILTINS:
            problems = [f"uses {node.id}"]
        found += [(getattr(node, "lineno", 0), problem) for problem in problems if problem]
    return [f"line {line}: {problem}" for line, problem in sorted(found)]


def is_type_checking(test: ast.expr) -> bool:
    """Whether a condition is TYPE_CHECKING, under which nothing runs."""
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def run_on_import(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported: all but function bodies and TYPE_CHECKING blocks."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and is_type_checking(child.test):
            for statement in child.orelse:
                yield statement
                yield from run_on_import(statement)
            continue
        yield child
        yield from run_on_import(child)


def prefect_on_import(source: str) -> list[str]:
    """The imports in this source that load Prefect as soon as the module is imported, each as 'line N: …'."""
    loads_prefect = frozenset(
        {"prefect"} | {"slowwave." + path.removesuffix(".py").replace("/", ".") for path in PREFECT_MODULES}
    )
    return [
        f"line {getattr(node, 'lineno', 0)}: imports {module}"
        for node in run_on_import(parsed(source))
        for module, name in imported(node)
        if within(module, loads_prefect) or (name and within(f"{module}.{name}", loads_prefect))
    ]


# Each room imports itself, rooms before it, and what lies at the top of lower packages.
ROOMS = {
    "transforms": (
        "core", "language", "landing", "imports", "evidence", "grouping", "learning", "lift", "usage", "health",
        "observations", "decisions", "llm",
    ),
    "flows": (
        "kernel", "engines", "lake", "land", "imports", "publish", "llm", "lifetime", "nightly", "ask", "decide",
        "push", "publish_to", "care", "capture", "mcp", "schedule", "cli",
    ),
    "dashboards": ("cookbook", "charts", "overview", "report", "app"),
}  # fmt: skip
# What is in no room: in `transforms` what is made of all rooms, in `dashboards` what every room stands on.
AT_THE_TOP = {
    "transforms": frozenset({"graph", "params", "params_stated"}),
    "flows": frozenset[str](),
    "dashboards": frozenset({"links", "templates", "words"}),
}
TOP_ABOVE = frozenset({"transforms"})
# Commands that show what dashboards make of the published tables.
SHOWING = re.compile(
    r"flows/(ask/(report|sql|why/(items|learning_screens))|mcp/(tool_answers|server)"
    r"|cli/(dashboard(_script)?|commands/edit_lines))\.py"
)
NOTEBOOKS = "dashboards/notebook"  # they are run, and nothing imports them
MOST_FILES = 16  # in a folder, its __init__ apart


def is_reachable(path: str, package: str, room: str) -> bool:
    """Whether a file may import from a room; `room` is a module where that lies at the top."""
    own, *rooms, _ = path.split("/")
    if package == own:
        order = ROOMS[own]
        if room in order:
            return not rooms or order.index(room) <= order.index(rooms[0])
        return not rooms or own not in TOP_ABOVE
    if own == "flows":
        return package != "dashboards" or SHOWING.fullmatch(path) is not None
    if own == "transforms":
        return False
    return rooms[:1] in (["report"], ["app"]) or room in {"core", "kernel", "ask"}


def not_below(path: str, source: str) -> list[str]:
    """The imports of a file that reach above its room, or into a package that may not be reached from it."""
    found = []
    for node in ast.walk(parsed(source)):
        for module, name in imported(node):
            _, package, room, *_ = [*f"{module}.{name}".split("."), "", ""]
            if module.startswith("slowwave.") and not is_reachable(path, package, room):
                found.append(f"line {getattr(node, 'lineno', 0)}: imports {module}")
    return found


def circle(imports: Mapping[str, set[str]]) -> list[str]:
    """Modules of which each imports the next, and the last the first; none where there is no such circle."""
    done: set[str] = set()

    def walk(module: str, above: tuple[str, ...]) -> list[str]:
        if module in above:
            return [*above[above.index(module) :]]
        if module not in done:
            for other in sorted(imports.get(module, ())):
                if found := walk(other, (*above, module)):
                    return found
            done.add(module)
        return []

    return next((found for module in sorted(imports) if (found := walk(module, ()))), [])


def imports_among(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Which of these modules (by name) each imports, also where it does so only in a function."""
    return {
        module: {
            other
            for node in ast.walk(parsed(source))
            for named, name in imported(node)
            for other in (named, f"{named}.{name}")
            if other in sources and other != module
        }
        for module, source in sources.items()
    }


# Who opens Parquet files besides the room of the lake: what is delivered, what people get and bring, and how any is
# written.
PARQUET_MODULES = frozenset(
    {
        "flows/kernel/store.py",
        "flows/land/formats/parquet.py",
        "flows/ask/export.py",
        "flows/ask/output.py",
        "flows/ask/connection.py",
    }
)
_PARQUET_CALL = re.compile(
    r"\b(?:read|scan|sink|write)_parquet\(|\bread_(?:metadata|table|schema)\(|\bParquet(?:File|Writer|Dataset)\b"
)


def parquet_opened(path: str, source: str) -> list[str]:
    """The lines of a file outside the room of the lake that open a Parquet file, also in SQL."""
    if path.startswith("flows/lake/") or path in PARQUET_MODULES:
        return []
    return [
        f"line {number}: {line.strip()}"
        for number, line in enumerate(source.splitlines(), 1)
        if _PARQUET_CALL.search(line)
    ]


# Who touches files as such besides `flows/kernel/storage`: a file of the lake may be an object in a bucket.
_TOUCHES = re.compile(
    r"\b(?:file|each|piece\.file|lake|settings)\.(?:path|root|lake_folder)\.(?:stat|exists|is_dir|is_file|unlink|open|"
    r"iterdir|glob|rglob|read_\w+|write_\w+|replace|rename|mkdir)\(|"
    r"\bevidence_path\([^()]*(?:\([^()]*\))?[^()]*\)\.(?:stat|exists|unlink|open)\(|"
    r"\b(?:Path|Lake|LandedViews|explained)\((?:[^()]*, )?\w*settings(?:_from_environment\(\))?\.lake\b(?!\.)|"
    r"\((?:\w+\.)*(?:lake|lake_folder|root) / [^()]*\)\.\w+\("
)
MAY_TOUCH = frozenset(
    {
        "flows/care/disk.py",  # weighs what a disk holds, the copies of a bucket's files too
        "flows/lake/schema_views.py",  # says how DuckDB alone reads a folder
        "flows/care/doctor.py",  # looks for what was left half-written in a folder
    }
)


def lake_touched(path: str, source: str) -> list[str]:
    """The lines that read or write a file of the lake without asking where it is kept."""
    if path.startswith("flows/kernel/storage/") or path in MAY_TOUCH:
        return []
    return [
        f"line {number}: {line.strip()}" for number, line in enumerate(source.splitlines(), 1) if _TOUCHES.search(line)
    ]


def modules_under(*folders: str) -> list[str]:
    """The Python files in these folders, as paths from the root."""
    return sorted(p.relative_to(ROOT).as_posix() for folder in folders for p in (ROOT / folder).rglob("*.py"))


def found_in(paths: Sequence[str], rule: Callable[[str, str], Sequence[str]]) -> list[str]:
    """What a rule finds in these files, each behind the path it is given with the text."""
    assert paths
    return [f"{path}: {one}" for path in paths for one in rule(path, (ROOT / path).read_text(encoding="utf-8"))]


def loaded_by(statement: str, package: str, cwd: Path) -> list[str]:
    """The modules of a package that a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*(m for m in sys.modules if m.split('.')[0] == {package!r}), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


# ------------------------------------------------------------------------------------------------- the project as it is


def test_transforms_are_pure() -> None:
    excused = {(path, what) for path, some in LOADING.items() for what in some}
    found = found_in(modules_under("transforms"), lambda _, source: impurities(source))
    assert [one for one in found if (one.split(":", 1)[0], one.split(": ")[2]) not in excused] == []


@each("path", [path for path in modules_under("transforms") if path.endswith("_kernel.py")])
def test_a_kernel_stands_alone(path: str) -> None:
    """numba keeps a compiled loop until its own file changes: what it took from another would go on as it was."""
    own = [
        module
        for node in ast.walk(parsed((ROOT / path).read_text(encoding="utf-8")))
        for module, _ in imported(node)
        if within(module, frozenset({"slowwave"}))
    ]
    assert own == ["slowwave.transforms.core.compiled"]


def test_the_rules_have_something_to_look_at() -> None:
    for package in PACKAGES:
        assert f"{package}/__init__.py" in modules_under(package)
    assert {"read_parquet", "scan_parquet", "sink_parquet", "write_parquet", "write_ndjson"} <= POLARS_IO


def test_prefect_is_imported_only_where_flows_run() -> None:
    paths = {"__init__.py", *modules_under(*PACKAGES)} - PREFECT_MODULES
    assert found_in(sorted(paths), lambda _, source: prefect_on_import(source)) == []


def test_the_command_line_starts_without_prefect(tmp_path: Path) -> None:
    assert loaded_by("import slowwave.flows.cli.main", "prefect", tmp_path) == []


def test_the_producers_writer_starts_without_prefect(tmp_path: Path) -> None:
    assert loaded_by("import slowwave", "prefect", tmp_path) == []


def test_what_is_loaded_is_seen(tmp_path: Path) -> None:
    assert "xml.dom" in loaded_by("import xml.dom", "xml", tmp_path)


@pytest.mark.parametrize("name", [*PACKAGES, "tests"])
def test_only_one_import_name_is_installed(name: str, tmp_path: Path) -> None:
    code = f"import importlib.util, slowwave; raise SystemExit(importlib.util.find_spec({name!r}) is not None)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr or f"{name} is importable on its own"


def test_every_folder_of_modules_is_in_the_wheel() -> None:
    """A folder that setup.py does not find works in the checkout and is absent once installed."""
    code = (
        "import setuptools\nfrom distutils.core import run_setup\n"
        "print(*run_setup('setup.py', stop_after='init').packages, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    folders = {Path(path).parent.as_posix() for path in modules_under(*PACKAGES)} - {NOTEBOOKS}
    assert {*done.stdout.split()} == {"slowwave"} | {"slowwave." + folder.replace("/", ".") for folder in folders}


def test_a_room_imports_only_rooms_below_it() -> None:
    assert found_in(modules_under(*ROOMS), not_below) == []


def test_files_of_the_lake_are_opened_in_its_room() -> None:
    assert found_in(["__init__.py", *modules_under("flows", "dashboards")], parquet_opened) == []


@pytest.mark.parametrize(
    "source",
    [
        "frame = pl.read_parquet(path)",
        'SQL = "FROM read_parquet($files)"',
        "with pq.ParquetFile(path) as file:",
        "pq.read_metadata(path)",
    ],
)
def test_a_file_of_the_lake_that_is_opened_elsewhere_is_caught(source: str) -> None:
    assert parquet_opened("flows/ask/why/why.py", source)
    assert parquet_opened("flows/lake/lake.py", source) == []


def test_files_of_the_lake_are_touched_where_they_are_kept() -> None:
    assert found_in(["__init__.py", *modules_under("flows", "dashboards")], lake_touched) == []


@each(
    "source",
    [
        "size = file.path.stat().st_size",
        "file.path.unlink(missing_ok=True)",
        "if lake.root.is_dir():",
        "lake.evidence_path(table, day, names[table]).exists()",
        "Lake(Path(settings.lake))",
        "LandedViews(settings.lake, cut)",
        'files = (lake / "memories").glob("day=*/*.parquet")',
        'text = (settings.lake_folder / "FORMAT").read_text()',
    ],
)
def test_a_file_of_the_lake_that_is_touched_elsewhere_is_caught(source: str) -> None:
    assert lake_touched("flows/ask/why/why.py", source)
    assert lake_touched("flows/kernel/storage/folder.py", source) == []


def test_no_files_import_each_other_in_a_circle() -> None:
    paths = modules_under(*PACKAGES)
    named = {f"slowwave.{path.removesuffix('.py').replace('/', '.')}": (ROOT / path).read_text() for path in paths}
    assert circle(imports_among(named)) == []


@pytest.mark.parametrize("package", ROOMS)
def test_at_the_top_lies_only_what_is_of_all_rooms(package: str) -> None:
    assert {path.stem for path in (ROOT / package).glob("*.py")} == {"__init__", *AT_THE_TOP[package]}
    folders = {path.name for path in (ROOT / package).iterdir() if (path / "__init__.py").exists()}
    assert folders == set(ROOMS[package])


@each("folder", sorted({path.rpartition("/")[0] for path in modules_under(*ROOMS)} - {NOTEBOOKS}))
def test_a_room_is_small_and_says_what_it_is(folder: str) -> None:
    files = [path for path in (ROOT / folder).glob("*.py") if path.name != "__init__.py"]
    assert len(files) <= MOST_FILES
    said = ast.get_docstring(parsed((ROOT / folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert len(re.findall(r"[.;:?](?:\s|$)", said)) >= 2


@pytest.mark.parametrize("folder", ["flows/publish/audits", "dashboards/cookbook/queries"])
def test_queries_lie_in_small_folders_by_what_they_ask_about(folder: str) -> None:
    assert list((ROOT / folder).glob("*.sql")) == []
    assert all(len(list(path.glob("*.sql"))) <= MOST_FILES for path in (ROOT / folder).iterdir())


@each(
    ("path", "source"),
    [
        ("transforms/core/hashing.py", "from slowwave.transforms.landing.tables import Memories"),
        ("transforms/core/hashing.py", "from slowwave.transforms.params import Params"),
        ("transforms/usage/need_fits.py", "from slowwave.transforms.health import verdicts"),
        ("transforms/llm/prompts.py", "from slowwave.flows.kernel.lock import holder"),
        ("flows/kernel/lock.py", "def f():\n    from slowwave.flows.lake.lake import Lake"),
        ("flows/nightly/nightly.py", "from slowwave.flows.schedule import flows"),
        ("flows/nightly/nightly.py", "from slowwave.dashboards.report.page import report_html"),
        ("dashboards/charts/theme.py", "from slowwave.dashboards.report import act"),
        ("dashboards/charts/theme.py", "from slowwave.flows.decide.review import promote"),
        ("dashboards/charts/theme.py", "from slowwave.transforms.lift.lift import memory_lift"),
    ],
)
def test_an_import_upwards_is_caught(path: str, source: str) -> None:
    assert not_below(path, source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("transforms/usage/need_fits.py", "from slowwave.transforms.usage.strength import fits"),
        ("transforms/params.py", "from slowwave.transforms.llm.params import LlmParams"),
        ("flows/ask/sql.py", "from slowwave.dashboards.cookbook.cookbook import cookbook"),
        ("flows/kernel/settings.py", "from slowwave.transforms.params import Params"),
        ("dashboards/app/app.py", "from slowwave.flows.care.status import freshness"),
        ("dashboards/charts/parts.py", "from slowwave.dashboards import words"),
    ],
)
def test_an_import_downwards_passes(path: str, source: str) -> None:
    assert not_below(path, source) == []


def test_a_circle_is_caught() -> None:
    sources = {
        "s.a": "from s import b",
        "s.b": "import s.c",
        "s.c": "def f():\n    from s.a import x",
        "s.d": "import s.a, math",
    }
    assert circle(imports_among(sources)) == ["s.a", "s.b", "s.c"]
    assert circle(imports_among(sources | {"s.c": "import s.e"})) == []


def test_a_stray_module_at_the_root_would_be_installed() -> None:
    """The root is the package `slowwave`, so any module laid there would enter the wheel; the build's own does not."""
    assert {path.name for path in ROOT.glob("*.py")} == {"__init__.py", "setup.py"}


# ------------------------------------------------------------------------------------ the rules catch what they forbid


@each(
    "source",
    [
        "import duckdb",
        "import prefect",
        "from prefect import flow",
        "import os",
        "import os.path",
        "import time",
        "from time import time",
        "import pathlib",
        "from pathlib import Path",
        "import io",
        "import pyarrow.parquet",
        "import subprocess",
        "import socket",
        "import uuid",
        "import slowwave",
        "from slowwave import flows",
        "import slowwave.flows",
        "from slowwave.flows.lake import lake",
        "import slowwave.transforms_of_another_kind",
        "from . import schema",
        "from .schema import TABLES",
        "def f():\n    import os",
        "from polars import read_csv",
        "from polars import *",
        "import polars.io.csv",
        "from polars import io",
        "from random import random",
        "open('x')",
        "f = open",
        "print('x')",
        "eval('1')",
        "__import__('os')",
        "hash('x')",
        "path.open()",
        "path.read_text()",
        "path.write_bytes(b'')",
        "pl.read_parquet('x')",
        "pl.scan_parquet('x')",
        "frame.write_ndjson()",
        "frame.write_parquet('x')",
        "lazy.sink_parquet('x')",
        "f = pl.read_parquet",
        "datetime.now()",
        "datetime.now(UTC)",
        "datetime.datetime.utcnow()",
        "date.today()",
        "field(default_factory=datetime.now)",
        "moment.astimezone()",
        "random.random()",
        "random.shuffle(x)",
        "random.Random()",
        "Random()",
        "frame.sample(3)",
        "pl.col('a').shuffle()",
    ],
)
def test_impure_code_is_caught(source: str) -> None:
    assert impurities(source)


@each(
    "source",
    [
        "from __future__ import annotations",
        "import polars as pl",
        "from collections.abc import Iterable",
        "from datetime import UTC, datetime, timedelta",
        "from pydantic import BaseModel",
        "import slowwave.transforms.core.schema",
        "from slowwave import transforms",
        "from slowwave.transforms.core import schema",
        "from slowwave.transforms.core.schema import TABLES",
        "random.Random(7).random()",
        "frame.sample(3, seed=7)",
        "moment.astimezone(UTC)",
        "pl.col('read_count').sum()",
        "row.read_count",
        "hashlib.sha256(b'').hexdigest()",
        "opened = written = 1",
    ],
)
def test_pure_code_passes(source: str) -> None:
    assert impurities(source) == []


def test_a_finding_names_its_line() -> None:
    assert impurities("import math\n\nopen('x')\n") == ["line 3: uses open"]


@each(
    "source",
    [
        "import prefect",
        "import prefect.client",
        "from prefect import flow",
        "from prefect.tasks import task",
        "import slowwave.flows.schedule.flows",
        "from slowwave.flows.schedule import flows as orchestrate",
        "from slowwave.flows.schedule.flows import nightly",
        "try:\n    import prefect\nexcept ImportError:\n    prefect = None",
        "if True:\n    import prefect",
        "class A:\n    import prefect",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import prefect",
    ],
)
def test_prefect_on_import_is_caught(source: str) -> None:
    assert prefect_on_import(source)


@pytest.mark.parametrize(
    "source",
    [
        "import prefectly",
        "import polars",
        "def run():\n    from prefect import flow",
        "async def run():\n    import prefect",
        "class A:\n    def run(self):\n        import prefect",
        "if TYPE_CHECKING:\n    from prefect import Flow",
        "from slowwave.flows.lake import lake",
    ],
)
def test_prefect_where_it_is_needed_passes(source: str) -> None:
    assert prefect_on_import(source) == []
