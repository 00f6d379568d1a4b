"""Transcripts of Claude Code: records of a session, one to a line, become its turns; nothing else of them is kept.

What was seen in files of 2.0.76 to 2.1.38, and of later versions in what others have written about theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Made, Record, check_names
from slowwave.transforms.imports.claude_code_records import answer_key, origin, prompt_text
from slowwave.transforms.imports.claude_code_session import COPY, NAME, ClaudeConversation
from slowwave.transforms.imports.forks import Outline, SeenTurn
from slowwave.transforms.imports.record_values import text_in
from slowwave.transforms.imports.turn_rows import TURN_OPTIONS

# The one kind of record that is not the client's: what stands beside a subagent's transcript, put before it.
AGENT_METADATA = "agent_metadata"
_OF_CONVERSATION = frozenset({"user", "assistant", "system", "attachment"})
# Subagents that the client starts for itself: summaries, suggestions, asides.
_OWN_AGENTS = ("acompact", "aprompt_suggestion", "aside_question")
_OF_SESSION = frozenset(
    {
        "agent-name", "ai-title", "atis-latch", "bridge-session", "content-replacement", "cost-state", "custom-title",
        "file-history-delta", "file-history-snapshot", "last-prompt", "mode", "permission-mode", "pr-link",
        "queue-operation", "summary",
    }
)  # fmt: skip


class ClaudeCode:
    """Transcripts of sessions, and of subagents, in their own files or within the session's."""

    name = NAME
    version = 4

    def detect_producer(self, first: Sequence[Record]) -> str | None:
        """As in Adapter."""
        of_session = False
        for record in first:
            kind, version = text_in(record, "type"), text_in(record, "version")
            if kind in _OF_CONVERSATION | {"progress"} and text_in(record, "uuid") and text_in(record, "sessionId"):
                return f"Claude Code {version}".rstrip()
            of_session |= kind in _OF_SESSION and (
                "sessionId" in record or "messageId" in record or "leafUuid" in record
            )
        return "Claude Code" if of_session else None

    def make_rows(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """As in Adapter. Raises OptionsError for options that it does not have."""
        check_names(context.options, TURN_OPTIONS)
        yield from _ClaudeTranscript(context).make_rows(records)

    def outline(self, read: Callable[[Callable[[bytes], bool]], Iterable[Located]]) -> Outline:
        """As in Forking: a copy of a prompt keeps its uuid, says which it had, or has the same answer."""
        outline = Outline("")
        prompts: dict[str, Record] = {}  # by subagent, which an answer may follow

        def is_wanted(line: bytes) -> bool:
            if b'"user"' in line and b'"tool_result"' not in line:
                return True
            return bool(prompts or not outline.session) and b'"assistant"' in line

        for located in read(is_wanted):
            record = located.record
            outline.session = outline.session or text_in(record, "sessionId")
            uuid, at = text_in(record, "uuid"), text_in(record, "timestamp")
            if record.get("type") == "assistant":
                prompt = prompts.pop(text_in(record, "agentId"), None)
                if prompt is not None and (key := answer_key(prompt, record)):
                    outline.copied_from[origin(prompt)[0]] = key
                continue
            if record.get("type") != "user" or record.get("isMeta") is True or not uuid:
                continue
            if prompt_text(record):
                prompts[text_in(record, "agentId")] = record
            original = origin(record)[0]
            if original != uuid:
                outline.copied_from[uuid] = original
            outline.turns[uuid] = SeenTurn(f"{NAME}:{original}", at)
        return outline


class _ClaudeTranscript:
    """One file: the conversation with the person, and those of the subagents that stand in it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: set[str] = set()
        self._main = ClaudeConversation(context, self._known)
        self._agents: dict[str, ClaudeConversation] = {}
        self._agent_of: dict[str, str] = {}  # of records of subagents without an id: the record that began it
        self._agent_type = ""
        self._seen: set[str] = set()

    def make_rows(self, records: Iterable[Located]) -> Iterator[Made]:
        for located in records:
            record = located.record
            kind, uuid = text_in(record, "type"), text_in(record, "uuid")
            if uuid:
                self._known.add(uuid)
            if kind in _OF_CONVERSATION:
                if self._is_seen(uuid):
                    yield LeftOut(COPY)
                elif record.get("isSidechain") is True:
                    yield from self._sidechain(located.number, record)
                else:
                    yield from self._main.take(located.number, record)
            elif kind == "progress":
                yield from self._progress(located)
            elif kind == AGENT_METADATA:
                self._agent_type = text_in(record, "agentType")
            else:
                yield LeftOut(f"a record of the client's own ({kind[:40] or 'no type'})")
        yield from self._main.end()
        for agent in self._agents.values():
            yield from agent.end()

    def _is_seen(self, uuid: str) -> bool:
        """A session that was resumed may begin with its own records again."""
        if not uuid:
            return False
        if uuid in self._seen:
            return True
        self._seen.add(uuid)
        return False

    def _sidechain(self, number: int, record: Record) -> Iterator[Made]:
        key = text_in(record, "agentId") or self._root(record)
        yield from self._of_agent(key, number, record, self._agent_type or self._main.subagent_of())

    def _root(self, record: Record) -> str:
        uuid = text_in(record, "uuid")
        root = self._agent_of.get(text_in(record, "parentUuid"), uuid)
        self._agent_of[uuid] = root
        return root

    def _progress(self, located: Located) -> Iterator[Made]:
        """What a subagent did, as versions before it had a file of its own wrote it into the session's."""
        outer = located.record
        data = outer.get("data")
        inner = data.get("message") if isinstance(data, dict) else None
        if not isinstance(data, dict) or data.get("type") != "agent_progress" or not isinstance(inner, dict):
            yield LeftOut("a notice of progress")
            return
        uuid = text_in(inner, "uuid")
        if self._is_seen(uuid):
            yield LeftOut(COPY)
            return
        shared = ("sessionId", "version", "cwd", "gitBranch", "timestamp")
        of_outer = {name: outer[name] for name in shared if name in outer}
        if uuid:
            self._known.add(uuid)
        record = {**of_outer, **inner, "agentId": text_in(data, "agentId"), "isSidechain": True}
        kind = self._main.subagent_of(text_in(outer, "parentToolUseID"))
        yield from self._of_agent(text_in(data, "agentId"), located.number, record, kind)

    def _of_agent(self, key: str, number: int, record: Record, kind: str) -> Iterator[Made]:
        if key.startswith(_OWN_AGENTS):
            yield LeftOut("work of the client's own subagents", example=key)
            return
        agent = self._agents.get(key)
        if agent is None:
            agent = self._agents[key] = ClaudeConversation(self._context, self._known, is_subagent=True, agent=kind)
            asking = self._main.turn
            agent.parent_interaction = asking.interaction_id if asking is not None else ""
        yield from agent.take(number, record)
