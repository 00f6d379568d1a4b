"""The records of one conversation in Claude Code, of the person or of a subagent, as turns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.adapter import Context, LeftOut, Made, Record, Refused, Turn
from slowwave.transforms.imports.claude_code_records import (
    ASKED_BY_MACHINES,
    INTERRUPTED,
    OUTPUT_OF_COMMAND,
    AnswerTexts,
    ClaudeCall,
    Copies,
    SlashCommand,
    blocks,
    channel,
    end_call,
    instruction_memories,
    is_memory_file,
    memories_read,
    message_id,
    origin,
    prompt_without_additions,
    recalled_memories,
    slash_command,
    start_call,
    text_of,
    why_not_prompt,
)
from slowwave.transforms.imports.record_values import moment_of, text_in
from slowwave.transforms.imports.turn_rows import TurnLog

NAME = "claude-code"
_SYNTHETIC = "<synthetic>"
_OVER = frozenset({"end_turn", "stop_sequence", "max_tokens", "refusal"})
_WORKTREE = re.compile(r"[/\\]\.claude[/\\]worktrees[/\\][^/\\]+")
_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
OF_CLIENT = "a command of the client's own"
COPY = "a copy of a record above it"
NO_TURN = "an answer without its prompt"
WARM_UP = "a warm-up of a subagent"
PICTURE = "[image]"
_RAW = 2_000


@dataclass
class _ClaudeTurnParts:
    """What is gathered of the open turn."""

    texts: AnswerTexts = field(default_factory=AnswerTexts)
    calls: dict[str, ClaudeCall] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)
    tokens: dict[str, int] = field(default_factory=dict)
    memories: list[str] = field(default_factory=list)
    memory_context: str = ""
    queued: list[str] = field(default_factory=list)
    model: str = ""
    error: str = ""
    last_record: str = ""
    copied_at: str = ""


class ClaudeConversation:
    """Records in their order; each gives what its turn makes once that is over.

    `known`: the ids of all records of the transcript so far. `is_subagent`: an agent asks.
    """

    def __init__(self, context: Context, known: Collection[str], *, is_subagent: bool = False, agent: str = "") -> None:
        self._context = context
        self._known = known
        self._is_subagent = is_subagent
        self._log = TurnLog(context)
        self._copies = Copies()
        self._open = _ClaudeTurnParts()
        self._command: SlashCommand | None = None
        self._instructions: list[str] = []
        self._waiting: list[str] = []
        self._is_new_context = False
        self._is_warming = False
        self._directory = ""
        self.agent = agent
        self.parent_interaction = ""

    @property
    def turn(self) -> Turn | None:
        """The open turn."""
        return self._log.turn

    def subagent_of(self, call_id: str = "") -> str:
        """The kind of agent that a call started; without its id, that of those at work if they are all of one."""
        asked_for = [call_id] if call_id else self._open.pending
        calls = self._open.calls
        kinds = {calls[call_id].subagent for call_id in asked_for if call_id in calls} - {""}
        return kinds.pop() if len(kinds) == 1 else ""

    def take(self, number: int, record: Record) -> Iterator[Made]:
        """One record whose id was not seen before."""
        for at, each, prompt in self._copies.take(number, record):
            yield from self._take(at, each, prompt)

    def _take(self, number: int, record: Record, copied_from: str) -> Iterator[Made]:
        kind = record.get("type")
        if copied_from:
            yield LeftOut(COPY)
            self._log.note(text_in(record, "uuid"), copied_from)
            return
        if kind == "user":
            yield from self._user(number, record)
        elif kind == "assistant":
            yield from self._assistant(record)
        elif kind == "attachment":
            yield from self._attachment(record)
        elif kind == "system":
            yield from self._system(record)
        self._log.note(text_in(record, "uuid"), text_in(record, "parentUuid") or None)
        if kind == "assistant":
            self._log.note(message_id(record), text_in(record, "uuid"))

    def end(self) -> Iterator[Made]:
        """The transcript is over."""
        for number, record, prompt in self._copies.remaining_records():
            yield from self._take(number, record, prompt)
        yield from self._drop_command()
        if self.turn is not None:
            self._complete()
        yield from self._log.end()

    # ------------------------------------------------------------------------------------------------- what was asked

    def _user(self, number: int, record: Record) -> Iterator[Made]:
        given = blocks(record)
        results = [block for block in given if block.get("type") == "tool_result"]
        for block in results:
            self._result(block, record)
        text = text_of([block for block in given if block.get("type") == "text"])
        if text.startswith(INTERRUPTED):
            yield from self._interrupt_turn(record)
        elif not results:
            yield from self._handle_prompt(number, record, text)

    def _handle_prompt(self, number: int, record: Record, text: str) -> Iterator[Made]:
        why = why_not_prompt(record, text)
        if why:
            yield LeftOut(why, example=text[:200])
            if why == OUTPUT_OF_COMMAND:
                yield from self._drop_command(is_of_client=True)
            elif why in ASKED_BY_MACHINES:
                yield from self._drop_command()
                yield from self._close()
            return
        yield from self._drop_command()
        source, text = channel(record, text)
        command = slash_command(text)
        if command is not None:
            self._command = SlashCommand(number, record, command[0], "" if says_nothing(command[1]) else command[1])
            return
        prompt = prompt_without_additions(text)
        if says_nothing(prompt) and any(block.get("type") == "image" for block in blocks(record)):
            prompt = PICTURE
        self._is_warming = self._is_subagent and prompt == "Warmup"
        if self._is_warming:
            yield LeftOut(WARM_UP, example=prompt)
            return
        yield from self._begin(number, record, prompt, source=source)

    def _drop_command(self, *, is_of_client: bool = False) -> Iterator[Made]:
        """A command that the agent did not answer: the client's own, or a prompt that nobody has answered yet."""
        command, self._command = self._command, None
        if command is None:
            return
        if is_of_client or not command.is_prompt:
            yield LeftOut(OF_CLIENT, example=command.name)
        else:
            yield from self._begin(command.number, command.record, command.prompt, command.name)

    def _close(self) -> Iterator[Made]:
        """The open turn is over: what follows is no answer to it."""
        if self.turn is not None:
            self._complete()
            yield from self._log.close()
        self._open = _ClaudeTurnParts()

    def _begin(self, number: int, record: Record, prompt: str, command: str = "", source: str = "") -> Iterator[Made]:
        at, uuid = text_in(record, "timestamp"), text_in(record, "uuid")
        if not uuid or moment_of(at) is None:
            what = "an id (uuid)" if not uuid else "a time"
            yield Refused(number, f"a prompt of Claude Code's without {what}", repr(dict(record))[:_RAW])
            yield from self._close()
            return
        turn = self._turn(record, prompt, command, source)
        self._complete()
        yield from self._log.begin(turn, uuid, text_in(record, "parentUuid") or None)
        self._open = _ClaudeTurnParts(last_record=origin(record)[0], copied_at=at)
        self._attach()

    def _turn(self, record: Record, prompt: str, command: str, source: str) -> Turn:
        version, agent_id = text_in(record, "version"), text_in(record, "agentId")
        images = sum(block.get("type") == "image" for block in blocks(record))
        fields = {
            "git_branch": text_in(record, "gitBranch"),
            "command": command,
            "prompt_id": text_in(record, "promptId"),
            "images": images,
            "agent_id": agent_id,
            "parent_interaction": self.parent_interaction,
        }
        at = text_in(record, "timestamp")
        uuid, session = origin(record)
        return Turn(
            interaction_id=f"{NAME}:{uuid}",
            created_at=at,
            ended_at=at,
            prompt=prompt,
            project=self._project(text_in(record, "cwd")),
            agent=self.agent or ("subagent" if self._is_subagent else NAME),
            client=(f"{NAME}/{version}" if version else NAME) + (f" ({source})" if source else ""),
            session_id=session,
            end="open",
            fields={name: value for name, value in fields.items() if value},
            client_version=version,
        )

    def _project(self, directory: str) -> str:
        """That of the folder the session began in, as long as the work is below it."""
        directory = _WORKTREE.sub("", directory)
        if not self._directory or not f"{directory}/".startswith(f"{self._directory}/"):
            self._directory = directory
        return self._context.project_of(self._directory) if self._directory else ""

    # --------------------------------------------------------------------------------------------- what became of it

    def _assistant(self, record: Record) -> Iterator[Made]:
        message = record.get("message")
        if not isinstance(message, dict):
            yield LeftOut("an answer without a message")
            return
        if message.get("model") == _SYNTHETIC or record.get("isApiErrorMessage") is True:
            self._synthetic(record)
            return
        if self._command is not None:
            command, self._command = self._command, None
            yield from self._begin(command.number, command.record, command.prompt, command.name)
        yield from self._close_if_prompt_is_missing(record)
        turn, open_turn = self.turn, self._open
        if turn is None or self._is_warming:
            yield LeftOut(WARM_UP if self._is_warming else NO_TURN, example=text_of(message.get("content"))[:200])
            return
        is_over = text_in(message, "stop_reason") in _OVER
        if self._is_copy(record, is_over=is_over):
            yield LeftOut(COPY)
            return
        self._goes_on()
        self.agent = self.agent or text_in(record, "attributionAgent")
        if self._is_subagent and self.agent:
            turn.agent = self.agent
        self._last(record)
        open_turn.model = text_in(message, "model") or open_turn.model
        self._count_tokens(message)
        for block in blocks(record):
            self._block(block, text_in(message, "id"))
        turn.end = "ended" if is_over and not open_turn.pending else "open"
        if record.get("isAbortedMidStream") is True:
            turn.end = "interrupted"

    def _close_if_prompt_is_missing(self, record: Record) -> Iterator[Made]:
        """An answer to a record that is not there, behind a turn that seemed to be over: so its prompt is not there."""
        parent = text_in(record, "parentUuid")
        is_missing = bool(parent) and parent not in self._known and message_id(record) not in self._open.tokens
        if is_missing and self.turn is not None and self.turn.end != "open":
            yield from self._close()

    def _is_copy(self, record: Record, *, is_over: bool) -> bool:
        """Whether a record says nothing that the turn does not have, of a message of which it has something."""
        message = message_id(record)
        if message not in self._open.tokens or (is_over and self.turn is not None and self.turn.end == "open"):
            return False
        given = blocks(record)
        return bool(given) and all(self._has(block, message) for block in given)

    def _has(self, block: Mapping[str, Any], message: str) -> bool:
        open_turn = self._open
        if block.get("type") == "tool_use":
            return self._has_ended(text_in(block, "id"))
        return block.get("type") == "text" and open_turn.texts.has(message, text_in(block, "text").strip("\n"))

    def _has_ended(self, call_id: str) -> bool:
        return call_id in self._open.calls and call_id not in self._open.pending

    def _block(self, block: Mapping[str, Any], message: str) -> None:
        open_turn, text = self._open, text_in(block, "text").strip("\n")
        if block.get("type") == "text" and not says_nothing(text):
            open_turn.texts.add(message, text)
            return
        call = start_call(block) if block.get("type") == "tool_use" else None
        if call is not None and not self._has_ended(call.call.call_id):
            open_turn.calls[call.call.call_id] = call
            open_turn.pending.add(call.call.call_id)

    def _count_tokens(self, message: Mapping[str, Any]) -> None:
        """The last record of a message has its usage; records of one message repeat it."""
        usage = message.get("usage")
        if isinstance(usage, dict):
            counts = (usage.get(name) for name in _TOKENS)
            spent = sum(count for count in counts if isinstance(count, int) and count > 0)
            self._open.tokens[text_in(message, "id")] = spent

    def _synthetic(self, record: Record) -> None:
        """What the client says in the agent's place: errors of the API; other words are nobody's."""
        is_error = record.get("isApiErrorMessage") is True or text_in(record, "error")
        if self.turn is None or not is_error:
            return
        self._goes_on()
        self._last(record)
        self.turn.end = "api_error"
        self._open.error = text_in(record, "error") or text_of(blocks(record))

    def _result(self, block: Mapping[str, Any], record: Record) -> None:
        call = self._open.calls.get(text_in(block, "tool_use_id"))
        if call is None or self.turn is None:
            return
        ended = end_call(call.call, block, record)
        if ended == call.call and self._has_ended(ended.call_id):
            return
        self._goes_on()
        call.call = ended
        self._open.pending.discard(call.call.call_id)
        self._last(record)
        if call.path and is_memory_file(call.path) and not call.call.is_error:
            self._give(memories_read(call.path, record.get("toolUseResult"), text_of(block.get("content"))), "read")

    def _interrupt_turn(self, record: Record) -> Iterator[Made]:
        """The turn of the message that the record names, or of the record it hangs on, was interrupted."""
        names = (text_in(record, "interruptedMessageId"), text_in(record, "parentUuid"))
        earlier = next((name for name in names if self._log.is_known(name)), "")
        if earlier and self._log.is_earlier(earlier):
            yield from self._log.interrupt_turn(earlier, text_in(record, "timestamp"))
        elif self.turn is not None:
            self._goes_on()
            self._last(record)
            self.turn.end = "interrupted"
            self._open.pending.clear()

    def _system(self, record: Record) -> Iterator[Made]:
        subtype, turn = text_in(record, "subtype"), self.turn
        if subtype in ("turn_duration", "stop_hook_summary") and turn is not None:
            self._last(record)
            duration = record.get("durationMs")
            if isinstance(duration, (int, float)) and not isinstance(duration, bool) and duration >= 0:
                turn.duration_ms = (turn.duration_ms or 0) + duration
            turn.end = "ended" if turn.end == "open" else turn.end
        yield LeftOut(f"a notice of the client's ({subtype[:40] or 'system'})")

    # ------------------------------------------------------------------------------------------------------- memories

    def _attachment(self, record: Record) -> Iterator[Made]:
        attachment = record.get("attachment")
        kind = text_in(attachment, "type") if isinstance(attachment, dict) else ""
        if not isinstance(attachment, dict):
            yield LeftOut("an attachment without content")
        elif kind == "instructions":
            self._instructions = instruction_memories(attachment)
            self._is_new_context = True
            self._attach()
        elif kind in ("nested_memory", "relevant_memories"):
            self._waiting += recalled_memories(attachment)
            self._attach()
        elif kind == "queued_command" and self._is_asked(attachment):
            self._open.queued.append(prompt_without_additions(text_of(attachment.get("prompt"))))
        yield LeftOut(f"an attachment ({kind[:40]})")

    def _is_asked(self, attachment: Mapping[str, Any]) -> bool:
        mode = attachment.get("commandMode", "prompt")
        return (
            mode == "prompt"
            and self.turn is not None
            and not why_not_prompt(attachment, text_of(attachment.get("prompt")))
        )

    def _attach(self) -> None:
        """Give the open turn what is attached; what comes behind its end waits for the next."""
        if self.turn is None or self.turn.end != "open":
            return
        waiting, self._waiting = self._waiting, []
        self._give(waiting, "attached")
        if self._instructions:
            self._give(self._instructions, "attached" if self._is_new_context else "carried")
            self._is_new_context = False

    def _give(self, memories: list[str], how: str) -> None:
        open_turn = self._open
        if memories:
            open_turn.memories += memories
            open_turn.memory_context = how if open_turn.memory_context in ("", "carried") else open_turn.memory_context

    # ------------------------------------------------------------------------------------------------------------ end

    def _goes_on(self) -> None:
        """A record changes the open turn: it may have seemed to be over."""
        if self.turn is not None and self.turn.end != "open":
            self._complete()
            self._log.goes_on()

    def _last(self, record: Record) -> None:
        """A record belongs to the open turn."""
        turn, open_turn, at = self.turn, self._open, text_in(record, "timestamp")
        if turn is None:
            return
        uuid = origin(record)[0]
        if uuid != text_in(
            record, "uuid"
        ):  # the last record that a fork copied has the time of the fork: each has that before it
            at, open_turn.copied_at = open_turn.copied_at, at
        open_turn.last_record = uuid or open_turn.last_record
        moment, ended = moment_of(at), moment_of(turn.ended_at)
        if moment is not None and (ended is None or moment >= ended):
            turn.ended_at = at

    def _complete(self) -> None:
        """Give the open turn what was gathered of it."""
        turn, open_turn = self.turn, self._open
        if turn is None:
            return
        turn.response = open_turn.texts.response()
        turn.calls = [call.call for call in open_turn.calls.values()]
        turn.record_ids = (turn.interaction_id.partition(":")[2], open_turn.last_record)
        fields = {
            "tokens": sum(open_turn.tokens.values()) if open_turn.tokens else None,
            "memories_used": list(dict.fromkeys(open_turn.memories)),
            "memory_context": open_turn.memory_context,
            "model": open_turn.model,
            "queued_prompts": open_turn.queued,
            "api_error": open_turn.error,
            "tool_calls": dict(sorted(Counter(call.tool for call in turn.calls).items())),
        }
        turn.fields |= {name: value for name, value in fields.items() if value not in (None, "", [], {})}
