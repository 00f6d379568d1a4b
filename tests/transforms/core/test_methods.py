"""The registry: every id is one method, whole and fixed by golden tables, and params take no other."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from each import each
from golden_tables import GOLDEN
from pydantic import BaseModel, ValidationError
from tried_methods import tried

import slowwave.transforms
from slowwave.transforms.core.methods.golden_digests import GOLDEN_DIGESTS
from slowwave.transforms.core.methods.registry import (
    check_choice,
    choices,
    compared_by,
    implementation,
    living_successor,
    method,
    methods,
    register_candidate,
    retired_methods,
)
from slowwave.transforms.params import Params

TRANSFORMS = Path(slowwave.transforms.__file__).parent
PEERS = {"alma-1/memory_health"}
# Accepted by a release: a home that chose one is read by every later release, until the method is retired.
RELEASED = {
    "evidence.eligible_method": ["eligible/1", "eligible/2", "eligible/3"],
    "evidence.injected_method": ["injected/1"],
    "evidence.echo_method": ["echo/1"],
    "evidence.cited_method": ["cited/1"],
    "evidence.used.method": ["used/3"],
    "evidence.extract.method": ["extract/1"],
    "followed.method": ["followed/1"],
    "stated.method": ["stated/2"],
    "attempts.method": ["attempt/2"],
    "attempts.task_type_method": ["task_type/1"],
    "strategies.method": ["strategy_groups/1"],
    "errors.method": ["error/3"],
    "heuristics.method": ["heuristic/3"],
    "confidence.method": ["heuristic/3"],
    "anti_patterns.method": ["anti_patterns/3"],
    "memory_outcomes.outcomes_method": ["memory_outcomes/1"],
    "memory_outcomes.lift_method": ["lift/1"],
    "strength.method": ["strength/2"],
    "need.method": ["need/1"],
    "trend.method": ["memory_trend/2"],
    "verdict.method": ["verdict/4"],
    "project_health.method": ["project_health/3"],
    "answers.method": ["answers/1"],
    "review.method": ["review_value/1"],
    "review_queue.method": ["review_queue/6"],
    "forgetting.method": ["forgetting/3"],
    "forgetting.regret_method": ["regret/1"],
    "observations.method": ["observe/6"],
    "observations.curation_method": ["curate/4"],
    "llm.curate_method": ["curate/llm-1"],
    "llm.observe_method": ["observe/llm-1"],
}
# Of the digests of all golden tables of retired methods.
KEPT = "c0f24c80146418f38d0c0b13068f61befb64e839c86af939fbb991717dc8a9f4"
# Of no method: AtoCore's rule, which has no version.
UNREAD = {"reinforcement_delta", "reinforcement_cap"}


def params_of(model: type[BaseModel], section: str = "") -> Iterator[str]:
    """The full names of the params of a model and its sections."""
    for name, field in model.model_fields.items():
        declared = field.annotation
        if isinstance(declared, type) and issubclass(declared, BaseModel) and "method" in declared.model_fields:
            yield from params_of(declared, f"{section}{name}.")
        elif isinstance(declared, type) and issubclass(declared, BaseModel) and not section:
            yield from params_of(declared, f"{name}.")
        else:
            yield f"{section}{name}"


def stating(param: str, value: str) -> dict[str, Any]:
    """What a home states that sets one param."""
    stated: Any = value
    for part in reversed(param.split(".")):
        stated = {part: stated}
    return stated


PARAMS = sorted(params_of(Params))
CHOOSING = [param for param in PARAMS if param.endswith("method")]


@each("method_id", methods())
def test_a_method_can_be_had_and_says_what_it_is(method_id: str) -> None:
    known = method(method_id)
    assert implementation(method_id) is not None
    assert known.computes.endswith(".")
    assert all(brought in methods() for brought in known.brings)
    assert all(any(param == read or param.startswith(f"{read}.") for param in PARAMS) for read in known.reads)


@each("method_id", methods())
def test_a_method_is_fixed_by_golden_tables_or_says_why_not(method_id: str) -> None:
    known = method(method_id)
    assert bool(known.golden) != bool(known.not_golden)
    assert set(known.golden) <= GOLDEN_DIGESTS.keys()


@each("name", GOLDEN_DIGESTS)
def test_a_golden_table_is_as_it_was_when_its_method_was_released(name: str) -> None:
    assert hashlib.sha256((GOLDEN / f"{name}.ndjson").read_bytes()).hexdigest() == GOLDEN_DIGESTS[name]


def test_every_golden_table_is_recorded_and_fixes_a_method() -> None:
    there = {path.relative_to(GOLDEN).with_suffix("").as_posix() for path in GOLDEN.glob("*-*/*.*")}
    assert there - PEERS == GOLDEN_DIGESTS.keys() == {name for known in methods().values() for name in known.golden}


def test_only_what_is_not_the_first_version_changed_something() -> None:
    for known in methods().values():
        assert bool(known.changed) == (not known.id.endswith(("/1", "/llm-1"))), known.id


def test_every_version_of_a_family_is_there_or_retired() -> None:
    assert not methods().keys() & retired_methods().keys()
    by_family: dict[str, list[str]] = {}
    for known in (*methods().values(), *retired_methods().values()):
        by_family.setdefault(known.family, []).append(known.id.partition("/")[2])
    for family, versions in by_family.items():
        numbers = sorted(int(version) for version in versions if "llm" not in version)
        assert numbers == list(range(1, len(numbers) + 1)) or versions == ["llm-1"], family


@each("method_id", retired_methods())
def test_a_retired_method_says_what_replaced_it(method_id: str) -> None:
    gone = retired_methods()[method_id]
    assert gone.successor in methods() or gone.successor in retired_methods()
    assert int(gone.successor.partition("/")[2]) > int(method_id.partition("/")[2])
    assert gone.successor.partition("/")[0] == gone.family
    living = living_successor(method_id)
    assert living in methods()
    assert gone.computed.endswith(".")
    assert gone.reason.endswith(".")
    with pytest.raises(ValueError, match=rf"^{method_id} was retired (after|before) .*: {living} replaced it; there "):
        method(method_id)
    for param in method(living).chosen_by:
        with pytest.raises(ValueError, match=rf"^{method_id} was retired .*: {living} replaced it; there "):
            check_choice(param, method_id)
    with pytest.raises(ValueError, match=rf"^{method_id} was retired "):
        compared_by(method_id, living)


def test_the_golden_tables_of_retired_methods_are_kept_as_digests() -> None:
    kept = {name: digest for gone in retired_methods().values() for name, digest in gone.golden.items()}
    assert not kept.keys() & GOLDEN_DIGESTS.keys()
    assert hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest() == KEPT


def test_every_param_that_names_a_method_takes_those_that_were_released() -> None:
    assert sorted(RELEASED) == CHOOSING
    assert {param: choices(param) for param in RELEASED} == RELEASED
    for param, ids in RELEASED.items():
        for method_id in ids:
            assert Params.model_validate(stating(param, method_id)).chosen_methods()[param] == method_id


@each("param", CHOOSING)
@each("wrong", ["banana/7", "alma/1", "", "scorecard/1", "need/1\n"])
def test_no_param_takes_another(param: str, wrong: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Params.model_validate(stating(param, wrong))
    (error,) = refused.value.errors()
    assert ".".join(map(str, error["loc"])) == param
    assert error["msg"].endswith(f"; there {'is' if len(RELEASED[param]) == 1 else 'are'} {', '.join(RELEASED[param])}")


def test_every_param_is_read_by_a_method() -> None:
    read = {param for param in PARAMS if any(known.is_reading(param) for known in methods().values())}
    assert {param for param in PARAMS if param not in read and not param.endswith("method")} == UNREAD


def test_every_id_in_the_code_is_of_a_method() -> None:
    families = {known.family for known in methods().values()}
    named = set[str]()
    for path in TRANSFORMS.rglob("*.py"):
        if path.name == "retired.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                family, slash, version = node.value.partition("/")
                if slash and family in families and version.removeprefix("llm-").isdecimal():
                    named.add(node.value)
    assert named == methods().keys()


def test_what_is_tried_is_a_method_only_inside() -> None:
    with tried("echo/1", "echo/99", changed="It is tried."):
        assert Params.model_validate(stating("evidence.echo_method", "echo/99")).methods()[2] == "echo/99"
        with pytest.raises(ValidationError, match=r"there are echo/1, (.*, )?echo/99"):
            Params.model_validate(stating("evidence.echo_method", "echo/98"))
    with pytest.raises(ValidationError, match="echo/99 is no method; there "):
        Params.model_validate(stating("evidence.echo_method", "echo/99"))


def test_a_released_method_cannot_be_put_aside_by_another() -> None:
    with pytest.raises(ValueError, match="echo/1 is registered already"), register_candidate(method("echo/1")):
        pass
    assert "echo/1" in methods()


def test_a_retired_method_is_compared_by_the_release_that_had_it() -> None:
    with pytest.raises(
        ValueError, match=r"^verdict/1 was retired after release 0\.1\.0: verdict/4 replaced it; there "
    ):
        compared_by("verdict/1", "verdict/4")
    with pytest.raises(ValueError, match=r"to see what it says, publish a copy of the home with that release$"):
        compared_by("verdict/4", "verdict/1")
    with pytest.raises(
        ValueError, match=r"^verdict/2 was retired before a release had it: .* there is verdict/4; .* diff"
    ):
        compared_by("verdict/2", "verdict/4")


def test_what_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(ValueError, match=r"^used/7 is no method; there is used/3$"):
        method("used/7")
    with pytest.raises(ValueError, match=r"^banana/7 is no method; there are eligible/1, "):
        method("banana/7")
