"""The one thread that judges what was posted, makes it durable and only then answers: many posts at once, as one file.

While a file is written others gather, so that the more is posted at once the larger are the files. They are merged
aside before there are too many, for to let go of hundreds of files may take a second that no post should wait.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import orjson
import polars as pl

from slowwave.flows.capture.counts import ReceiverCounts
from slowwave.flows.capture.posts import (
    HttpAnswer,
    Post,
    Sender,
    Senders,
    UnreadableError,
    Where,
    document_of,
    error_answer,
    later,
    taken_answer,
)
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import LONGEST_ROW, Settings
from slowwave.flows.kernel.store import make_durable_folder, write_private
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.land.formats.lines import has_too_many_values
from slowwave.flows.land.received_files import Lane, ReceivedFile, merge, received_files
from slowwave.transforms.imports.otlp.trace_documents import kept_document, why_not_taken
from slowwave.transforms.landing.mapping.rules import ReadingOptions
from slowwave.transforms.landing.posted_records import Receipt, posted_records
from slowwave.transforms.landing.posted_rows import TakenRows, taken_rows

MOST_FILES = 1_000
_MERGED_AT = 500
_WAITED_FOR_AT = 900


class Spool:
    """Writes files of one home; the only one who does, and from one thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        make_durable_folder(settings.inbox)
        for left in settings.inbox.glob(".capture-*.tmp"):  # of a receiver that was killed, which nobody was answered
            left.unlink(missing_ok=True)
        found = received_files(settings.inbox)
        # later than any that is there, whatever the clock says: no file takes another's name
        self._number = max([time.time_ns() // 1000, *(file.last + 1 for file in found)])
        self._count = len(found)
        self._merging: threading.Thread | None = None

    def write(self, lane: Lane, lines: Sequence[bytes]) -> None:
        """Lines as one file, durable when this returns. Raises OSError as the disk does: then there is none."""
        if self._count >= _MERGED_AT:
            self._make_room()
        file = ReceivedFile(self._settings.inbox, "capture", lane, self._number, self._number)
        self._number += 1
        write_private(file.path, lines)
        self._count += 1

    def waiting(self) -> int:
        """How many files wait to be landed. Raises OSError."""
        return len(received_files(self._settings.inbox))

    def close(self) -> None:
        """End what is being merged."""
        if self._merging is not None:
            self._merging.join()

    def _make_room(self) -> None:
        """Have files merged; wait for it only where soon no more could be written."""
        waits = self._count >= _WAITED_FOR_AT
        if self._merging is None:
            self._merging = threading.Thread(
                target=self._merge, args=(self._number, waits), name="slowwave-merge", daemon=True
            )
            self._merging.start()
        if waits:
            self._merging.join()
        if self._merging.is_alive():
            return
        self._merging = None
        self._count = sum(file.stage == "capture" for file in received_files(self._settings.inbox))
        if self._count >= MOST_FILES:
            message = "too much waits in the inbox: it must be landed first"
            raise OSError(errno.EDQUOT, message)

    def _merge(self, before: int, waits: bool) -> None:
        with suppress(OSError):  # no room to merge may still be room for a small file
            merge(self._settings, before=before, waits=waits)


_GROUP_BYTES = 2**20
# How long others are waited for where several posted at once before: a fraction of what a file takes.
_GATHER_SECONDS = 0.005
_ROWS_AT_ONCE = 20_000
_SET_BACK = timedelta(seconds=2)
_WARNED_EVERY_SECONDS = 60.0
_NOTED_EVERY_SECONDS = 1.0
_MOST_ROWS = 200_000
_TOO_MANY = f"a body may have {_MOST_ROWS:,} rows: post it in parts"
_FAULT = "a fault of slowwave's: nothing of it was kept"
_log = logging.getLogger("slowwave.capture")

_Row = tuple[dict[str, Any] | str, Receipt]


@dataclass
class _Rows:
    """The rows of a post, and where each is among those that are judged together."""

    post: Post
    reading: ReadingOptions
    rows: list[_Row]
    ids: list[str | None] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)


class Committer:
    """Takes posts until it is closed. `senders` says how the rows of each are read; `noted` is told of new counts."""

    def __init__(
        self,
        spool: Spool,
        senders: Senders,
        counts: ReceiverCounts,
        longest_row: int = LONGEST_ROW,
        noted: Callable[[], None] = lambda: None,
    ) -> None:
        self._longest_row = longest_row
        self._spool = spool
        self._senders = senders
        self._counts = counts
        self._noted = noted
        self._is_noted = True
        self._note_at = 0.0
        self._posts: queue.SimpleQueue[Post | None] = queue.SimpleQueue()
        self._last_time = utc_now()
        self._warned_at = -_WARNED_EVERY_SECONDS
        self._thread = threading.Thread(target=self._run, name="slowwave-capture", daemon=True)
        self._thread.start()

    def put(self, post: Post) -> None:
        """Take a post; it is told its answer."""
        self._posts.put(post)

    def close(self) -> None:
        """Answer what was put, and end."""
        self._posts.put(None)
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether posts are still answered."""
        return self._thread.is_alive()

    def _run(self) -> None:
        were_several = False
        while True:
            group, is_last = self._group(gathers=were_several)
            were_several = len(group) > 1
            try:
                self._commit(group)
            except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - the next posts are answered
                self._warn("failed on what was posted: %s", type(error).__name__)
                for post in group:
                    self._commit_alone(post)
            self._is_noted = False
            if time.monotonic() >= self._note_at:
                self._note()
            if is_last:
                return

    def _note(self) -> None:
        """Not after each file: it costs a third of one."""
        self._is_noted = True
        self._note_at = time.monotonic() + _NOTED_EVERY_SECONDS
        self._noted()

    def _next(self) -> Post | None:
        """The next post, however long that takes."""
        if not self._is_noted:
            with suppress(queue.Empty):
                return self._posts.get(timeout=max(0.0, self._note_at - time.monotonic()))
            self._note()
        return self._posts.get()

    def _group(self, *, gathers: bool) -> tuple[list[Post], bool]:
        """The posts that become one file, and whether they are the last."""
        group: list[Post] = []
        post, size = self._next(), 0
        until = time.monotonic() + _GATHER_SECONDS if gathers else 0.0
        while post is not None:
            group.append(post)
            size += len(post.body)
            if size >= _GROUP_BYTES:
                return group, False
            wait = until - time.monotonic()
            try:
                post = self._posts.get(timeout=wait) if wait > 0 else self._posts.get_nowait()
            except queue.Empty:
                return group, False
        return group, True

    def _commit_alone(self, post: Post) -> None:
        try:
            self._commit([post])
        except (Exception, pl.exceptions.PanicException):  # noqa: BLE001 - it is said, and the others go on
            post.answered(error_answer(500, _FAULT))

    def _commit(self, group: Sequence[Post]) -> None:
        """Judge the posts, write what is taken, and answer them: all of them, or none where this raises."""
        answers: list[tuple[Post, HttpAnswer]] = []
        lines: dict[Lane, list[bytes]] = {"rows": [], "otlp": []}
        taken: list[tuple[Where, int, int]] = []
        posted: list[_Rows] = []
        readings: dict[str, ReadingOptions | HttpAnswer] = {}
        for post in group:
            if _lane(post.where) == "otlp":
                answers.append((post, self._otlp(post, lines["otlp"], taken)))
                continue
            read = self._read_post(post, readings)
            if isinstance(read, HttpAnswer):
                answers.append((post, read))
            else:
                posted.append(read)
        lines["rows"] += self._judge_rows(posted)
        for one in posted:
            answers.append((one.post, _answer(one)))
            taken.append((one.post.where, len(one.ids) - len(one.refused), len(one.refused)))
        failed = {lane: self._write_lines(lane, some) for lane, some in lines.items() if some}
        for post, answer in answers:
            instead = failed.get(_lane(post.where)) if answer.status == 200 else None  # noqa: PLR2004
            post.answered(instead or answer)
        for where, good, bad in taken:
            if failed.get(_lane(where)) is None:
                self._counts.took(where, good, bad)

    def _write_lines(self, lane: Lane, lines: list[bytes]) -> HttpAnswer | None:
        """Make the lines of one file durable; what is answered to its posts, and to no others, where that fails."""
        began = time.monotonic()
        try:
            self._spool.write(lane, lines)
        except OSError as error:
            why = error.strerror or "the disk failed"
            self._counts.count_failed_commit(why)
            self._warn("cannot write to the inbox: %s", why)
            return later(f"it cannot be kept now: {why}")
        self._counts.count_commit(time.monotonic() - began, sum(map(len, lines)))
        return None

    def _otlp(self, post: Post, lines: list[bytes], taken: list[tuple[Where, int, int]]) -> HttpAnswer:
        signal = "traces" if post.where == "traces" else "logs"
        if not post.is_protobuf and has_too_many_values(post.body):
            return error_answer(413, _TOO_MANY)
        try:
            document = document_of(post.body, signal, is_protobuf=post.is_protobuf)
        except UnreadableError as error:
            return error_answer(400, str(error))
        if why := why_not_taken(document, signal):
            return error_answer(400, why)
        kept, refused = kept_document(document, signal, post.sender.project)
        made = [orjson.dumps({name: [held]}) + b"\n" for name, some in kept.items() for held in some]
        if any(len(line) > self._longest_row for line in made):
            return error_answer(413, "what one service says is too long: post it in parts")
        lines.extend(made)
        taken.append((post.where, len(made), refused))
        return taken_answer(signal, refused, is_protobuf=post.is_protobuf)

    def _reading(self, sender: Sender) -> ReadingOptions | HttpAnswer:
        try:
            return self._senders.reading(sender)
        except UserError:
            return later("the mapping of this token cannot be used: its owner must mend it", 60)

    def _read_post(self, post: Post, readings: dict[str, ReadingOptions | HttpAnswer]) -> _Rows | HttpAnswer:
        """The rows of a post; `readings`: those of the mappings that were asked for before, of the same group."""
        reading = readings.get(post.sender.mapping)
        if reading is None:
            reading = readings[post.sender.mapping] = self._reading(post.sender)
        if isinstance(reading, HttpAnswer):
            return reading
        if has_too_many_values(post.body) or post.body.count(b"\n") > _MOST_ROWS:
            return error_answer(413, _TOO_MANY)
        records = posted_records(post.body)
        if not records or len(records) > _MOST_ROWS:
            return error_answer(413, _TOO_MANY) if records else error_answer(400, "the body holds no row")
        at = self._times(len(records))
        return _Rows(
            post,
            reading,
            [
                (record, Receipt(_table(post), post.sender.project, at + timedelta(microseconds=i), _row_id(post, i)))
                for i, record in enumerate(records)
            ],
        )

    def _times(self, count: int) -> datetime:
        """The first of `count` times of receipt, a microsecond apart; later than those before, if no clock was set."""
        now = utc_now()
        if now <= self._last_time and self._last_time - now < _SET_BACK:
            now = self._last_time + timedelta(microseconds=1)
        self._last_time = now + timedelta(microseconds=count - 1)
        return now

    def _judge_rows(self, posted: Iterable[_Rows]) -> list[bytes]:
        """The lines of rows that are taken, in the order of the posts, whose rows get their ids and refusals."""
        lines: list[bytes] = []
        alike: dict[tuple[Any, ...], list[_Rows]] = {}
        for one in posted:
            alike.setdefault((one.reading.mapping, one.reading.keeps_unknown), []).append(one)
        for some in alike.values():
            rows = [row for one in some for row in one.rows]
            found = [
                taken_rows(rows[begin : begin + _ROWS_AT_ONCE], some[0].reading)
                for begin in range(0, len(rows), _ROWS_AT_ONCE)
            ]
            begin = 0
            for one in some:
                for index in range(len(one.rows)):
                    _note(one, index, found[(begin + index) // _ROWS_AT_ONCE], (begin + index) % _ROWS_AT_ONCE, lines)
                begin += len(one.rows)
        return lines

    def _warn(self, message: str, *arguments: object) -> None:
        """At most once a minute, and never of content."""
        now = time.monotonic()
        if now - self._warned_at >= _WARNED_EVERY_SECONDS:
            self._warned_at = now
            _log.warning(message, *arguments)


def _lane(where: Where) -> Lane:
    return "otlp" if where in {"traces", "logs"} else "rows"


def _note(one: _Rows, index: int, found: TakenRows, place: int, lines: list[bytes]) -> None:
    if place in found.refused:
        one.ids.append(None)
        one.refused.append({"index": index, "reason": found.refused[place]})
    else:
        one.ids.append(found.ids[place])
        lines.append(found.lines[place] + b"\n")


def _answer(one: _Rows) -> HttpAnswer:
    """200 where a row was taken, else 422."""
    is_any = len(one.refused) < len(one.rows)
    return HttpAnswer(200 if is_any else 422, orjson.dumps({"ids": one.ids, "refused": one.refused}))


def _table(post: Post) -> Any:  # noqa: ANN401 - one of the three tables
    return post.where


def _row_id(post: Post, index: int) -> str:
    """The id of a row without one: the same for the same key of the same sender, else a new one."""
    if not post.key:
        return f"capture:{secrets.token_hex(16)}"
    told = "\0".join((post.sender.name, post.where, post.key, str(index)))
    return f"capture:{hashlib.sha256(told.encode()).hexdigest()[:32]}"
