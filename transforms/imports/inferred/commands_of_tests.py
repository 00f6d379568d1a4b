"""Which programs run tests, and whose summary is then to be expected."""

from __future__ import annotations

import re
from functools import lru_cache

from slowwave.transforms.imports.inferred.programs import is_python

RUNNERS = ("pytest", "unittest", "jest", "vitest", "go", "cargo", "rspec", "exunit")
_BY_NAME = {
    "pytest": "pytest",
    "py.test": "pytest",
    "unittest": "unittest",
    "jest": "jest",
    "vitest": "vitest",
    "rspec": "rspec",
}
_BY_SUBCOMMAND = {
    ("go", "test"): "go",
    ("cargo", "test"): "cargo",
    ("cargo", "t"): "cargo",
    ("mix", "test"): "exunit",
    ("manage.py", "test"): "unittest",
    ("django-admin", "test"): "unittest",
    ("react-scripts", "test"): "jest",
}
# Programs that run what a project says: which runner it is, only the summary tells.
_STARTING_ANY = frozenset({"tox", "nox"})
_STARTING_A_TASK = frozenset(
    {
        *("make", "gmake", "just", "task", "rake", "invoke", "inv", "mage", "ninja", "nx", "turbo", "lerna", "moon"),
        *("npm", "yarn", "pnpm", "bun", "hatch", "poe", "pdm", "rye", "mix", "composer", "rails", "bazel", "pants"),
    }
)
_SHELLS = frozenset({"bash", "sh", "zsh", "source", "."})
_A_TASK_OF_TESTS = re.compile(r"(?i)(?:^|[/:._-])(?:tests?|t|specs?|unit|checks?|ci|verify)(?:$|[:._-])")
_A_FILE_OF_TESTS = re.compile(r"(?i)(?:^|[/_.-])(?:tests?|specs?|ci)(?:[/_.-][^/]*)?$")
# A run with one of these lists, builds or explains tests, and runs none.
_RUNNING_NONE = frozenset(
    {
        *("--help", "-h", "--version", "-V", "--collect-only", "--co", "--fixtures", "--markers", "--listTests"),
        *("--showConfig", "--no-run", "--list", "--dry-run", "-list"),
    }
)


@lru_cache(maxsize=4096)
def runners(words: tuple[str, ...]) -> tuple[str, ...]:
    """The runners of which this program is one, or may start one; () where it runs no tests."""
    if not words or not _RUNNING_NONE.isdisjoint(words):
        return ()
    name, rest = words[0], words[1:]
    if is_python(name):
        name, rest = (rest[0].rpartition("/")[2], rest[1:]) if rest else ("", ())
        if name.startswith("test") or name.removesuffix(".py").endswith(("_test", "_tests")):
            return ("unittest", "pytest")
    if name in _BY_NAME:
        return () if (name, rest[:1]) == ("vitest", ("list",)) else (_BY_NAME[name],)
    subcommand = next((word for word in rest if word[:1] not in "-+"), "")
    if (name, subcommand) in _BY_SUBCOMMAND:
        return (_BY_SUBCOMMAND[name, subcommand],)
    is_any = name in _STARTING_ANY
    if name in _STARTING_A_TASK:
        is_any = any(_A_TASK_OF_TESTS.search(word) for word in rest if word[:1] != "-")
    elif name in _SHELLS:
        is_any = bool(rest) and _A_FILE_OF_TESTS.search(rest[0]) is not None
    elif "." in name or "_" in name or "-" in name or name in {"test", "tests", "spec"}:
        is_any = _A_FILE_OF_TESTS.search(name) is not None
    return RUNNERS if is_any else ()
