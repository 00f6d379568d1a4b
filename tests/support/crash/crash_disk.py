"""A model of what a disk keeps when the power goes, driven by the system calls of one step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from crash_cases import LINKS, OPENS, OTHERS, REMOVES, SYNCS, WRITES, Call

# Rewritten in place on purpose: what they hold means nothing once their writer is dead.
SCRATCH = frozenset({".lock", ".probe"})


def order_faults(found: Sequence[Call]) -> list[str]:
    """What could be lost, or seen half-written, if the power went during these calls.

    A name is durable when its folder was flushed after it appeared, contents when the file was. Contents must be
    durable before a file gets its final name; and all that the lake was given before anything is removed from the
    inbox or the lake, or a publish becomes current; and at the end, everything.
    """
    wrong: list[str] = []
    written: set[str] = set()
    names: set[str] = set()
    for call in found:
        path = PurePath(call.path)
        if path.name in SCRATCH:
            continue
        if call.name in OPENS:
            if not path.name.startswith("."):
                wrong.append(f"{path} is written under its final name")
        elif call.name in WRITES or call.name in {"truncate", "ftruncate", "fallocate"}:
            written.add(call.path)
        elif call.name in SYNCS:
            written.discard(call.path)
            names = {name for name in names if str(PurePath(name).parent) != call.path}
        elif call.name in LINKS or call.name in OTHERS:
            wrong += _naming_faults(call, written, names)
        elif call.name in REMOVES and path.name.startswith("."):
            written.discard(call.path)  # of what never got a name nothing is to be kept
        elif call.name in REMOVES:
            wrong += [f"{path} is removed before {name} is durable" for name in sorted(names)]
    return wrong + [f"{name} never became durable" for name in sorted(names | written)]


def _naming_faults(call: Call, written: set[str], names: set[str]) -> list[str]:
    """Faults of a call that makes a name; notes the new name."""
    wrong = []
    if call.name.startswith("rename"):
        source, target = call.paths
        if source in written:
            wrong.append(f"{target} gets its name before its contents are durable")
        if PurePath(target).name == "current.duckdb":
            wrong += [f"{target} is swapped before {name} is durable" for name in sorted(names)]
        names.add(target)
    elif call.name.startswith("mkdir"):
        names.add(call.path)
    return wrong
