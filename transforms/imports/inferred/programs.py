"""Programs that a command runs in the end, and which of them run tests, build, lint or check types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_PATH_ENDS = (".exe", ".cmd")


@dataclass(frozen=True)
class _Starter:
    """What starts another program: options that take a value, and how many words stand before that program."""

    options: frozenset[str] = frozenset()
    words: int = 0


_NONE = _Starter()
_UV = _Starter(
    frozenset(
        {
            *("--with", "--with-requirements", "--with-editable", "--extra", "--group", "--only-group", "--package"),
            *("-p", "--python", "--project", "--directory", "--env-file", "--index-url", "--from"),
        }
    )
)
_CONTAINER = _Starter(frozenset({"-e", "--env", "-u", "--user", "-w", "--workdir", "-f", "--file", "--index"}), words=1)
_COMPOSE = _Starter(frozenset({*_CONTAINER.options, "-p", "--project-name"}), words=1)
_STARTERS: dict[tuple[str, ...], _Starter] = {
    ("env",): _Starter(frozenset({"-u", "--unset", "-C", "--chdir"})),
    ("command",): _NONE,
    ("exec",): _NONE,
    ("nohup",): _NONE,
    ("stdbuf",): _Starter(frozenset({"-i", "-o", "-e"})),
    ("sudo",): _Starter(frozenset({"-u", "-g"})),
    ("time",): _NONE,
    ("nice",): _Starter(frozenset({"-n"})),
    ("timeout",): _Starter(frozenset({"-k", "-s", "--signal", "--kill-after"}), words=1),
    ("gtimeout",): _Starter(frozenset({"-k", "-s"}), words=1),
    ("xvfb-run",): _Starter(frozenset({"-s", "-n", "-e"})),
    ("dotenv",): _NONE,
    ("uv", "run"): _UV,
    ("uvx",): _UV,
    ("pipx", "run"): _Starter(frozenset({"--spec"})),
    ("poetry", "run"): _NONE,
    ("pipenv", "run"): _NONE,
    ("pdm", "run"): _NONE,
    ("rye", "run"): _NONE,
    ("pixi", "run"): _Starter(frozenset({"-e", "--environment"})),
    ("conda", "run"): _Starter(frozenset({"-n", "-p", "--name", "--prefix"})),
    ("mise", "exec"): _NONE,
    ("npx",): _Starter(frozenset({"-p", "--package"})),
    ("bunx",): _NONE,
    ("pnpm", "exec"): _NONE,
    ("pnpm", "dlx"): _NONE,
    ("yarn", "exec"): _NONE,
    ("npm", "exec"): _NONE,
    ("bundle", "exec"): _NONE,
    ("docker", "exec"): _CONTAINER,
    ("podman", "exec"): _CONTAINER,
    ("docker", "compose", "exec"): _COMPOSE,
    ("docker", "compose", "run"): _COMPOSE,
    ("docker-compose", "exec"): _COMPOSE,
    ("docker-compose", "run"): _COMPOSE,
    ("coverage", "run"): _Starter(frozenset({"--source", "--rcfile", "--omit", "--include"})),
}
_LONGEST_STARTER = max(map(len, _STARTERS))


def program_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of the program that runs in the end, its name without folders; () where there is none.

    `python -m NAME …` is `NAME …`, whichever Python.
    """
    while words:
        words = (_program_name(words[0]), *words[1:])
        rest = _past_starter(words)
        if rest is None:
            return words
        words = rest
    return ()


def is_python(name: str) -> bool:
    """Whether a program of this name is Python: `python3.12`, `pypy3`."""
    return name.rstrip("0123456789.") in {"python", "pypy", "py"}


def _program_name(word: str) -> str:
    name = word.replace("\\", "/").rpartition("/")[2]
    for end in _PATH_ENDS:
        name = name.removesuffix(end)
    return name


def _past_starter(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words after what only starts a program; None: this is the program."""
    if is_python(words[0]) or words[:2] == ("coverage", "run"):
        module = _python_module(words)
        if module is not None:
            return module
    for length in range(_LONGEST_STARTER, 0, -1):
        starter = _STARTERS.get(words[:length])
        if starter is not None:
            rest = words[length:]
            skipped = 0
            while rest and (rest[0][:1] == "-" or _is_assignment(rest[0]) or skipped < starter.words):
                if rest[0] == "--":
                    rest = rest[1:]
                    continue
                if rest[0][:1] == "-":
                    rest = rest[2:] if rest[0] in starter.options else rest[1:]
                    continue
                skipped += not _is_assignment(rest[0])
                rest = rest[1:]
            return rest
    return None


def _python_module(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """What `-m` names among the options of Python, and what follows it."""
    for place, word in enumerate(words[1:], start=1):
        if word == "-m":
            return words[place + 1 :]
        if word in {"-W", "-X", "run"} or word[:1] == "-" or words[place - 1] in {"-W", "-X"}:
            continue
        return None
    return None


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


TEST_RUNNERS = ("pytest", "unittest", "jest", "vitest", "go", "cargo", "rspec", "exunit")
_TEST_PROGRAMS = {
    "pytest": "pytest",
    "py.test": "pytest",
    "unittest": "unittest",
    "jest": "jest",
    "vitest": "vitest",
    "rspec": "rspec",
}
_TEST_SUBCOMMANDS = {
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
_TEST_TASK_STARTERS = frozenset(
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
def test_runners(words: tuple[str, ...]) -> tuple[str, ...]:
    """The runners of which this program is one, or may start one; () where it runs no tests."""
    if not words or not _RUNNING_NONE.isdisjoint(words):
        return ()
    name, rest = words[0], words[1:]
    if is_python(name):
        name, rest = (rest[0].rpartition("/")[2], rest[1:]) if rest else ("", ())
        if name.startswith("test") or name.removesuffix(".py").endswith(("_test", "_tests")):
            return ("unittest", "pytest")
    if name in _TEST_PROGRAMS:
        return () if (name, rest[:1]) == ("vitest", ("list",)) else (_TEST_PROGRAMS[name],)
    subcommand = next((word for word in rest if word[:1] not in "-+"), "")
    if (name, subcommand) in _TEST_SUBCOMMANDS:
        return (_TEST_SUBCOMMANDS[name, subcommand],)
    is_any = name in _STARTING_ANY
    if name in _TEST_TASK_STARTERS:
        is_any = any(_A_TASK_OF_TESTS.search(word) for word in rest if word[:1] != "-")
    elif name in _SHELLS:
        is_any = bool(rest) and _A_FILE_OF_TESTS.search(rest[0]) is not None
    elif "." in name or "_" in name or "-" in name or name in {"test", "tests", "spec"}:
        is_any = _A_FILE_OF_TESTS.search(name) is not None
    return TEST_RUNNERS if is_any else ()


_BUILD_PROGRAMS = frozenset(
    {
        *("tsc", "vue-tsc", "eslint", "oxlint", "stylelint", "flake8", "pylint", "mypy", "pyright", "basedpyright"),
        *("pyflakes", "py_compile", "compileall", "golangci-lint", "staticcheck", "rubocop", "standardrb"),
        *(
            "ninja",
            "javac",
            "rustc",
            "gcc",
            "g++",
            "clang",
            "clang++",
            "cc",
            "c++",
            "shellcheck",
            "hadolint",
            "webpack",
        ),
        *("rollup", "esbuild", "tsup", "swiftlint", "ktlint", "luacheck", "yamllint", "markdownlint", "actionlint"),
    }
)
_BUILD_SUBCOMMANDS = frozenset(
    {
        *(
            ("ruff", "check"),
            ("ty", "check"),
            ("biome", "check"),
            ("biome", "lint"),
            ("biome", "ci"),
            ("deno", "check"),
        ),
        *(
            ("deno", "lint"),
            ("cargo", "build"),
            ("cargo", "b"),
            ("cargo", "check"),
            ("cargo", "c"),
            ("cargo", "clippy"),
        ),
        *(("go", "build"), ("go", "vet"), ("mix", "compile"), ("mix", "credo"), ("mix", "dialyzer"), ("vite", "build")),
        *(("next", "build"), ("next", "lint"), ("astro", "check"), ("svelte-kit", "build"), ("swift", "build")),
        *(("zig", "build"), ("dotnet", "build"), ("bazel", "build"), ("mvn", "compile"), ("stack", "build")),
        *(("cabal", "build"), ("dune", "build"), ("pre-commit", "run"), ("docker", "build"), ("nix", "build")),
    }
)
# Formatters that change nothing when they are asked to, and then say by their exit code whether they would.
_CHECKING = {
    ("ruff", "format"): "--check",
    ("cargo", "fmt"): "--check",
    ("mix", "format"): "--check-formatted",
    ("black",): "--check",
    ("isort",): "--check-only",
    ("prettier",): "--check",
    ("rustfmt",): "--check",
    ("cmake",): "--build",
}
_BUILD_TASK_STARTERS = frozenset({"make", "gmake", "just", "task", "npm", "yarn", "pnpm", "bun", "gradle", "gradlew"})
_A_TASK_OF_BUILDS = re.compile(r"(?i)(?:^|:)(?:build|compile|lint|typecheck|type-check|types|tsc|assemble)(?:$|[:-])")
_BEFORE_A_TASK = frozenset({"run", "run-script"})
_ANSWERING_ONLY = frozenset({"--help", "-h", "--version", "-V", "-v"})


@lru_cache(maxsize=4096)
def is_build(words: tuple[str, ...]) -> bool:
    """Whether this program is a build, a linter or a type checker that says by its exit code how it went."""
    if not words or (words[1:] and _ANSWERING_ONLY.issuperset(words[1:])):
        return False
    name, rest = words[0], [word for word in words[1:] if word[:1] not in "-+"]
    if name in _BUILD_PROGRAMS or (name, rest[0] if rest else "") in _BUILD_SUBCOMMANDS:
        return True
    for start, option in _CHECKING.items():
        if words[: len(start)] == start:
            return option in words
    if name in _BUILD_TASK_STARTERS:
        tasks = [word for word in rest if word not in _BEFORE_A_TASK and "=" not in word]
        return bool(tasks) and all(_A_TASK_OF_BUILDS.search(task) for task in tasks)
    return False
