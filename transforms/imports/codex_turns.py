"""Turns of a thread of Codex while they are read: messages, calls, citations and tokens, each once."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from slowwave.transforms.imports.adapter import Call, CallEnd, Context, Record, Turn, TurnEnd
from slowwave.transforms.imports.codex_threads import Thread, time_text
from slowwave.transforms.imports.inferred.inferred_outcomes import with_needed_outputs
from slowwave.transforms.imports.inferred.programs import program_words
from slowwave.transforms.imports.inferred.shell_lines import shell_line
from slowwave.transforms.imports.record_values import (
    list_in,
    list_or_empty,
    object_in,
    object_or_empty,
    text_in,
    text_or_empty,
    whole_number,
)

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
class TurnMessages:
    """What was said in a turn: as events tell it, and as the model was from_items it, which is the same once more."""

    from_events: list[str] = field(default_factory=list)
    from_items: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """Return each text once."""
        return self.from_events or self.from_items


def is_of_codex(prompt: str) -> bool:
    """Whether Codex says this in the user's name: instructions, surroundings, notices."""
    return prompt.lstrip().startswith(_OF_CODEX)


def without_editor_context(prompt: str) -> str:
    """Return a prompt without what an editor put before it."""
    if not prompt.lstrip().startswith(_OF_AN_EDITOR):
        return prompt
    _, found, asked = prompt.partition(_REQUEST)
    return asked.strip() if found else prompt


def text_of_parts(content: object) -> str:
    """Return the text of a message in parts, or of a plain one."""
    if isinstance(content, str):
        return content
    return "".join(text_or_empty(object_or_empty(part).get("text")) for part in list_or_empty(content))


@dataclass(frozen=True)
class CodexMessage:
    """A message of the agent, with its phase and its id; '' where it has none."""

    text: str
    phase: str
    message_id: str

    def is_beginning_of(self, other: CodexMessage) -> bool:
        """Whether another one is the same message, as it is here or further on."""
        return self.message_id == other.message_id and other.text.startswith(self.text)


@dataclass
class CodexMessages:
    """What the agent said in a turn, by phase: of the final answer, while it worked, or not said of which."""

    from_events: list[CodexMessage] = field(default_factory=list)
    from_items: list[CodexMessage] = field(default_factory=list)
    last: str = ""

    def add(self, answer: CodexMessage, *, is_item: bool) -> None:
        """Add what the agent said; of a message that is written again the last state counts."""
        said = self.from_items if is_item else self.from_events
        begun = (place for place, one in enumerate(said) if answer.message_id and one.is_beginning_of(answer))
        place = next(begun, len(said))
        said[place : place + 1] = [answer]

    @property
    def response(self) -> str:
        """Return the final answer; where none is marked so what was said, and only then what was said on the way."""
        said = self.from_events or self.from_items
        for is_wanted in (_FINAL.__eq__, _is_unmarked, _COMMENTARY.__eq__):
            texts = [one.text for one in said if one.text.strip() and is_wanted(one.phase)]
            if texts:
                return "\n\n".join(texts)
        return self.last


def phase_of(message: Record) -> str:
    """Return the phase of a message of the agent; '' where it says none."""
    return text_in(message, "phase")


def _is_unmarked(phase: str) -> bool:
    return phase not in {_FINAL, _COMMENTARY}


SHELL = "shell"
_SHELLS = re.compile(r"(?:.*[/\\])?(?:ba|z|k|da)?sh(?:\.exe)?|(?:.*[/\\])?(?:powershell|pwsh)(?:\.exe)?")
_SCRIPT_FOLLOWS = re.compile(r"-[a-z]*c|-Command", re.IGNORECASE)
_OF_A_SHELL = frozenset({"shell", "shell_command", "exec_command", "local_shell", "container.exec"})
# How the model is told of the end of a command, before its output.
_HEADER = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?(?:(?:Exit code|Process exited with code):? (?P<first>-?\d+)\n)?"
    r"(?:Wall time: [^\n]*\n)?(?:Process exited with code (?P<second>-?\d+)\n)?(?:Process running with [^\n]*\n)?"
    r"(?:Original token count: [^\n]*\n)?(?:Total output lines: [^\n]*\n)?Output:\n"
)
_REFUSED = re.compile(r"(?:exec command |patch |tool call |\w+ )?rejected by (?:the )?user", re.IGNORECASE)
_INTERRUPTED = re.compile(r"aborted by (?:the )?user|command was interrupted", re.IGNORECASE)
# Of a long output its end is what runners sum up in.
_HEAD, _TAIL = 16_384, 114_688
_ITEMS = {
    "CommandExecution": SHELL,
    "FileChange": "apply_patch",
    "McpToolCall": "mcp",
    "DynamicToolCall": "dynamic",
    "CollabAgentToolCall": "agent",
    "WebSearch": "web_search",
    "ImageView": "view_image",
    "Extension": "extension",
}
_EVENTS = {"exec_command_end": SHELL, "patch_apply_end": "apply_patch", "mcp_tool_call_end": "mcp"}


class Calls:
    """Calls of a turn in the order in which they first occur, each once."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._ended_ids: set[str] = set()

    def __iter__(self) -> Any:  # noqa: ANN401 - an iterator of calls
        return iter(self._calls.values())

    def add_item(self, item: Record) -> None:
        """Add what an `item_completed` says of a tool call; other items are ignored."""
        tool = _ITEMS.get(text_in(item, "type"))
        if tool is not None:
            self._add_ended(text_in(item, "id"), tool, item)

    def add_event(self, event: Record) -> None:
        """Add what an event of the earlier generation says of the end of a tool call; others are ignored."""
        tool = _EVENTS.get(text_in(event, "type"))
        if tool is not None:
            self._add_ended(text_in(event, "call_id"), tool, event)

    def _add_ended(self, call_id: str, tool: str, ended: Record) -> None:
        call_id = call_id or f"call {len(self._calls) + 1}"
        status = text_in(ended, "status")
        output = text_in(ended, "aggregated_output") or text_in(ended, "stdout") + text_in(ended, "stderr")
        self._ended_ids.add(call_id)
        self._calls[call_id] = Call(
            call_id,
            tool,
            command_line(ended.get("command")) if tool == SHELL else "",
            _shorten_output(output),
            whole_number(ended.get("exit_code")),
            status in {"failed", "declined"} or ended.get("success") is False,
            "refused" if status == "declined" else "ended",
        )

    def begin(self, item: Record) -> None:
        """Add a call as the model made it."""
        call_id = text_in(item, "call_id") or text_in(item, "id")
        if not call_id or call_id in self._calls:
            return
        name = text_in(item, "name") or text_in(item, "type").removesuffix("_call")
        is_shell = name in _OF_A_SHELL
        self._calls[call_id] = Call(call_id, SHELL if is_shell else name, _command_in(item) if is_shell else "")

    def end(self, item: Record) -> None:
        """Add the result of a call as the model was given it, unless an event had it."""
        call_id = text_in(item, "call_id")
        begun = self._calls.get(call_id)
        if begun is None or call_id in self._ended_ids:
            return
        said = item.get("output")
        output, exit_code = _output_and_exit_code(
            said if isinstance(said, str) else text_of_parts(object_or_empty(said).get("content") or said)
        )
        end: CallEnd = "ended"
        if _REFUSED.match(output):
            end = "refused"
        elif _INTERRUPTED.match(output):
            end = "interrupted"
        self._calls[call_id] = begun._replace(output=_shorten_output(output), exit_code=exit_code, end=end)


def command_line(command: object) -> str:
    """Return a command, or the words of one, as a line for a shell."""
    if isinstance(command, str):
        return command
    words = [text_or_empty(word) for word in list_or_empty(command)]
    for place, word in enumerate(words[1:-1], start=1):
        if _SHELLS.fullmatch(words[0]) and _SCRIPT_FOLLOWS.fullmatch(word):
            return words[place + 1]
    return shlex.join(words)


def _command_in(item: Record) -> str:
    arguments = object_in(item, "action") or object_or_empty(_json(item.get("arguments")))
    return command_line(arguments.get("cmd") or arguments.get("command"))


def _output_and_exit_code(said: str) -> tuple[str, int | None]:
    """Return the output that the model was given, and the exit code; None where it is not stated."""
    answer = object_or_empty(_json(said)) if said.startswith("{") else {}
    if "output" in answer:
        return text_in(answer, "output"), whole_number(object_in(answer, "metadata").get("exit_code"))
    found = _HEADER.match(said)
    if not found:
        return said, None
    stated = found["first"] or found["second"]
    return said[found.end() :], None if stated is None else int(stated)


def _json(value: object) -> object:
    try:
        return orjson.loads(text_or_empty(value))
    except orjson.JSONDecodeError:
        return None


def _shorten_output(output: str) -> str:
    return output if len(output) <= _HEAD + _TAIL else f"{output[:_HEAD]}\n{output[-_TAIL:]}"


_BEGIN = "<oai-mem-citation>"
_BLOCK = re.compile(rf"{_BEGIN}([\s\S]*?)(?:</oai-mem-citation>|\Z)")
_ENTRY = re.compile(r"([^|]+):(\d{1,9})-(\d{1,9})(?:\||$)")
_LONGEST = 1_000  # characters of a line or word that can name a memory
_OF_THREADS = ("rollout_ids", "thread_ids")
# What Codex counts as a use of a memory.
_MEMORY_FILE = re.compile(
    r"(?:^|[/\\])memories[/\\]((?:MEMORY|memory_summary|raw_memories)\.md|(?:rollout_summaries|skills)[/\\][^\s*?]+)$"
)
_READING = frozenset({"cat", "sed", "head", "tail", "less", "more", "nl", "bat", "rg", "grep", "awk", "Get-Content"})
_FOLDER = "memories"


def cut_citations(answer: str) -> tuple[str, list[str], list[str]]:
    """Return an answer without its block of citations; the memories cited in it, and the older threads."""
    if _BEGIN not in answer:
        return answer, [], []
    cited: list[str] = []
    threads: list[str] = []
    for block in _BLOCK.findall(answer):
        threads += (line.strip() for tag in _OF_THREADS for line in _within(tag, block).splitlines())
        lines = (line.strip() for line in block.splitlines())
        found = (_ENTRY.match(line) for line in lines if len(line) <= _LONGEST)
        cited += (_cited_id(entry[1], entry[2], entry[3]) for entry in found if entry)
    return _BLOCK.sub("", answer).rstrip(), cited, [*filter(None, threads)]


def citations_in(citation: object) -> tuple[list[str], list[str]]:
    """Return the memories and the older threads of a `memory_citation`."""
    given = object_or_empty(citation)
    entries = map(object_or_empty, list_in(given, "entries"))
    cited = [
        _cited_id(text_in(one, "path"), whole_number(one.get("lineStart")), whole_number(one.get("lineEnd")))
        for one in entries
        if text_in(one, "path")
    ]
    threads = list_in(given, "rolloutIds") or list_in(given, "threadIds")
    return cited, [*filter(None, map(text_or_empty, threads))]


def memories_opened(command: str) -> Iterator[str]:
    """Yield the memories that a shell line reads."""
    line = shell_line(command) if _FOLDER in command else None
    for one in line.commands if line else ():
        words = program_words(one.words)
        if words and words[0] in _READING:
            found = (_MEMORY_FILE.search(word) for word in words[1:] if len(word) <= _LONGEST)
            yield from (_memory_id(match[1]) for match in found if match)


def _within(tag: str, block: str) -> str:
    return block.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]


def _cited_id(path: str, start: object, end: object) -> str:
    lines = f"#L{start}-{end}" if start is not None and end is not None else ""
    found = _MEMORY_FILE.search(path[:_LONGEST])
    return f"{_memory_id(found[1] if found else path)}{lines}"


def _memory_id(path: str) -> str:
    return f"codex:{path.replace(chr(92), '/')}"


def tokens_of(usage: object) -> int | None:
    """Return tokens in and out; cached ones are part of those in, reasoning of those out. None: not stated."""
    stated = object_or_empty(usage)
    read, written = whole_number(stated.get("input_tokens")), whole_number(stated.get("output_tokens"))
    if read is None and written is None:
        return whole_number(stated.get("total_tokens"))
    return (read or 0) + (written or 0)


class TurnTokens:
    """The tokens of one turn. `before`: the thread's total when it began, None where none is stated."""

    def __init__(self, before: int | None) -> None:
        self._before = before
        self._total: int | None = None
        self._responses: dict[str, int] = {}

    def add_response(self, response_id: str, tokens: int | None) -> None:
        """Add the tokens of a response, once however often it is repeated."""
        if tokens is not None:
            self._responses[response_id or str(len(self._responses))] = tokens

    def set_total(self, tokens: int, spent: int | None) -> None:
        """Set the thread's total by now, with what of it the last response `spent`: the first tells what was before."""
        if self._before is None and spent is not None:
            self._before = max(tokens - spent, 0)
        self._total = tokens

    @property
    def tokens(self) -> int | None:
        """Return the tokens of the turn; None where nothing is stated."""
        if self._responses:
            return sum(self._responses.values())
        if self._total is None or self._before is None:
            return None
        # a total that has shrunk was begun anew
        return self._total - self._before if self._total >= self._before else self._total


# Shorter ones are numbers that begin anew with each start of Codex.
_SHORTEST_ID = 16


@dataclass
class ReadTurn:
    """What is known of a turn so far. Times are texts; `began` and `ended` are '' where only lines have a time.

    `is_marked`: a record says where it begins. `is_copied`: it is another thread's, whose fork this one is.
    """

    turn_id: str
    began: str
    written_at: str
    usage: TurnTokens
    is_marked: bool = False
    is_copied: bool = False
    ended: str = ""
    end: TurnEnd | None = None
    duration_ms: float | None = None
    directory: str = ""
    model: str = ""
    prompts: TurnMessages = field(default_factory=TurnMessages)
    answers: CodexMessages = field(default_factory=CodexMessages)
    calls: Calls = field(default_factory=Calls)
    cited: list[str] = field(default_factory=list)
    rollouts: list[str] = field(default_factory=list)
    last_at: str = ""
    has_failed: bool = False

    def __post_init__(self) -> None:
        self.last_at = self.last_at or self.written_at

    @property
    def prompt(self) -> str:
        """Return what was asked, and what the person added while the agent worked."""
        return "\n\n".join(filter(str.strip, self.prompts.texts))

    @property
    def is_answered(self) -> bool:
        """Whether the agent said or did anything."""
        return bool(self.answers.from_events or self.answers.from_items or [*self.calls])

    def note_time(self, at: str) -> None:
        """Note when a record of the turn was written."""
        self.last_at = at or self.last_at

    def is_once_more(self, *, is_item: bool) -> bool:
        """Whether a message of the user that comes now is one that came already, as the other kind of record."""
        from_events, from_items = len(self.prompts.from_events), len(self.prompts.from_items)
        return not self.is_answered and (from_items < from_events if is_item else from_events < from_items)

    def add_prompt(self, prompt: str, *, is_item: bool = False) -> None:
        """Add a message of the user, from an event, or as the model was given it."""
        (self.prompts.from_items if is_item else self.prompts.from_events).append(without_editor_context(prompt))

    def add_answer(self, answer: str, message: Record, *, is_item: bool = False) -> None:
        """Add a message of the agent, likewise."""
        plain, cited, rollouts = cut_citations(answer)
        more, more_rollouts = citations_in(message.get("memory_citation"))
        self.cited += [*cited, *more]
        self.rollouts += [*rollouts, *more_rollouts]
        self.answers.add(CodexMessage(plain, phase_of(message), text_in(message, "id")), is_item=is_item)
        self.has_failed = False

    def finish(self, end: TurnEnd, event: Record) -> None:
        """Note how and when the turn ended, by the record that says so."""
        self.end = end
        self.ended = time_text(event.get("completed_at"))
        duration = whole_number(event.get("duration_ms"))
        self.duration_ms = None if duration is None or duration < 0 else float(duration)
        self.answers.last = cut_citations(text_in(event, "last_agent_message"))[0]

    @property
    def has_own_times(self) -> bool:
        """Whether its times follow from what is in its records, so that they are the same in every copy."""
        return bool(self.began and self.ended)


def interaction_id(turn: ReadTurn, thread: Thread, number: int) -> str:
    """Return the id of a turn: its own, or else that of its thread with the number of its prompt there."""
    if len(turn.turn_id) >= _SHORTEST_ID:
        return f"codex:{turn.turn_id}"
    return f"codex:{thread.thread_id}:{number}"


def turn_of(turn: ReadTurn, thread: Thread, number: int, context: Context) -> Turn:
    """Return a turn that was read to its end, or as far as there is. `number`: of its prompt in the thread, from 1."""
    calls = [*turn.calls]
    cited = [*dict.fromkeys(turn.cited)]
    used = [*dict.fromkeys([*cited, *(path for call in calls for path in memories_opened(call.command))])]
    fields = {
        "tokens": turn.usage.tokens,
        "memories_used": used or None,
        "memories_cited": cited or None,
        "cited_threads": [*dict.fromkeys(turn.rollouts)] or None,
        "model": turn.model or None,
        "git_branch": thread.branch or None,
        "thread_id": thread.thread_id if thread.thread_id != thread.session_id else None,
        "parent_thread": thread.forked_from or None,
    }
    began = turn.began or turn.written_at
    return Turn(
        interaction_id=interaction_id(turn, thread, number),
        created_at=began,
        ended_at=turn.ended or turn.last_at or began,
        prompt=turn.prompt,
        response=turn.answers.response.strip(),
        project=context.project_of(turn.directory or thread.directory),
        agent=thread.agent,
        client=thread.client,
        session_id=thread.session_id,
        end=turn.end or "open",
        duration_ms=turn.duration_ms,
        calls=with_needed_outputs(calls),
        fields={name: value for name, value in fields.items() if value is not None},
        client_version=thread.version,
    )
