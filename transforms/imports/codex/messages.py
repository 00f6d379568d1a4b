"""What a person and the agent said in a turn, each once although a rollout has it twice."""

from __future__ import annotations

from dataclasses import dataclass, field

from slowwave.transforms.imports.codex.values import listed, mapping, text
from slowwave.transforms.imports.made import Record

# What Codex itself says as if it were the user.
_OF_CODEX = (
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<user_instructions>",
    "<environment_context>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<skill>",
    "<recommended_plugins>",
    "<goal_context>",
    "<codex_internal_context",
    "<hook_prompt",
    "Warning: apply_patch was requested via ",
    "Warning: The maximum number of unified exec processes",
)
_OF_AN_EDITOR, _REQUEST = "# Context from my IDE setup:", "\n## My request for Codex:"
_FINAL = "final_answer"
_COMMENTARY = "commentary"


@dataclass
class Said:
    """What was said in a turn: as events tell it, and as the model was given it, which is the same once more."""

    told: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """Each text once."""
        return self.told or self.given


def is_of_codex(prompt: str) -> bool:
    """Whether Codex says this in the user's name: instructions, surroundings, notices."""
    return prompt.lstrip().startswith(_OF_CODEX)


def request(prompt: str) -> str:
    """A prompt without what an editor put before it."""
    if not prompt.lstrip().startswith(_OF_AN_EDITOR):
        return prompt
    _, found, asked = prompt.partition(_REQUEST)
    return asked.strip() if found else prompt


def parts(content: object) -> str:
    """The text of a message in parts, or of a plain one."""
    if isinstance(content, str):
        return content
    return "".join(text(mapping(part).get("text")) for part in listed(content))


@dataclass
class Answers:
    """What the agent said in a turn, by phase: of the final answer, while it worked, or not said of which."""

    told: list[tuple[str, str]] = field(default_factory=list)
    given: list[tuple[str, str]] = field(default_factory=list)
    last: str = ""

    @property
    def response(self) -> str:
        """The final answer; where none is marked so what was said, and only then what was said on the way."""
        said = self.told or self.given
        for is_wanted in (_FINAL.__eq__, _is_unmarked, _COMMENTARY.__eq__):
            texts = [one for one, phase in said if one.strip() and is_wanted(phase)]
            if texts:
                return "\n\n".join(texts)
        return self.last


def phase_of(message: Record) -> str:
    """The phase of a message of the agent; '' where it says none."""
    return text(message.get("phase"))


def _is_unmarked(phase: str) -> bool:
    return phase not in {_FINAL, _COMMENTARY}
