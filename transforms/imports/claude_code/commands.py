"""Slash commands: which the client carries out itself, and which are prompts."""

from __future__ import annotations

from dataclasses import dataclass

from slowwave.transforms.imports.adapter import Record

# Carried out by the client, whatever their arguments. Others are of skills, or the person's own: prompts.
_OF_CLIENT = frozenset(
    {
        "/add-dir", "/agents", "/allowed-tools", "/bashes", "/bug", "/clear", "/color", "/compact", "/config",
        "/context", "/copy", "/cost", "/doctor", "/effort", "/exit", "/export", "/extra-usage", "/fast", "/feedback",
        "/help",
        "/hooks", "/ide", "/install-github-app", "/keybindings", "/login", "/logout", "/mcp", "/memory", "/mobile",
        "/model", "/output-style", "/permissions", "/plugin", "/privacy-settings", "/quit", "/release-notes",
        "/reload-plugins", "/remote-control", "/remote-env", "/rename", "/resume", "/rewind", "/sandbox", "/settings",
        "/skills", "/stats", "/status", "/statusline", "/tasks", "/terminal-setup", "/theme", "/upgrade", "/usage",
        "/vim", "/voice",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Command:
    """A slash command, and the record that holds it, with the number of its line."""

    number: int
    record: Record
    name: str
    arguments: str

    @property
    def prompt(self) -> str:
        """What it asks, if the agent answers: its arguments, or its name alone."""
        return self.arguments or self.name

    @property
    def is_prompt(self) -> bool:
        """Whether it asks something before anybody has answered."""
        return bool(self.arguments) and self.name not in _OF_CLIENT


def slash_command(text: str) -> tuple[str, str] | None:
    """The name and the arguments of a slash command; None where the text is none."""
    if not text.startswith(("<command-message>", "<command-name>")):
        return None
    name = _tagged(text, "command-name").strip()
    return (f"/{name.lstrip('/')}", _tagged(text, "command-args").strip()) if name else None


def _tagged(text: str, name: str) -> str:
    opening, closing = f"<{name}>", f"</{name}>"
    begin = text.find(opening)
    end = text.find(closing, begin)
    return text[begin + len(opening) : end] if 0 <= begin < end else ""
