"""Spans and logs that real instrumentors wrote, imported, and again: the rows are what the files say.

Of the files that are read 11 interactions and 2 errors come; what protobuf's own JSON is, is refused.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from imports_run import imported, landed

from slowwave.transforms.landing.tables import Interactions, Outcomes

SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "client_logs"
FOLDERS = ("otel_genai", "openinference")
pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SAMPLES.exists(), reason=f"{SAMPLES} is not there"),
]


def _attributes(item: Mapping[str, Any]) -> dict[str, Any]:
    return {pair["key"]: pair["value"] for pair in item["attributes"]}


def _spans(*names: str) -> Iterator[dict[str, Any]]:
    for name in names:
        document = orjson.loads((SAMPLES / "otel_genai" / name).read_bytes())
        for resource in document["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                yield from scope["spans"]


def _events(name: str) -> Iterator[dict[str, Any]]:
    document = orjson.loads((SAMPLES / "otel_genai" / name).read_bytes())
    for resource in document["resourceLogs"]:
        for scope in resource["scopeLogs"]:
            yield from scope["logRecords"]


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    told = imported(tmp_path / "home", "otlp", *(SAMPLES / folder for folder in FOLDERS), capsys=capsys)
    assert told["import"]["rows"] == {"interaction": 11, "outcome": 2}
    assert told["import"]["refused"] == told["import"]["left_out"] == {}
    assert told["landing"]["totals"]["accepted"] == 13
    return tmp_path / "home"


def test_copied_and_imported_again_nothing_is_new(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in FOLDERS:
        shutil.copytree(SAMPLES / folder, tmp_path / "copied" / folder)
    told = imported(home, "otlp", tmp_path / "copied", capsys=capsys)
    assert told["import"]["rows"] == {"interaction": 11, "outcome": 2}
    assert told["landing"]["totals"]["accepted"] == 0
    assert len(landed(home, Interactions)) == 11


def test_what_protobuf_wrote_is_refused_with_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = (SAMPLES / "otel_genai").glob("protobuf_*")
    told = imported(tmp_path / "home", "otlp", path, capsys=capsys)
    assert told["exit"] == 1
    assert told["import"]["rows"] == {}
    assert "format: json" in told["said"]


def test_interactions_are_what_the_files_say(home: Path) -> None:
    by_id = {one["interaction_id"]: one for one in landed(home, Interactions)}
    for span in _spans("otlp_traces.json"):
        row = by_id.pop(f"otlp:{span['traceId']}:{span['spanId']}")
        own = [event for event in _events("otlp_logs.json") if event["spanId"] == span["spanId"]]
        named = [(_attributes(event)["event.name"]["stringValue"], event["body"]) for event in own]
        asked = [body["kvlistValue"]["values"][0]["value"] for name, body in named if name == "gen_ai.user.message"]
        assert row["prompt"] == asked[-1]["stringValue"]
        assert row["project"] == "replay"
        usage = _attributes(span)
        counts = [int(usage[f"gen_ai.usage.{side}_tokens"]["intValue"]) for side in ("input", "output") if
                  f"gen_ai.usage.{side}_tokens" in usage]  # fmt: skip
        assert row["tokens"] == (sum(counts) if counts else None)
    (told_twice,) = (span for span in _spans("util_genai_1.3b0_traces.json") if span["name"].startswith("chat"))
    row = by_id.pop(f"otlp:{told_twice['traceId']}:{told_twice['spanId']}")
    said = _attributes(told_twice)
    for name, text in (("input", row["prompt"]), ("output", row["response"])):
        (message,) = orjson.loads(said[f"gen_ai.{name}.messages"]["stringValue"])
        assert text == message["parts"][0]["content"]
    for line in (SAMPLES / "openinference" / "spans.jsonl").read_bytes().splitlines():
        span = orjson.loads(line)
        row = by_id.pop(f"otlp:{span['context']['trace_id'][2:]}:{span['context']['span_id'][2:]}")
        held = span["attributes"]
        asked = [held[f"llm.input_messages.{n}.message.content"] for n in range(9) if
                 held.get(f"llm.input_messages.{n}.message.role") == "user"]  # fmt: skip
        assert row["prompt"] == asked[-1]
        assert row["response"] == held.get("llm.output_messages.0.message.content")
        assert row["tokens"] == held.get("llm.token_count.total")
    assert by_id == {}


def test_errors_are_what_the_files_say(home: Path) -> None:
    errors = sorted(str(one["error_message"]) for one in landed(home, Outcomes))
    assert len(errors) == 2
    assert all(error.startswith("NotFoundError: Error code: 404") for error in errors)
    assert all(one["attempted"] is None and one["basis"] == "reported" for one in landed(home, Outcomes))
