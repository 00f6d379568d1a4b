"""The program that a command runs in the end, past what only starts it, such as `uv run` or `timeout 60`."""

from __future__ import annotations

from dataclasses import dataclass

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


def program(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of the program that runs in the end, its name without folders; () where there is none.

    `python -m NAME …` is `NAME …`, whichever Python.
    """
    while words:
        words = (_name(words[0]), *words[1:])
        rest = _started(words)
        if rest is None:
            return words
        words = rest
    return ()


def is_python(name: str) -> bool:
    """Whether a program of this name is Python: `python3.12`, `pypy3`."""
    return name.rstrip("0123456789.") in {"python", "pypy", "py"}


def _name(word: str) -> str:
    name = word.replace("\\", "/").rpartition("/")[2]
    for end in _PATH_ENDS:
        name = name.removesuffix(end)
    return name


def _started(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words after what only starts a program; None: this is the program."""
    if is_python(words[0]) or words[:2] == ("coverage", "run"):
        module = _module(words)
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


def _module(words: tuple[str, ...]) -> tuple[str, ...] | None:
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
