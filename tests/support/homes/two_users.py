"""What two users' agents log: alike in all but a word of each, and some of what they have in common."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from shared_homes import read_only_home
from small_home import Row, SmallHome, interaction, memory, outcome

AS_OF = datetime(2026, 3, 20)  # noqa: DTZ001 - times are naive and hold UTC everywhere
SECRETS = {"ada": "quokkaberry", "bob": "zanzibar"}
OTHERS = {"ada": "bob", "bob": "ada"}
AGENTS = {"ada": "coder", "bob": "helper"}


def rows_of(user: str) -> list[Row | str]:
    """Memories alike, at odds, changing and waiting; answers that state things; attempts that fail: all with a word."""
    word, agent, other = SECRETS[user], AGENTS[user], OTHERS[user]
    mine: dict[str, Any] = {"user_id": user, "agent": agent, "project": "shop"}
    texts = {
        "port": f"The {word} service listens on port 8080.",
        "port2": f"The {word} service listens on port 9090.",
        "moved": f"The {word} service moved from port 8080 to port 7070.",
        "same": f"Deploy the {word} shop with make release from the main branch.",
        "same2": f"Deploy the {word} shop with make release from the main branch!",
        "near": f"Deploy the {word} shop by make release, always from main.",
        "shared": "Prices are kept as integers of the smallest coin in the ledger.",
        "unused": f"Nobody reads yellow {word} handbooks about parking rules of visitors during long summer fairs.",
    }
    found: list[Row | str] = [
        memory(f"{user} {name}", **mine, content=text, changed_at=f"2026-03-0{1 + at % 5}T08:00:00Z", tags=[word])
        for at, (name, text) in enumerate(texts.items())
    ]
    found += [
        memory(f"{user} waits", **mine, status="candidate", content=f"The {word} export must be streamed."),
        {"memory_id": f"{user} near", "changed_at": "2026-03-09T08:00:00Z", "content": f"Deploy {word} by hand."},
    ]
    for day in range(1, 19):
        at = f"2026-03-{day:02}T{9 + len(user)}:00:00Z"
        found.append(
            interaction(
                f"{user} {day}",
                created_at=at,
                **mine,
                session_id=f"{user} {day}",
                prompt=f"What of {word} on day {day}?",
                response=f"Decision: the {word} ledger must always be kept in cents.\n\n{texts['shared']}",
                response_summary=f"{word}: {texts['port']}",
                memories_used=[f"{user} port", f"{other} port", f"{user} unused"],
                chunks_used=[f"{word}#1"],
            )
        )
        found.append(
            outcome(
                f"{user} o{day}",
                interaction_id=f"{user} {day}",
                created_at=at,
                user_id=user if day % 2 else None,
                task=f"deploy {word}",
                task_type="deploy",
                strategy=f"push {word} by hand" if day % 3 else "run the script",
                success=day % 3 == 0,
                error_message=None if day % 3 == 0 else f"{word}Error: cannot reach {word} host {day}",
                feedback=word,
            )
        )
    return [*found, json.dumps({"interaction_id": f"{user} bad", "prompt": word, "created_at": f"{word} day"})]


SHARED = [
    interaction(f"{user} told", user_id=user, project="shop", response="Fact: the backup must never run at noon.")
    for user in SECRETS
]
# it was bob's first, and said then what is his; and what the log does not say whose it is
PASSED_ON = [
    memory("passed on", user_id="bob", agent="helper", content="The zanzibar cellar is in the harbour."),
    memory("of bob then", user_id="bob", agent="helper", content="The zanzibar cellar moved to the attic."),
    {"memory_id": "passed on", "changed_at": "2026-03-03T08:00:00Z", "content": "The cellar is locked now."},
    {"memory_id": "passed on", "changed_at": "2026-03-04T08:00:00Z", "user_id": "ada", "agent": "coder"},
]


# Eighteen injections say that a memory is not used.
PARAMS = "[verdict]\nmissed_chance = 0.5\n"


def home_of_two() -> SmallHome:
    """Return a home with what both log, published, which other tests read too."""
    return read_only_home(*rows_of("ada"), *rows_of("bob"), *SHARED, *PASSED_ON, as_of=AS_OF, params=PARAMS)
