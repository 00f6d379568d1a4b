"""Memories held back at random: the same everywhere, balanced, never in the way of an answer."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import slowwave
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land import hold_back as module
from slowwave.flows.land.hold_back import HoldBackDesign, draw, hold_back, make_design, read_design

FOUND = [("m-1", 0.82), ("m-2", 0.61), "m-3", ("m-4", None)]
HALF = HoldBackDesign(share=0.5)
TEXT = st.text(max_size=20)


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "_settled", {})
    monkeypatch.setattr(module, "_warned", set())


def test_the_draw_of_a_release_never_changes() -> None:
    """These were computed by `printf 'spring\\nshop\\ns-1\\nm-1' | sha256sum`, first 13 digits, over 16 to the 13th."""
    assert draw("spring", "shop", "s-1", "m-1") == 0xA7A014822763E / 16**13
    assert draw("", "", "ключ", "") == 0xE9A8E653B588C / 16**13


@given(
    st.lists(st.one_of(TEXT, st.tuples(TEXT, st.floats()))),
    st.text(min_size=1, max_size=20),
    TEXT,
    st.floats(0, 0.9),
    st.sampled_from(["memory", "all"]),
)
def test_what_is_logged_is_what_was_drawn(ids, key, project, share, by) -> None:
    chosen = hold_back(ids, key=key, project=project, design=HoldBackDesign(share=share, by=by, exclude=frozenset("a")))
    listed = list(dict.fromkeys(one if isinstance(one, str) else one[0] for one in ids))
    assert sorted(chosen.inject + chosen.held_back) == sorted(listed)
    assert chosen.inject == [one for one in listed if one not in chosen.held_back] == chosen.log["memories_used"]
    assert "a" not in chosen.held_back
    offers = chosen.log.get("memories_offered", [])
    assert [offer["id"] for offer in offers] == [one for one in listed if one != "a" and share > 0]
    assert [listed[offer["rank"] - 1] for offer in offers] == [offer["id"] for offer in offers]
    assert chosen.log.get("injection_probability") == (round(1 - share, 9) if offers else None)
    if by == "all":
        assert chosen.held_back in ([], [one for one in listed if one != "a"])
    again = hold_back(ids, key=key, project=project, design=HoldBackDesign(share=share, by=by, exclude=frozenset("a")))
    assert again.inject == chosen.inject


@pytest.mark.parametrize("share", [1.0, 5, -1, float("nan"), "half", None, True])
def test_a_design_made_by_hand_that_cannot_be_used_holds_nothing_back(share) -> None:
    design = HoldBackDesign(share=share)
    assert hold_back(["a", ("b", True)], key="k", design=design) == (["a", "b"], [], {"memories_used": ["a", "b"]})


def test_a_score_that_is_no_number_is_none() -> None:
    log = hold_back([("a", True), ("b", 0.5)], key="k", design=HoldBackDesign(share=0.5)).log
    assert [offer["score"] for offer in log["memories_offered"]] == [None, 0.5]


def test_each_memory_is_held_back_as_often_as_was_said_and_apart_from_the_others() -> None:
    counts = [0, 0, 0]
    for at in range(20_000):
        held = set(hold_back(["a", "b"], key=f"session-{at}", design=HoldBackDesign(share=0.1)).held_back)
        counts = [counts[0] + ("a" in held), counts[1] + ("b" in held), counts[2] + (len(held) == 2)]
    assert counts[0] == pytest.approx(2_000, abs=170)  # 4 standard deviations
    assert counts[1] == pytest.approx(2_000, abs=170)
    assert counts[2] == pytest.approx(200, abs=57)


def test_another_process_decides_the_same() -> None:
    code = (
        "from slowwave import HoldBackDesign, hold_back\n"
        "print([hold_back(list('abcdef'), key=str(k), design=HoldBackDesign(share=.5)).inject for k in range(50)])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == f"{[hold_back(list('abcdef'), key=str(key), design=HALF).inject for key in range(50)]}\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine: the page's TypeScript is not tried")
def test_the_typescript_of_the_page_decides_the_same(tmp_path: Path) -> None:
    page = (Path(module.__file__).parent / "README.md").read_text()
    (script,) = re.findall(r"```ts\n(.*?)```", page, re.DOTALL)
    cases = [(f"m-{at}", f"ключ {at % 7}", "shop" if at % 2 else "") for at in range(200)]
    plain = re.sub(r"(\w+): (string|number)|\): boolean", lambda found: found[1] or ")", script)
    asking = (
        f"{plain}\nconsole.log(JSON.stringify({json.dumps(cases)}.map((one) => isHeldBack(...one, 0.3, 'spring'))));"
    )
    (tmp_path / "draw.mjs").write_text(asking)
    said = subprocess.run(["node", str(tmp_path / "draw.mjs")], capture_output=True, text=True, check=True).stdout
    assert json.loads(said) == [draw("spring", project, key, memory) < 0.3 for memory, key, project in cases]


def test_the_home_says_what_is_held_back_and_may_change_its_mind(tmp_path, monkeypatch) -> None:
    assert hold_back(FOUND, key="1").log == {"memories_used": ["m-1", "m-2", "m-3", "m-4"]}
    (tmp_path / "settings.toml").write_text("[experiments]\nshare = 0.9\nprojects = ['shop']\nstart = 2026-01-01\n")
    monkeypatch.setattr(module, "_READ_AGAIN_SECONDS", 0)
    assert sum(len(hold_back(FOUND, key=str(key), project="shop").held_back) for key in range(50)) > 150
    assert hold_back(FOUND, key="1", project="other").held_back == []
    assert hold_back(FOUND, key="1", project="shop", at=datetime(2025, 12, 31, tzinfo=UTC)).held_back == []
    (tmp_path / "settings.toml").unlink()
    assert sum(len(hold_back(FOUND, key=str(key), project="shop").held_back) for key in range(50)) == 0


@pytest.mark.parametrize(
    "text", ["[experiments]\nshare = 2\n", "[experiments]\nshares = 0.1\n", "[experiments\n", "\xff"]
)
def test_settings_that_cannot_be_used_hold_nothing_back_and_are_told_once(tmp_path, text, caplog) -> None:
    (tmp_path / "settings.toml").write_text(text, encoding="latin-1")
    with caplog.at_level(logging.WARNING):
        for key in range(20):
            assert hold_back(FOUND, key=str(key)).inject == ["m-1", "m-2", "m-3", "m-4"]
    assert len(caplog.records) == 1
    assert "nothing is held back" in caplog.text


@pytest.mark.parametrize(
    ("key", "design", "why"),
    [
        ("", HALF, "the key is empty"),
        (None, HALF, "the key is empty"),
        ("1", HoldBackDesign(share=1.5), "a number from 0 to 0.9"),
        ("1", HoldBackDesign(share=0.5, projects="shop"), "a list of texts"),  # pyright: ignore[reportArgumentType] - made by hand
    ],
)
def test_what_is_given_and_cannot_be_used_holds_nothing_back_and_is_told(key, design, why, caplog) -> None:
    with caplog.at_level(logging.WARNING):
        chosen = hold_back(FOUND, key=key, project="shop", design=design)
    assert (chosen.held_back, list(chosen.log)) == ([], ["memories_used"])
    assert why in caplog.text


def test_a_number_as_key_draws_as_its_text() -> None:
    numbers: list[Any] = [*range(9)]
    assert [hold_back(FOUND, key=number, design=HALF) for number in numbers] == [
        hold_back(FOUND, key=str(number), design=HALF) for number in numbers
    ]


def test_a_bare_text_is_one_id() -> None:
    assert [hold_back("m-1", key=key, design=HALF).log for key in ("1", "2", "3")] == [
        hold_back(["m-1"], key=key, design=HALF).log for key in ("1", "2", "3")
    ]


@pytest.mark.parametrize("ids", [None, 7, [None], [3, ("a", "b", "c")], [("a", "much")], iter(())])
def test_an_agent_answers_whatever_is_given(ids) -> None:
    assert hold_back(ids, key="1", design=HALF).log["memories_used"] is not None


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ({"share": 0.95}, "share is no value it can have: write a number from 0 to 0.9"),
        ({"share": True}, "share"),
        ({"share": "half"}, "share"),
        ({"by": "session"}, "'memory' or 'all'"),
        ({"projects": "shop"}, "projects is no value it can have: write a list of texts"),
        ({"exclude": [1]}, "exclude"),
        ({"seed": 4}, "seed"),
        ({"start": "soon"}, "start is no value it can have: write a date"),
        ({"start": date(2026, 3, 2), "end": date(2026, 3, 1)}, "later than start"),
    ],
)
def test_what_a_design_cannot_be_is_said(stated, why) -> None:
    with pytest.raises(UserError, match=why):
        make_design(stated)


def test_doctor_finds_a_design_that_cannot_be_used(tmp_path) -> None:
    from slowwave.flows.care.surroundings import settings_line

    (tmp_path / "settings.toml").write_text("[experiments]\nshare = 2\n")
    assert settings_line(Settings(tmp_path)).state == "error"
    (tmp_path / "settings.toml").write_text("[experiments]\nshare = 0.2\nby = 'all'\nend = 2027-01-01T00:00:00Z\n")
    assert settings_line(Settings(tmp_path)).state == "ok"
    assert read_design(Settings(tmp_path)).end == datetime(2027, 1, 1, tzinfo=UTC)


def test_it_is_the_packages_and_costs_nobody_who_does_not_ask() -> None:
    assert slowwave.hold_back is hold_back
    code = "import slowwave, sys; print('hashlib' in sys.modules, 'slowwave.flows.land.hold_back' in sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    ).stdout
    assert said == "False False\n"
