"""What the exit code of a shell line says of its commands: of one behind a pipe or a mask, nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from slowwave.transforms.imports.inferred.programs import program_words

_DEEPEST_SUBSTITUTION = 20  # substitutions within substitutions
_OPERATORS = ("&&", "||", ";;", "|&", "|", ";", "&", "(", ")", "\n")
_REDIRECTION = re.compile(r"\d*(?:<<<|<<-?|<>|[<>]&|<(?!\()|>>|>\||>(?!\())|&>>?")
_BLANK = re.compile(r"(?:[ \t\r]|\\\n|#[^\n]*)+")
_PLAIN = re.compile(r"[^ \t\r\n\\'\"`$|&;()<>]+")


@dataclass(frozen=True)
class ShellToken:
    """A word, without its quotes and with `$()` for each substitution, or an operator."""

    kind: Literal["word", "operator"]
    text: str


def shell_tokens(line: str) -> list[ShellToken]:
    """The tokens of a line in order, without redirections, here-documents and comments.

    Raises ValueError where a quote or a bracket is not closed, substitutions lie too deep in each other, or `((` begins
    arithmetic.
    """
    tokens, end = _TokenScanner(line).tokens(0, depth=0)
    if end < len(line):
        message = "a bracket is closed that was not opened"
        raise ValueError(message)
    return tokens


class _TokenScanner:
    def __init__(self, line: str) -> None:
        self.line = line
        self.here_documents: list[tuple[str, bool]] = []

    def tokens(self, at: int, depth: int) -> tuple[list[ShellToken], int]:
        """Those up to the end, or to the bracket that closes a substitution; and where that is."""
        if depth > _DEEPEST_SUBSTITUTION:
            message = "substitutions lie too deep in each other"
            raise ValueError(message)
        line, found, opened = self.line, list[ShellToken](), 0
        while at < len(line):
            if blank := _BLANK.match(line, at):
                at = blank.end()
            elif redirection := _REDIRECTION.match(line, at):
                at = self._skip_redirection(redirection, depth)
            elif operator := next((one for one in _OPERATORS if line.startswith(one, at)), None):
                if line.startswith("((", at):
                    message = "this is arithmetic, and no command"
                    raise ValueError(message)
                opened += {"(": 1, ")": -1}.get(operator, 0)
                if opened < 0:
                    return found, at
                at += len(operator)
                found.append(ShellToken("operator", operator))
                if operator == "\n":
                    at = self._past_here_documents(at)
            else:
                word, at = self._word(at, depth)
                found.append(ShellToken("word", word))
        if depth or opened:
            message = "a bracket is not closed"
            raise ValueError(message)
        return found, at

    def _skip_redirection(self, redirection: re.Match[str], depth: int) -> int:
        """Past what a redirection names."""
        at = redirection.end()
        while at < len(self.line) and self.line[at] in " \t":
            at += 1
        target, at = self._word(at, depth)
        kind = redirection[0].lstrip("0123456789")
        if kind in {"<<", "<<-"}:
            self.here_documents.append((target, kind == "<<-"))
        return at

    def _past_here_documents(self, at: int) -> int:
        for delimiter, is_indented in self.here_documents:
            while at < len(self.line):
                end = _index(self.line, "\n", at)
                text = self.line[at:end]
                at = end + 1
                if (text.lstrip("\t") if is_indented else text) == delimiter:
                    break
        self.here_documents.clear()
        return min(at, len(self.line))

    def _word(self, at: int, depth: int) -> tuple[str, int]:
        line, parts = self.line, list[str]()
        while at < len(line):
            char = line[at]
            if plain := _PLAIN.match(line, at):
                parts.append(plain[0])
                at = plain.end()
            elif line.startswith("\\\n", at):
                at += 2
            elif char == "\\":
                parts.append(line[at + 1 : at + 2])
                at += 2
            elif char == "'":
                end = _closing(line, "'", at + 1)
                parts.append(line[at + 1 : end])
                at = end + 1
            elif char == '"':
                text, at = self._double_quoted(at + 1, depth)
                parts.append(text)
            elif line.startswith("$'", at):
                text, at = _escaped_quoted(line, at + 2)
                parts.append(text)
            elif char in "$`":
                text, at = self._read_substitution(at, depth)
                parts.append(text)
            elif char in "<>" and line.startswith("(", at + 1):
                _, end = self.tokens(at + 2, depth + 1)
                parts.append("$()")
                at = end + 1
            else:
                break
        return "".join(parts), at

    def _double_quoted(self, at: int, depth: int) -> tuple[str, int]:
        line, parts = self.line, list[str]()
        while at < len(line):
            char = line[at]
            if char == '"':
                return "".join(parts), at + 1
            if char == "\\":
                parts.append(line[at + 1 : at + 2])
                at += 2
            elif char in "$`":
                text, at = self._read_substitution(at, depth)
                parts.append(text)
            else:
                parts.append(char)
                at += 1
        message = "a quote is not closed"
        raise ValueError(message)

    def _read_substitution(self, at: int, depth: int) -> tuple[str, int]:
        """What `$` or a backtick begins, and where it ends."""
        line = self.line
        if line[at] == "`":
            return "$()", _closing(line, "`", at + 1) + 1
        if line.startswith("$(", at):
            waiting, self.here_documents = self.here_documents, []
            _, end = self.tokens(at + 2, depth + 1)
            self.here_documents = waiting
            return "$()", end + 1
        if line.startswith("${", at):
            end = _closing(line, "}", at + 2)
            return line[at : end + 1], end + 1
        return "$", at + 1


def _escaped_quoted(line: str, at: int) -> tuple[str, int]:
    """The text of `$'…'`, and where it ends."""
    end = at
    while end < len(line) and line[end] != "'":
        end += 2 if line[end] == "\\" else 1
    return line[at:end], _closing(line, "'", end) + 1


def _index(line: str, char: str, at: int) -> int:
    found = line.find(char, at)
    return len(line) if found < 0 else found


def _closing(line: str, char: str, at: int) -> int:
    found = line.find(char, at)
    if found < 0:
        message = f"{char} is not closed"
        raise ValueError(message)
    return found


_LONGEST = 100_000  # characters of a line that is looked at
_DEEPEST_SHELL = 5  # shells that are started in shells
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
# words before a command, after which it runs or not, or again and again
_BEFORE_A_COMMAND = frozenset({"if", "then", "elif", "else", "while", "until", "do", "time"})
_NO_COMMANDS = frozenset({"for", "case", "select", "function", "fi", "done", "esac"})
_LOOPS = frozenset({"for", "while", "until", "select"})


@dataclass(frozen=True)
class ShellCommand:
    """A simple command: its words, and the programs that its output goes through before it is seen."""

    words: tuple[str, ...]
    filters: tuple[str, ...] = ()
    is_in_background: bool = False
    is_repeated: bool = False


@dataclass(frozen=True)
class ShellLine:
    """The commands of a line as written, those in substitutions left out, and what its exit code says.

    `ok_if_zero`: places of the commands that all ended well if the line ended with 0. `failed_if_not`: places of
    commands of which at least one failed if it did not; None: it may have been any.
    """

    commands: tuple[ShellCommand, ...]
    ok_if_zero: frozenset[int]
    failed_if_not: frozenset[int] | None

    @cached_property
    def programs(self) -> tuple[tuple[str, ...], ...]:
        """The programs that the commands run in the end."""
        return tuple(program_words(one.words) for one in self.commands)


@lru_cache(maxsize=1024)
def shell_line(line: str) -> ShellLine | None:
    """A shell line, read; None where it cannot be."""
    if len(line) > _LONGEST:
        return None
    try:
        return _LineReader(shell_tokens(line), is_pipe_failing=False, depth=0).read()
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class _ExitMeaning:
    ok: frozenset[int] = frozenset()
    failed: frozenset[int] | None = None

    def __and__(self, other: _ExitMeaning) -> _ExitMeaning:
        """Of two of which both end with 0, or the whole does not."""
        failed = None if self.failed is None or other.failed is None else self.failed | other.failed
        return _ExitMeaning(self.ok | other.ok, failed)


class _LineReader:
    def __init__(self, tokens: list[ShellToken], *, is_pipe_failing: bool, depth: int) -> None:
        self.tokens, self.at, self.depth = tokens, 0, depth
        self.commands: list[ShellCommand] = []
        self.is_pipe_failing = is_pipe_failing
        self.is_compound = self.is_looping = self.is_ending_early = False

    def read(self) -> ShellLine:
        told = self._list()
        if self.at < len(self.tokens):
            message = "an operator stands where a command should"
            raise ValueError(message)
        commands = tuple(self.commands)
        if self.is_looping:
            commands = tuple(_with(one, is_repeated=True) for one in commands)
        if self.is_compound:
            return ShellLine(commands, frozenset(), None)
        return ShellLine(commands, told.ok, None if self.is_ending_early else told.failed)

    def _next(self) -> ShellToken | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _is_next(self, *operators: str) -> bool:
        token = self._next()
        return token is not None and token.kind == "operator" and token.text in operators

    def _take(self, *operators: str) -> str:
        """The next token if it is one of these operators, else ''."""
        if not self._is_next(*operators):
            return ""
        self.at += 1
        return self.tokens[self.at - 1].text

    def _list(self) -> _ExitMeaning:
        told = _ExitMeaning()
        while True:
            while self._take(";", "\n", ";;"):
                pass
            if self._next() is None or self._is_next(")") or self._next() == ShellToken("word", "}"):
                return told
            first = len(self.commands)
            told = self._and_or()
            if self._take("&"):
                told = _ExitMeaning()
                self._change_from(first, is_in_background=True)
            elif self._next() is not None and not self._is_next(";", "\n", ";;", ")"):
                message = "a command ends in the middle"
                raise ValueError(message)

    def _and_or(self) -> _ExitMeaning:
        told = self._pipeline()
        while operator := self._take("&&", "||"):
            self._past_lines()
            after = self._pipeline()
            told = told & after if operator == "&&" else _ExitMeaning()
        return told

    def _pipeline(self) -> _ExitMeaning:
        is_negated = False
        while self._next() == ShellToken("word", "!"):
            is_negated, self.at = True, self.at + 1
        first = len(self.commands)
        told = self._command()
        while self._take("|", "|&"):
            self._past_lines()
            second = len(self.commands)
            after = self._command()
            filters = tuple(one.words[0] for one in self.commands[second : second + 1])
            for place in range(first, second):
                self.commands[place] = _with(self.commands[place], filters=self.commands[place].filters + filters)
            told = told & after if self.is_pipe_failing else after
        return _ExitMeaning() if is_negated else told

    def _command(self) -> _ExitMeaning:
        token = self._next()
        if self._take("("):
            told = self._list()
            if not self._take(")"):
                message = "a bracket is not closed"
                raise ValueError(message)
            return told
        if token == ShellToken("word", "{"):
            self.at += 1
            told = self._list()
            if self._next() != ShellToken("word", "}"):
                message = "a bracket is not closed"
                raise ValueError(message)
            self.at += 1
            return told
        words = self._words()
        if not words or words[0] == "!":
            message = "an operator stands where a command should"
            raise ValueError(message)
        return self._simple(words)

    def _words(self) -> list[str]:
        words: list[str] = []
        while (token := self._next()) and token.kind == "word":
            words.append(token.text)
            self.at += 1
        return words

    def _simple(self, words: list[str]) -> _ExitMeaning:
        while words and words[0] in _BEFORE_A_COMMAND:
            self.is_compound |= words[0] != "time"
            self.is_looping |= words[0] in _LOOPS
            words = words[1:]
        if words and words[0] in _NO_COMMANDS:
            self.is_compound = True
            self.is_looping |= words[0] in _LOOPS
            return _ExitMeaning()
        is_substituted = any("$()" in word for word in words)
        words = _without_assignments(words)
        if not words:
            return _ExitMeaning(failed=None if is_substituted else frozenset())
        if words[0] == "set":
            self._apply_set_options(words)
        if words[0] in _SHELLS and (script := _script(words)) is not None:
            return self._inner(script, is_pipe_failing="pipefail" in words)
        self.commands.append(ShellCommand(tuple(words)))
        place = frozenset({len(self.commands) - 1})
        return _ExitMeaning(place, place)

    def _apply_set_options(self, words: list[str]) -> None:
        if "pipefail" in words:
            self.is_pipe_failing = "+o" not in words
        self.is_ending_early |= any(word[:1] == "-" and "e" in word for word in words)

    def _inner(self, script: str, *, is_pipe_failing: bool) -> _ExitMeaning:
        """A line that a shell is started with."""
        if self.depth == _DEEPEST_SHELL:
            message = "shells are started too deep in each other"
            raise ValueError(message)
        inner = _LineReader(shell_tokens(script), is_pipe_failing=is_pipe_failing, depth=self.depth + 1).read()
        first = len(self.commands)
        self.commands += inner.commands
        failed = None if inner.failed_if_not is None else frozenset(first + place for place in inner.failed_if_not)
        return _ExitMeaning(frozenset(first + place for place in inner.ok_if_zero), failed)

    def _past_lines(self) -> None:
        while self._take("\n"):
            pass

    def _change_from(self, first: int, *, is_in_background: bool) -> None:
        self.commands[first:] = [_with(one, is_in_background=is_in_background) for one in self.commands[first:]]


def _with(
    command: ShellCommand,
    *,
    filters: tuple[str, ...] | None = None,
    is_in_background: bool = False,
    is_repeated: bool = False,
) -> ShellCommand:
    return ShellCommand(
        command.words,
        command.filters if filters is None else filters,
        command.is_in_background or is_in_background,
        command.is_repeated or is_repeated,
    )


def _without_assignments(words: list[str]) -> list[str]:
    first = 0
    while first < len(words) and words[first].partition("=")[0].isidentifier() and "=" in words[first]:
        first += 1
    return words[first:]


def _script(words: list[str]) -> str | None:
    """The line that a shell is given with `-c`."""
    for place, word in enumerate(words[1:], start=1):
        if word == "pipefail":
            continue
        if word[:1] != "-":
            return None
        if word[1:2] != "-" and word.endswith("c"):
            return words[place + 1] if place + 1 < len(words) else None
    return None
