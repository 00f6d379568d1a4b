"""Trajectories of agents in ATIF, the Agent Trajectory Interchange Format of Harbor: one object with all steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.imports.adapter import Call, LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import ATTACHMENT, CallResult, ChatLog, Conversation, Message, Part
from slowwave.transforms.imports.record_values import number_in, object_in, objects_in, text_in
from slowwave.transforms.imports.trace_values import text_of

NAME = "atif"
_SHELLS = frozenset({"bash", "Bash", "shell", "bash_command", "execute_bash"})
_COMMANDS = ("command", "cmd", "keystrokes")


def _producer(record: Record) -> str | None:
    version = text_in(record, "schema_version")
    return version if version.startswith("ATIF-") and isinstance(record.get("steps"), list) else None


def _parts(record: Record) -> Iterator[Part]:
    if _producer(record) is None:
        yield LeftOut("a record that is no trajectory")
        return
    agent, steps = object_in(record, "agent"), objects_in(record, "steps")
    name = text_in(record, "session_id") or text_in(record, "trajectory_id")
    begun = next((step["timestamp"] for step in steps if step.get("timestamp") is not None), None)
    yield Conversation(name, begun, agent=text_in(agent, "name"), version=text_in(agent, "version"))
    subagents = objects_in(record, "subagent_trajectories")
    if subagents:
        yield LeftOut("a trajectory of a subagent within another's", len(subagents))
    for step in steps:
        yield from _step(step, text_in(agent, "model_name"))


def _step(step: Mapping[str, Any], model: str) -> Iterator[Part]:
    source, at = text_in(step, "source"), step.get("timestamp")
    name, said = str(step.get("step_id") or ""), step.get("message")
    text = said if isinstance(said, str) else text_of(said)
    if step.get("is_copied_context") is True:
        yield LeftOut("a step copied from an earlier trajectory")
    elif source == "user":
        yield Message("user", text or (ATTACHMENT if said else ""), at, name)
    elif source == "agent":
        metrics = object_in(step, "metrics")
        yield Message(
            "agent",
            text,
            at,
            name,
            text_in(step, "model_name") or model,
            int(number_in(metrics, "prompt_tokens") + number_in(metrics, "completion_tokens")),
            number_in(metrics, "cost_usd"),
            tuple(map(_call, objects_in(step, "tool_calls"))),
        )
    else:
        yield LeftOut(f"a step of the {source[:40] or 'program'}")
    for result in objects_in(object_in(step, "observation"), "results"):
        held = result.get("content")
        yield CallResult(text_in(result, "source_call_id"), held if isinstance(held, str) else text_of(held))


def _call(call: Mapping[str, Any]) -> Call:
    tool, given = text_in(call, "function_name"), object_in(call, "arguments")
    command = next((text_in(given, name) for name in _COMMANDS if text_in(given, name)), "") if tool in _SHELLS else ""
    return Call(text_in(call, "tool_call_id"), tool, command)


ATIF = ChatLog(NAME, 1, _producer, _parts)
