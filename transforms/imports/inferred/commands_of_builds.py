"""Which programs build, lint or check types, so that they end with 0 if and only if nothing is wrong."""

from __future__ import annotations

import re
from functools import lru_cache

_BY_NAME = frozenset(
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
_BY_SUBCOMMAND = frozenset(
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
_STARTING_A_TASK = frozenset({"make", "gmake", "just", "task", "npm", "yarn", "pnpm", "bun", "gradle", "gradlew"})
_A_TASK_OF_BUILDS = re.compile(r"(?i)(?:^|:)(?:build|compile|lint|typecheck|type-check|types|tsc|assemble)(?:$|[:-])")
_BEFORE_A_TASK = frozenset({"run", "run-script"})
_ANSWERING_ONLY = frozenset({"--help", "-h", "--version", "-V", "-v"})


@lru_cache(maxsize=4096)
def is_build(words: tuple[str, ...]) -> bool:
    """Whether this program is a build, a linter or a type checker that says by its exit code how it went."""
    if not words or (words[1:] and _ANSWERING_ONLY.issuperset(words[1:])):
        return False
    name, rest = words[0], [word for word in words[1:] if word[:1] not in "-+"]
    if name in _BY_NAME or (name, rest[0] if rest else "") in _BY_SUBCOMMAND:
        return True
    for start, option in _CHECKING.items():
        if words[: len(start)] == start:
            return option in words
    if name in _STARTING_A_TASK:
        tasks = [word for word in rest if word not in _BEFORE_A_TASK and "=" not in word]
        return bool(tasks) and all(_A_TASK_OF_BUILDS.search(task) for task in tasks)
    return False
