"""Logs of memories that are used, changed and moved over a few days, and params under which days are like months."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st

Row = dict[str, Any]

START = datetime(2024, 2, 20)  # noqa: DTZ001 - times are naive and hold UTC everywhere; a leap day is near
DAYS = 12
MEMORIES = ("m0", "m1", "m2", "m3")

# Days do what months do: every band of strength, every trend and most verdicts come up within two weeks.
QUICK_PARAMS = """
[strength]
half_life_days = {identity = 8, preference = 8, knowledge = 2, project = 1}
other_half_life_days = 1
[trend]
new_active_days = 3
min_reference_days = 3
min_bursts = 1.5
recent_bursts = 2
recent_active_days = 2
stale_active_days = 3
stale_probability = 0.3
change_probability = 0.8
[verdict]
grace_days = 2
min_eligible = 3
min_injections = 2
missed_chance = 0.99
min_detectability = 0.001
recent_days = 2
[forgetting]
archive_after_days = 7
untouched_min_eligible = 2
untouched_max_need = 1.0
replaced_after_days = 2
grace_days = 2
recent_days = 1
project_quotas = {shop = 3}
"""
# Half-lives are fitted from next to nothing, so that they change from one night to the next.
FITTED_PARAMS = QUICK_PARAMS.replace(
    "[strength]", "[strength]\nfit_days = 2\nmin_fit_windows = 2\nmin_fit_references = 1\nfit_margin_nats = 0"
)


def at(day: float, hour: float = 0) -> datetime:
    """The instant so many days and hours after the log begins."""
    return START + timedelta(days=day, hours=hour)


def text_of(memory_id: str) -> str:
    """The text of a memory, found in a response that says it."""
    return f"The stock is counted every morning by clerk {memory_id}"


def used(day: int, hour: int, *memory_ids: str, project: str = "shop", **fields: Any) -> Row:
    """An interaction whose response says the texts of these memories."""
    key = f"{project} {day} {hour}"
    response = ". ".join(["Well", *map(text_of, memory_ids)])
    row = {"interaction_id": key, "created_at": at(day, hour), "project": project, "prompt": "What now?"}
    return {**row, "response": response, **fields}


def change(memory_id: str, day: float, hour: float = 0, **fields: Any) -> Row:
    """A change of a memory."""
    return {"memory_id": memory_id, "changed_at": at(day, hour), **fields}


def landed(memory_id: str, day: float, hour: float = 0, **fields: Any) -> Row:
    """The first change of a memory: active in the shop."""
    stated = {"status": "active", "project": "shop", "content": text_of(memory_id), **fields}
    return change(memory_id, day, hour, **stated)


# One memory of no project that is always there; injections are logged from the first day on.
ALWAYS: list[Row] = [
    landed("owner", -1, project="", memory_type="preference", pinned=True),
    used(-1, 9, project="lab", memories_used=["owner"]),
]

_projects = st.sampled_from(["shop", "shop", "shop", "lab"])
_ids = st.lists(st.sampled_from(MEMORIES), max_size=3, unique=True)
_changed = {
    "memory_type": st.sampled_from(["preference", "project", "knowledge"]),
    "pinned": st.booleans(),
    "importance": st.sampled_from([0.0, 0.4, 1.0]),
    "project": st.sampled_from(["", "shop", "lab", "closed"]),
    "status": st.sampled_from(["active", "active", "candidate", "superseded", "archived"]),
}


@st.composite
def _interactions(draw: st.DrawFn) -> list[Row]:
    place = st.tuples(st.integers(0, DAYS - 1), st.sampled_from([0, 9, 18]), _projects)
    places = draw(st.lists(place, min_size=12, max_size=24, unique=True))
    return [
        used(day, hour, *draw(_ids), project=project, memories_used=draw(_ids)) for day, hour, project in sorted(places)
    ]


@st.composite
def _changes(draw: st.DrawFn) -> list[Row]:
    rows = []
    for memory_id in MEMORIES:
        first = draw(st.sampled_from([0, 0, 0, 3, 6]))
        days = draw(st.lists(st.integers(first, DAYS - 1), max_size=3, unique=True))
        stated = st.fixed_dictionaries({}, optional=_changed)
        rows.append(landed(memory_id, first, draw(st.sampled_from([0, 8])), **draw(stated)))
        rows += [change(memory_id, day, 12, **draw(stated)) for day in sorted(days)]
    return rows


@st.composite
def use_logs(draw: st.DrawFn) -> list[Row]:
    """Interactions of twelve days, and four memories that land and change meanwhile, some after they were injected."""
    return [*ALWAYS, *draw(_changes()), *draw(_interactions())]


def event_time(row: Row) -> datetime:
    """When what a row tells happened."""
    return row.get("changed_at") or row["created_at"]
