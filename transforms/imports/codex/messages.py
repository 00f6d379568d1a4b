"""What a person and the agent said in a turn, each once although a rollout has it twice."""

from __future__ import annotations

from dataclasses import dataclass, field

from slowwave.transforms.imports.made import Record
from slowwave.transforms.imports.record_values import list_or_empty, object_or_empty, text_in, text_or_empty

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
    return "".join(text_or_empty(object_or_empty(part).get("text")) for part in list_or_empty(content))


@dataclass(frozen=True)
class Answer:
    """A message of the agent, with its phase and its id; '' where it has none."""

    text: str
    phase: str
    message_id: str

    def is_beginning_of(self, other: Answer) -> bool:
        """Whether another one is the same message, as it is here or further on."""
        return self.message_id == other.message_id and other.text.startswith(self.text)


@dataclass
class Answers:
    """What the agent said in a turn, by phase: of the final answer, while it worked, or not said of which."""

    told: list[Answer] = field(default_factory=list)
    given: list[Answer] = field(default_factory=list)
    last: str = ""

    def add(self, answer: Answer, *, is_given: bool) -> None:
        """Add what the agent said; of a message that is written again the last state counts."""
        said = self.given if is_given else self.told
        begun = (place for place, one in enumerate(said) if answer.message_id and one.is_beginning_of(answer))
        place = next(begun, len(said))
        said[place : place + 1] = [answer]

    @property
    def response(self) -> str:
        """The final answer; where none is marked so what was said, and only then what was said on the way."""
        said = self.told or self.given
        for is_wanted in (_FINAL.__eq__, _is_unmarked, _COMMENTARY.__eq__):
            texts = [one.text for one in said if one.text.strip() and is_wanted(one.phase)]
            if texts:
                return "\n\n".join(texts)
        return self.last


def phase_of(message: Record) -> str:
    """The phase of a message of the agent; '' where it says none."""
    return text_in(message, "phase")


def _is_unmarked(phase: str) -> bool:
    return phase not in {_FINAL, _COMMENTARY}
