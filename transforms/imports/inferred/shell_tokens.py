"""The words and operators of a shell line, as far as its commands and their order follow from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_DEEPEST = 20  # substitutions within substitutions
_OPERATORS = ("&&", "||", ";;", "|&", "|", ";", "&", "(", ")", "\n")
_REDIRECTION = re.compile(r"\d*(?:<<<|<<-?|<>|[<>]&|<(?!\()|>>|>\||>(?!\())|&>>?")
_BLANK = re.compile(r"(?:[ \t\r]|\\\n|#[^\n]*)+")
_PLAIN = re.compile(r"[^ \t\r\n\\'\"`$|&;()<>]+")


@dataclass(frozen=True)
class Token:
    """A word, without its quotes and with `$()` for each substitution, or an operator."""

    kind: Literal["word", "operator"]
    text: str


def shell_tokens(line: str) -> list[Token]:
    """The tokens of a line in order, without redirections, here-documents and comments.

    Raises ValueError where a quote or a bracket is not closed, substitutions lie too deep in each other, or `((` begins
    arithmetic.
    """
    tokens, end = _Scanner(line).tokens(0, depth=0)
    if end < len(line):
        message = "a bracket is closed that was not opened"
        raise ValueError(message)
    return tokens


class _Scanner:
    def __init__(self, line: str) -> None:
        self.line = line
        self.here_documents: list[tuple[str, bool]] = []

    def tokens(self, at: int, depth: int) -> tuple[list[Token], int]:
        """Those up to the end, or to the bracket that closes a substitution; and where that is."""
        if depth > _DEEPEST:
            message = "substitutions lie too deep in each other"
            raise ValueError(message)
        line, found, opened = self.line, list[Token](), 0
        while at < len(line):
            if blank := _BLANK.match(line, at):
                at = blank.end()
            elif redirection := _REDIRECTION.match(line, at):
                at = self._redirected(redirection, depth)
            elif operator := next((one for one in _OPERATORS if line.startswith(one, at)), None):
                if line.startswith("((", at):
                    message = "this is arithmetic, and no command"
                    raise ValueError(message)
                opened += {"(": 1, ")": -1}.get(operator, 0)
                if opened < 0:
                    return found, at
                at += len(operator)
                found.append(Token("operator", operator))
                if operator == "\n":
                    at = self._past_here_documents(at)
            else:
                word, at = self._word(at, depth)
                found.append(Token("word", word))
        if depth or opened:
            message = "a bracket is not closed"
            raise ValueError(message)
        return found, at

    def _redirected(self, redirection: re.Match[str], depth: int) -> int:
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
                text, at = self._substituted(at, depth)
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
                text, at = self._substituted(at, depth)
                parts.append(text)
            else:
                parts.append(char)
                at += 1
        message = "a quote is not closed"
        raise ValueError(message)

    def _substituted(self, at: int, depth: int) -> tuple[str, int]:
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
