"""Rollouts of Codex, of both generations of its format: a thread's records become turns, and turns become rows."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import orjson

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.adapter import (
    Context,
    LeftOut,
    Located,
    Made,
    Record,
    Refused,
    Turn,
    TurnEnd,
    check_names,
)
from slowwave.transforms.imports.codex_threads import (
    BareRecords,
    Lineage,
    directory_of,
    folder_path,
    is_bare_header,
    is_bare_item,
    is_bare_message,
    time_text,
)
from slowwave.transforms.imports.codex_turns import ReadTurn, TurnTokens, is_of_codex, text_of_parts, tokens_of, turn_of
from slowwave.transforms.imports.record_values import (
    list_in,
    object_in,
    object_or_empty,
    text_in,
    text_or_empty,
    whole_number,
)
from slowwave.transforms.imports.turn_rows import TURN_OPTIONS, turn_rows

# A record that takes turns back comes after them; of more than these it is not seen.
_MOST_FINISHED = 64
_ABORTED: dict[str, TurnEnd] = {"interrupted": "interrupted", "replaced": "interrupted", "review_ended": "ended"}
_NO_TURNS = frozenset(
    {"compacted", "world_state", "retained_context", "realtime_item", "inter_agent_communication", "state"}
)

NO_THREAD = "a turn of a rollout that does not say of which thread: its session_meta record is missing"
NO_TIME = "a turn of a rollout without times: its header, the first record, is missing"
COPIED = "turns copied from the thread this one was forked from"
OF_CODEX = "messages that Codex wrote in the user's name"


@dataclass
class _FinishedTurn:
    """A turn that is over, until nothing can change it any more."""

    turn: Turn
    infers: bool


class Rollout:
    """The state of reading one rollout: `taken` for each record, then `rest`."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._bare = BareRecords()
        self._lineage = Lineage()
        self._turn: ReadTurn | None = None
        self._finished: deque[_FinishedTurn] = deque()
        self._prompts = 0
        self._total: int | None = None
        self._directory = self._model = ""
        self._left_out: Counter[str] = Counter()
        self._number = self._number_of_items = 0
        self._nameless = ""
        self._usage_of: dict[str, TurnTokens] = {}
        self._events: dict[str, Callable[[Record, str], Iterator[Made]]] = {
            "task_started": self._start_turn,
            "turn_started": self._start_turn,
            "task_complete": self._complete_turn,
            "turn_complete": self._complete_turn,
            "turn_aborted": self._abort_turn,
            "thread_rolled_back": self._roll_back,
            "user_message": self._user_message,
            "item_completed": self._add_item,
        }

    def take(self, located: Located) -> Iterator[Made]:
        """Yield what follows from one more record."""
        record, self._number = self._bare.wrap(located.record), located.number
        kind, payload, at = (
            text_in(record, "type"),
            object_in(record, "payload"),
            time_text(record.get("timestamp")),
        )
        if kind == "session_meta":
            self._lineage.add_meta(payload, at)
            return
        purpose = self._lineage.thread.own_purpose
        if purpose:
            self._left_out[f"records of a thread that Codex started for itself: {purpose}"] += 1
            return
        self._lineage.note_record(whole_number(record.get("ordinal")), at)
        if self._number_of_items == 0 and kind == "response_item":
            # response items alone, without a header: the first of them names the thread
            self._nameless = f"unnamed-{digest([at, orjson.dumps(payload, option=orjson.OPT_SORT_KEYS).decode()])[:16]}"
        self._number_of_items += 1
        self._nameless = self._nameless if kind == "response_item" else ""
        yield from self._take(kind, payload, at)

    def _take(self, kind: str, payload: Record, at: str) -> Iterator[Made]:
        event = text_in(payload, "type")
        if kind == "event_msg" and event in self._events:
            yield from self._events[event](payload, at)
        elif kind == "event_msg":
            self._add_event(event, payload, at)
        elif kind == "response_item":
            yield from self._add_response_item(payload, at)
        elif kind == "turn_context":
            self._turn_context(payload)
        elif kind == "token_usage_record":
            self._add_tokens(text_in(payload, "response_id"), payload, at)
        elif kind in _NO_TURNS:
            self._left_out[f"records of no turn: {kind}"] += 1
        else:
            self._left_out[f"records of another kind: {kind[:40] or 'none'}"] += 1

    def _add_tokens(self, response_id: str, payload: Record, at: str) -> None:
        """The tokens of a response, which are of the turn that had it first."""
        turn = self._turn
        if turn is not None:
            turn.note_time(at)
            if not response_id or self._usage_of.setdefault(response_id, turn.usage) is turn.usage:
                turn.usage.add_response(response_id, tokens_of(payload.get("usage")))

    def end(self) -> Iterator[Made]:
        """Yield what is left when there are no more records."""
        yield from self._close(is_followed=False)
        while self._finished:
            yield from self._release_oldest()
        yield from (LeftOut(sort, count) for sort, count in self._left_out.items() if count)

    # where turns begin and end

    def _open(self, turn_id: str, began: str, at: str, *, is_marked: bool) -> ReadTurn:
        is_copied = self._lineage.is_copied(turn_id, began)
        self._turn = ReadTurn(turn_id, began, at, TurnTokens(self._total), is_marked, is_copied)
        self._turn.directory, self._turn.model = self._directory, self._model
        return self._turn

    def _start_turn(self, event: Record, at: str) -> Iterator[Made]:
        turn_id, began = text_in(event, "turn_id"), time_text(event.get("started_at"))
        turn = self._turn
        if turn is not None and not turn.is_marked and not turn.is_answered:
            # its prompt was written down before it
            turn.turn_id, turn.began, turn.is_marked = turn_id, began, True
            turn.is_copied = self._lineage.is_copied(turn_id, began)
            return
        yield from self._close()
        self._open(turn_id, began, at, is_marked=True)

    def _complete_turn(self, event: Record, at: str) -> Iterator[Made]:
        failed = bool(event.get("error")) or (self._turn is not None and self._turn.has_failed)
        yield from self._end_turn("api_error" if failed else "ended", event, at)

    def _abort_turn(self, event: Record, at: str) -> Iterator[Made]:
        yield from self._end_turn(_ABORTED.get(text_in(event, "reason")), event, at)

    def _end_turn(self, end: TurnEnd | None, event: Record, at: str) -> Iterator[Made]:
        """The end of a turn; of no kind where something else than a person broke it off."""
        turn, ended = self._turn, text_in(event, "turn_id")
        if turn is None or (ended and turn.turn_id and ended != turn.turn_id):
            return
        turn.note_time(at)
        turn.finish(end or "ended", event)
        yield from self._close(is_cut_off=end is None)

    def _close(self, *, is_followed: bool = True, is_cut_off: bool = False) -> Iterator[Made]:
        """The turn that is read is over, or there is no more of it."""
        turn, self._turn = self._turn, None
        if turn is None:
            return
        if turn.end is None and is_followed:
            # who marks where turns begin marks where they end too, unless it is killed
            is_cut_off |= turn.is_marked
            turn.end = "ended"
        thread = self._lineage.thread_of_turn(is_copied=turn.is_copied)
        if thread is None or (turn.is_copied and not turn.has_own_times):
            self._left_out[COPIED] += 1
            return
        is_asked = not says_nothing(turn.prompt)
        if not thread.thread_id and self._nameless and turn.written_at:
            thread = replace(thread, thread_id=self._nameless, session_id=self._nameless)
        if is_asked and not thread.thread_id:
            raw = orjson.dumps({"prompt": turn.prompt, "timestamp": turn.written_at})
            yield Refused(self._number, NO_THREAD if turn.written_at else NO_TIME, raw.decode())
            return
        self._prompts += is_asked and not turn.is_copied
        whole_turn = turn_of(turn, thread, self._prompts, self._context)
        if is_cut_off:
            whole_turn.fields["ended"] = "cut off"
        if is_asked and self._finished and self._finished[-1].turn.next_prompt is None:
            self._finished[-1].turn.next_prompt = whole_turn.prompt
        # how a copied turn went on, only the thread that it was copied from tells
        self._finished.append(_FinishedTurn(whole_turn, infers=not is_cut_off and not turn.is_copied))
        if len(self._finished) > _MOST_FINISHED:
            yield from self._release_oldest()

    def _release_oldest(self) -> Iterator[Made]:
        finished = self._finished.popleft()
        yield from turn_rows(finished.turn, replace(self._context, infers=finished.infers and self._context.infers))

    def _roll_back(self, event: Record, at: str) -> Iterator[Made]:
        """The person takes the last turns back: from then on it is said of them."""
        yield from self._close()
        left = whole_number(event.get("num_turns")) or 0
        for finished in reversed(self._finished):
            if left <= 0:
                return
            if not says_nothing(finished.turn.prompt) and "branch" not in finished.turn.fields:
                left -= 1
                finished.turn.fields["branch"] = "abandoned"
                finished.turn.ended_at = at or finished.turn.ended_at

    # what is said and done in them

    def _turn_context(self, payload: Record) -> None:
        self._directory = folder_path(payload.get("cwd")) or self._directory
        self._model = text_in(payload, "model") or self._model
        turn = self._turn
        if turn is not None and not turn.is_answered:
            turn.directory, turn.model = self._directory, self._model
            if turn.is_marked:
                turn.turn_id = turn.turn_id or text_in(payload, "turn_id")

    def _user_message(self, event: Record, at: str) -> Iterator[Made]:
        yield from self._add_prompt(text_in(event, "message"), at)

    def _add_prompt(self, prompt: str, at: str, *, is_item: bool = False) -> Iterator[Made]:
        if is_of_codex(prompt):
            self._left_out[OF_CODEX] += 1
            return
        turn = self._turn
        if turn is None or not (turn.is_marked or turn.is_once_more(is_item=is_item)):
            yield from self._close()
            turn = self._open("", "", at, is_marked=False)
        turn.note_time(at)
        turn.add_prompt(prompt, is_item=is_item)

    def _add_item(self, event: Record, at: str) -> Iterator[Made]:
        item = object_in(event, "item")
        kind = text_in(item, "type")
        if kind == "UserMessage":
            yield from self._add_prompt(text_of_parts(item.get("content")), at)
        elif self._turn is not None:
            self._turn.note_time(at)
            if kind == "AgentMessage":
                self._turn.add_answer(text_of_parts(item.get("content")), item)
            else:
                self._turn.calls.add_item(item)

    def _add_response_item(self, item: Record, at: str) -> Iterator[Made]:
        """What the model was given or gave, which events mostly tell once more."""
        kind, role = text_in(item, "type"), text_in(item, "role")
        if kind == "message" and role == "user":
            prompts = [text_or_empty(object_or_empty(part).get("text")) for part in list_in(item, "content")]
            of_person = [prompt for prompt in prompts if prompt and not is_of_codex(prompt)]
            self._left_out[OF_CODEX] += sum(map(is_of_codex, prompts))
            self._directory = self._directory or next(filter(None, map(directory_of, prompts)), "")
            if of_person:
                yield from self._add_prompt("\n".join(of_person), at, is_item=True)
        elif self._turn is None and role != "developer":
            self._left_out[f"records of no turn: {kind[:40] or 'none'}"] += 1
        elif self._turn is not None and role in ("", "assistant"):
            self._turn.note_time(at)
            if kind == "message":
                self._turn.add_answer(text_of_parts(item.get("content")), item, is_item=True)
            elif kind.endswith("_call"):
                self._turn.calls.begin(item)
            elif kind.endswith("_call_output"):
                self._turn.calls.end(item)

    def _count_total(self, info: Record) -> None:
        """The thread's total by now, which of a fork begins with that of the thread it was forked from."""
        total, spent = (tokens_of(info.get(name)) for name in ("total_token_usage", "last_token_usage"))
        if total is None:
            return
        self._total = total
        if self._turn is not None:
            own = None if self._lineage.thread.forked_from else total
            self._turn.usage.set_total(total, own if spent is None else spent)

    def _add_event(self, kind: str, event: Record, at: str) -> None:
        """What other events tell of the turn that is read, or of the thread."""
        turn = self._turn
        if turn is not None:
            turn.note_time(at)
        if kind == "token_count":
            self._count_total(object_in(event, "info"))
        elif kind == "thread_settings_applied":
            self._turn_context(object_in(event, "thread_settings"))
        elif turn is not None and kind == "agent_message":
            turn.add_answer(text_in(event, "message"), event)
        elif turn is not None and kind == "error":
            turn.has_failed = True
        elif turn is not None:
            turn.calls.add_event(event)


_KINDS = frozenset({"turn_context", "response_item", "event_msg"})


class CodexAdapter:
    """A header, then lines of a few kinds: events tell most of what happened, response items much of it once more."""

    name = "codex"
    version = 3

    def detect_producer(self, first: Sequence[Record]) -> str | None:
        """As in Adapter."""
        is_wrapped = is_bare = False
        for record in first:
            kind, payload = text_in(record, "type"), object_in(record, "payload")
            if kind == "session_meta" and payload:
                return f"Codex {text_in(payload, 'cli_version')}".rstrip()
            is_wrapped = is_wrapped or (kind in _KINDS and bool(payload.get("type")))
            is_bare = is_bare or is_bare_header(record) or is_bare_message(record)
        return "Codex" if is_wrapped else "Codex of 2025, without wrappers" if is_bare else None

    def kind_of_record(self, record: Record) -> str:
        """Return the type of a record, and that of what it holds."""
        if is_bare_header(record):
            return "header without a wrapper"
        if is_bare_item(record):
            return f"{text_in(record, 'type')} without a wrapper"
        kind, finished = (
            text_in(record, "type"),
            text_or_empty(object_in(record, "payload").get("type")),
        )
        return f"{kind} {finished}".strip() or text_in(record, "record_type") or "record"

    def make_rows(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """As in Adapter."""
        check_names(context.options, TURN_OPTIONS)
        rollout = Rollout(context)
        for located in records:
            yield from rollout.take(located)
        yield from rollout.end()
