"""A home that lives through everything, drawn at random, and what must hold of it after every night.

Usage: random_machine.py --seed SEED --steps STEPS. Deliveries (good, bad, damaged, bombed, repeated, late, newer
versions), landings, nights, decisions, erasures, what goes by age, kills and full disks at a random system call, clocks
set back, prunes, replays.
After a night that ended: of every file rows delivered = accepted + duplicate + quarantined; every delivered byte is in
the lake as a row or a kept file, or still in the inbox; of every few, the publish equals one made anew from what landed
alone; what was erased is not there, and never lands again.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import zstandard
from crash_cases import CALLS, OPENS, Driver

# After so many steps another home is begun, so that a step costs as much at the end as at the beginning.
_STEPS_OF_A_HOME = 120
# Of nights that are compared with a rebuild: most of what one costs, and what is wrong stays so until the next.
_REBUILT_SHARE = 0.4
_BEGINS = datetime(2026, 3, 1, 8, tzinfo=UTC)
_MEMORIES, _INTERACTIONS = 7, 60
_TEXTS = (
    "Always run the narrowest test first", "Use tabs for everything", "The release branch is called stable",
    "Never push on a Friday", "The port of the shop is 8080", "The port of the shop is 9090", "Ask before you delete",
)  # fmt: skip
_STRATEGIES = ("bisect the log", "Bisect the log", "ask a person", "restart it", None)
_SUFFIXES = ("jsonl", "jsonl.gz", "jsonl.zst", "parquet")
FIXTURES = Path(__file__).parents[2] / "fixtures" / "homes"


@dataclass(frozen=True)
class Delivery:
    """A file as it was dropped: its bytes, the ids it surely lands, and whether some of it cannot be read."""

    name: str
    content: bytes
    ids: dict[str, set[str]]
    is_damaged: bool

    @property
    def file_hash(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass
class World:
    """One home, its clock, and all that was ever delivered to it."""

    home: Path
    clock: datetime = _BEGINS
    delivered: list[Delivery] = field(default_factory=list)
    files: int = 0
    has_expired: bool = False
    erased: dict[str, set[str]] = field(default_factory=dict)
    # what an erasure was to take that may not have begun
    unsure: dict[str, set[str]] = field(default_factory=dict)
    # the landed table and the id that was named for it: it lands no more, whether any row was its own or not
    named: tuple[str, str] = ("", "")


class ViolationError(AssertionError):
    """Something that must hold does not."""


class Machine:
    """Draws steps and does them; a step that breaks what must hold raises ViolationError."""

    def __init__(self, seed: int, folder: Path, told: Callable[[str], None]) -> None:
        self.told = told
        self.chance = random.Random(seed)
        self.driver = Driver(folder, seed)  # machines beside each other on different cores
        self.folder = folder
        self.homes = 0
        self.done: Counter[str] = Counter()
        self.world = self._another_home()
        self.steps: list[tuple[int, Callable[[], None]]] = [
            (20, self.deliver), (4, self.deliver_damaged), (3, self.deliver_again), (3, self.deliver_bomb),
            (12, self.land), (22, self.night), (6, self.disturb_a_night), (4, self.disturb_a_landing),
            (6, self.decide), (2, self.prune), (4, self.replay), (2, self.publish_the_past), (2, self.set_clock_back),
            (6, self.wait), (1, self.erase), (1, self.disturb_an_erasure),
            (1, self.retain),
        ]  # fmt: skip

    def run(self, steps: int) -> None:
        """Do so many steps; a night at the end."""
        for number in range(steps):
            if number and number % _STEPS_OF_A_HOME == 0:
                self.night()
                self.told(f"{number:,} steps, {self.homes} homes")
                self.world = self._another_home()
            (step,) = self.chance.choices([step for _, step in self.steps], [weight for weight, _ in self.steps])
            self.world.clock += timedelta(minutes=self.chance.randint(1, 240))
            self.done[step.__name__] += 1
            step()
        self.night()

    def _another_home(self) -> World:
        self.homes += 1
        home = self.folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        releases = sorted(FIXTURES.glob("*/")) if FIXTURES.is_dir() else []
        if releases and self.chance.random() < 0.4:
            shutil.copytree(self.chance.choice(releases), home, symlinks=True)
            self.done["a home of an earlier release"] += 1
        else:
            (home / "inbox").mkdir(parents=True)
        (home / "inbox").mkdir(exist_ok=True)
        (home / "params.toml").write_text("[forgetting]\nrecent_days = 1\nreplaced_after_days = 3\n")
        return World(home)

    # ---------------------------------------------------------------------------------------------------- deliveries

    def deliver(self) -> None:
        """Rows of all kinds, some of them late, some newer versions, some refused."""
        rows = [self._row() for _ in range(self.chance.randint(1, 8))]
        ids: dict[str, set[str]] = {}
        for row in rows:
            table, key = _named(row)
            ids.setdefault(table, set()).add(key)
        bad = [b"{broken", b'{"prompt": " "}', b'{"prompt": "?", "created_at": "soon"}', b"[1]"]
        suffix = self.chance.choice(_SUFFIXES)
        if suffix == "parquet":
            frame = pl.DataFrame([row for row in rows if "prompt" in row], infer_schema_length=None)
            if frame.is_empty():
                suffix = "jsonl"
            else:
                stream = io.BytesIO()
                frame.write_parquet(stream)
                self._drop(suffix, stream.getvalue(), {"interactions": {*frame["interaction_id"]}})
                return
        lines = [json.dumps(row).encode() for row in rows] + self.chance.choices(
            bad, k=self.chance.choice([0, 0, 1, 2])
        )
        self.chance.shuffle(lines)
        self._drop(suffix, _packed(b"\n".join(lines) + b"\n", suffix), ids)

    def deliver_damaged(self) -> None:
        """A file cut short, or with bytes changed in its midst: what of it lands is not for the machine to say."""
        lines = b"".join(json.dumps(self._row()).encode() + b"\n" for _ in range(self.chance.randint(20, 60)))
        suffix = self.chance.choice(("jsonl.gz", "jsonl.zst", "parquet"))
        if suffix == "parquet":
            stream = io.BytesIO()
            rows = [row for row in map(json.loads, lines.splitlines()) if "prompt" in row]
            pl.DataFrame(rows, infer_schema_length=None).write_parquet(stream)
            content = stream.getvalue()
        else:
            content = _packed(lines, suffix)
        if self.chance.random() < 0.5:
            content = content[: self.chance.randint(5, len(content) - 1)]
        else:
            at = self.chance.randint(4, len(content) - 9)
            content = content[:at] + self.chance.randbytes(8) + content[at + 8 :]
        self._drop(suffix, content, {}, is_damaged=True)

    def deliver_bomb(self) -> None:
        """Much in little: one long line, or a deeply nested one."""
        good = self._row()
        long_line = json.dumps({"prompt": "x" * 3_000_000, "created_at": _text(self.world.clock)}).encode()
        deep = b'{"prompt": "?", "created_at": "2026-03-01", "context_pack": ' + b"[" * 5_000 + b"]" * 5_000 + b"}"
        odd = self.chance.choice([long_line, deep])
        table, key = _named(good)
        content = odd + b"\n" + json.dumps(good).encode() + b"\n"
        self._drop("jsonl.gz", _packed(content, "jsonl.gz"), {table: {key}})

    def deliver_again(self) -> None:
        """A file that was delivered before, byte for byte."""
        if self.world.delivered:
            again = self.chance.choice(self.world.delivered)
            self._drop(again.name.split(".", 1)[1], again.content, again.ids, is_damaged=again.is_damaged)

    def _drop(self, suffix: str, content: bytes, ids: dict[str, set[str]], *, is_damaged: bool = False) -> None:
        self.world.files += 1
        name = f"{self.world.files:05}.{suffix}"
        (self.world.home / "inbox" / name).write_bytes(content)
        self.world.delivered.append(Delivery(name, content, ids, is_damaged))

    def _row(self) -> dict[str, Any]:
        chance, clock = self.chance, self.world.clock
        happened = clock - timedelta(minutes=chance.choice([1, 30, 600, 3_000, 10_000]) * chance.random())
        kind = chance.random()
        if kind < 0.3:
            number = chance.randrange(_MEMORIES)
            return {
                "memory_id": f"m{number}", "changed_at": _text(happened), "content": _TEXTS[number], "project": "shop",
                "status": chance.choice(["active", "active", "active", "candidate", "superseded"]), "confidence": 0.5,
            }  # fmt: skip
        if kind < 0.8:
            row = {
                "interaction_id": f"i{chance.randrange(_INTERACTIONS)}",
                "created_at": _text(happened),
                "prompt": "Fix it",
                "response": f"Done: {chance.choice(_TEXTS)}.",
                "project": "shop",
                "session_id": f"s{chance.randrange(9)}",
                "memories_used": [f"m{chance.randrange(_MEMORIES)}"],
            }
            if chance.random() < 0.5:
                row |= {"success": chance.random() < 0.5, "strategy": chance.choice(_STRATEGIES)}
        else:
            row = {
                "outcome_id": f"o{chance.randrange(_INTERACTIONS)}",
                "created_at": _text(happened),
                "task_type": "test",
                "interaction_id": f"i{chance.randrange(_INTERACTIONS)}",
                "success": chance.random() < 0.5,
                "strategy": chance.choice(_STRATEGIES),
                "error_message": chance.choice([None, "no such file: /a/b", "timeout"]),
            }
        if chance.random() < 0.2:
            row["recorded_at"] = _text(happened + timedelta(minutes=chance.randint(0, 3_000)))
        return row

    # ----------------------------------------------------------------------------------------------------- commands

    def land(self) -> None:
        """A landing by itself."""
        self._must(self._do("land"))

    def night(self) -> None:
        """A night by the clock, and all that must hold after it."""
        self._after_night(self._must(self._do("machine_night")))

    def publish_the_past(self) -> None:
        """A night as of an earlier instant."""
        past = self._past()
        if past:
            self._after_night(self._must(self._do("machine_night", as_of=past)))

    def replay(self) -> None:
        """What `sql --as-of` reads is what a rebuild has."""
        past = self._past()
        if not past or not (self.world.home / "lake").is_dir():
            return
        found = self._must(self._do("machine_replayed", as_of=past))
        self._same(found, self._must(self._do("machine_rebuilt", as_of=past)), f"the replay as of {past}")

    def _past(self) -> str:
        """An earlier instant; '' where texts that it would need may have expired."""
        past = _text(self.world.clock - timedelta(hours=self.chance.randint(1, 200)))
        is_there = (self.world.home / "lake" / "let_go" / "texts.json").exists()
        reached = self._must(self._do("machine_accounts"))["exact_from"] if is_there else ""
        return past if past.replace("+00:00", "") >= reached else ""

    def decide(self) -> None:
        """Somebody forgets, restores, holds, releases or reviews."""
        what = self.chance.choice(["forget apply", "forget restore", "forget hold", "forget release", "review"])
        if (self.world.home / "serving" / "current.duckdb").exists():
            self._must(self._do("machine_act", what=what, number=self.chance.randrange(100)))

    def prune(self) -> None:
        """What no kept run needs goes."""
        if (self.world.home / "lake").is_dir():
            self._must(self._do("machine_pruned", keep=self.chance.randint(0, 3)))

    def disturb_a_night(self) -> None:
        """A night killed, or told that the disk is full, at a random system call; the next one must end well."""
        self._disturb("machine_night")
        self.night()

    def disturb_a_landing(self) -> None:
        """Likewise a landing."""
        self._disturb("land")
        self.night()

    def retain(self) -> None:
        """What was published days ago, and the texts of rows refused days ago, go; all that counts stays."""
        if (self.world.home / "lake").is_dir():
            rules = ("runs_days", "quarantine_days", "texts_days", "evidence_days")
            days = {rule: self.chance.randint(1, 9) for rule in rules}
            for rule in self._must(self._do("machine_retained", **days)):
                self.done[f"expired {rule}"] += 1
            self.world.has_expired = True

    def erase(self) -> None:
        """Somebody erases an interaction or a memory: it stands nowhere, and never lands again."""
        asked = self._to_be_erased()
        if asked:
            left = self._must(self._do("machine_erased", **asked))
            if left:
                raise ViolationError(f"what was erased still stands: {left}")
            self._settle_erased()

    def disturb_an_erasure(self) -> None:
        """Likewise, killed or out of room in the midst: the next night ends it."""
        asked = self._to_be_erased()
        if asked:
            self._disturb("machine_erased", **asked)
            self._settle_erased()

    def _to_be_erased(self) -> dict[str, str]:
        """What to erase; nothing where there is nothing of it."""
        kind, name = self.chance.choice([("interaction", f"i{self.chance.randrange(_INTERACTIONS)}"),
                                         ("memory", f"m{self.chance.randrange(_MEMORIES)}")])  # fmt: skip
        self.night()
        asked = {"kind": kind, "name": name}
        self.world.unsure = {table: set(ids) for table, ids in self._must(self._do("machine_planned", **asked)).items()}
        self.world.named = ("memories" if kind == "memory" else "interactions", name)
        return asked if self.world.unsure else {}

    def _settle_erased(self) -> None:
        """After the next night all of it is gone, or nothing where the erasure had not begun."""
        self.night()
        there = self._must(self._do("machine_accounts"))
        if there["is_erasing"]:
            raise ViolationError("a night has not ended an erasure")
        unsure, self.world.unsure = self.world.unsure, {}
        left = {table: ids & set(there["ids"][table]) for table, ids in unsure.items()}
        if left == unsure:
            return
        if any(left.values()):
            raise ViolationError(f"a part of what was erased is still there: {left}")
        table, name = self.world.named
        for of, ids in {**unsure, table: unsure.get(table, set()) | {name}}.items():
            self.world.erased.setdefault(of, set()).update(ids)

    def set_clock_back(self) -> None:
        """By hours or days: it goes on from there."""
        self.world.clock -= timedelta(hours=self.chance.choice([1, 30, 100]))

    def wait(self) -> None:
        """Days go by."""
        self.world.clock += timedelta(hours=self.chance.choice([12, 24, 72]))

    # -------------------------------------------------------------------------------------------------------- checks

    def _do(self, step: str, **arguments: Any) -> dict[str, Any]:
        return self.driver.outcome(step, self.world.home, _text(self.world.clock), **arguments)

    def _disturb(self, step: str, **arguments: Any) -> None:
        number = int(2 ** self.chance.uniform(0, 7))
        fault, when = self.chance.choice([("signal=SIGKILL", f"{number}"), ("error=ENOSPC", f"{number}+")])
        # threads wake each other by `write` too, which no disk refuses
        left = OPENS if fault.startswith("signal") else (*OPENS, "write")
        calls = ",".join(f"?{name}" for name in CALLS if name not in left)
        options = ("-e", f"trace={calls}", "-e", f"inject={calls}:{fault}:when={when}")
        ended, _ = self.driver.traced(step, self.world.home, *options, clock=_text(self.world.clock), **arguments)
        self.done["disturbed" if "signal" in ended or "error" in ended else "not reached"] += 1
        if "crash" in ended:
            raise ViolationError(f"{step} with {fault} at {number}: {ended['crash']}")

    def _must(self, ended: dict[str, Any]) -> Any:
        if "value" not in ended and "signal" not in ended and ended != {}:
            raise ViolationError(f"it did not end well: {ended.get('error') or ended.get('crash')}")
        if "signal" in ended:
            raise ViolationError(f"it was killed by signal {ended['signal']}")
        return ended.get("value")

    def _after_night(self, night: dict[str, Any]) -> None:
        if night["status"] not in {"published", "published_incomplete", "skipped"}:
            raise ViolationError(f"the night ended {night['status']}")
        seen = self._must(self._do("machine_accounts"))
        is_rebuilt = self.chance.random() < _REBUILT_SHARE
        if is_rebuilt and night["as_of"] >= seen["exact_from"]:  # else the clock was set back since texts went
            self._same(night["hashes"], self._must(self._do("machine_rebuilt", as_of=night["as_of"])), "the night")
        self._check_accounts(seen)

    def _same(self, found: dict[str, str], rebuilt: dict[str, str], what: str) -> None:
        differing = sorted(name for name in rebuilt if found.get(name) != rebuilt[name])
        if differing:
            raise ViolationError(f"{what} is not what a rebuild from the landed rows has: {', '.join(differing)}")

    def _check_accounts(self, seen: dict[str, Any]) -> None:
        if seen["unaccounted"]:
            raise ViolationError(f"rows delivered are not accepted + duplicate + quarantined: {seen['unaccounted']}")
        ids = {table: set(found) for table, found in seen["ids"].items()}
        again = {table: ids[table] & gone for table, gone in self.world.erased.items() if ids[table] & gone}
        if again:
            raise ViolationError(f"what was erased has landed again: {again}")
        landed, kept, waiting = set(seen["files"]), seen["kept"], set(seen["inbox"].values())
        for one in self.world.delivered:
            if one.file_hash not in landed:
                if one.file_hash not in waiting:
                    raise ViolationError(f"{one.name} is neither landed nor in the inbox")
                continue
            for table, named in one.ids.items():
                wanted = named - self.world.erased.get(table, set()) - self.world.unsure.get(table, set())
                if one.file_hash in seen["erased_again"]:  # outcomes of what was erased are refused with it
                    wanted = set() if table == "outcomes" else wanted
                if not wanted <= ids[table]:
                    raise ViolationError(
                        f"{one.name} landed, and {sorted(wanted - ids[table])[:3]} of it are not in the lake"
                    )
            of_file = [row for row in seen["refused"] if row[0] == one.file_hash]
            is_named = any(kept_file == one.file_hash for *_, kept_file in of_file)
            # without texts are rows that were erased, or expired by their age: then nothing needs the bytes
            may_be_gone = self.world.has_expired or any(
                one.ids.get(table, set()) & gone for table, gone in self.world.erased.items()
            )
            must_be_kept = is_named or (not may_be_gone and any(raw == "" for _, raw, _ in of_file))
            if must_be_kept and one.file_hash not in seen["erased_again"] and kept.get(one.file_hash) != one.file_hash:
                raise ViolationError(f"{one.name} could not be read on, and its bytes are not kept")


def _packed(content: bytes, suffix: str) -> bytes:
    if suffix == "jsonl.gz":
        return gzip.compress(content, mtime=0)
    return zstandard.compress(content) if suffix == "jsonl.zst" else content


def _named(row: dict[str, Any]) -> tuple[str, str]:
    """The landed table of a row, and its id."""
    if "prompt" in row:
        return "interactions", row["interaction_id"]
    return ("memories", row["memory_id"]) if "memory_id" in row else ("outcomes", row["outcome_id"])


def _text(time: datetime) -> str:
    return time.isoformat()


def lived(seed: int, steps: int, told: Callable[[str], None] = lambda _: None) -> Counter[str]:
    """Live through `steps` steps; how often each was drawn. `told` is how far it is. Raises ViolationError."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder inside has a random name
    with tempfile.TemporaryDirectory(prefix="slowwave-machine-", dir=memory if memory.is_dir() else None) as folder:
        machine = Machine(seed, Path(folder), told)
        try:
            machine.run(steps)
        except ViolationError as violation:
            message = f"SEED={seed}, step {sum(machine.done.values())}, {machine.world.clock}: {violation}"
            raise ViolationError(message) from violation
        finally:
            machine.driver.close()
        return machine.done


def main() -> None:
    """Live, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--steps", type=int, default=10_000)
    given = parser.parse_args()
    try:
        done = lived(given.seed, given.steps, lambda far: print(f"SEED={given.seed}: {far}", file=sys.stderr))
    except ViolationError as violation:
        sys.exit(f"failed: {violation}")
    print(f"SEED={given.seed}: {given.steps} steps, {dict(done.most_common())}")


if __name__ == "__main__":
    main()
