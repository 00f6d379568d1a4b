"""Spans and events of a night, as servers on loopback take them, refuse them, or never answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alert_servers import Taken, http_server
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from small_home import SmallHome, interaction, memory

from slowwave.flows.nightly import telemetry

SECRET = "what nobody else may read"  # noqa: S105 - of no server


@pytest.fixture
def server() -> Iterator[Taken]:
    with http_server() as taken:
        yield taken


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    home = SmallHome(tmp_path / "home")
    home.land(memory("m1", content=SECRET), interaction("i1", response=f"I know {SECRET}."))
    return home


def send_to(monkeypatch: pytest.MonkeyPatch, server: Taken, path: str) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url(path))
    monkeypatch.setenv("OPENLINEAGE_URL", server.url(""))
    monkeypatch.setenv("OPENLINEAGE_ENDPOINT", f"{path[1:]}/lineage")


def test_a_night_sends_a_span_for_each_stage_and_an_event_when_it_begins_and_ends(
    home: SmallHome, server: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_to(monkeypatch, server, "/hook")
    night = home.nightly()
    spans = [
        span
        for _, path, content in server.requests
        if path.endswith("/v1/traces")
        for resource in ExportTraceServiceRequest.FromString(content).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    (whole,) = (span for span in spans if span.name == "nightly")
    assert {each.key: each.value.string_value for each in whole.attributes} == {"slowwave.run_id": night.run_id}
    stages = {span.name for span in spans if span.parent_span_id == whole.span_id}
    assert {"land", "plan", "publish", "swap"} <= stages
    events = [json.loads(content) for _, path, content in server.requests if path.endswith("/lineage")]
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
    assert len({event["run"]["runId"] for event in events}) == 1
    assert "memory_health" in {table["name"] for table in events[1]["outputs"]}
    assert all(SECRET.encode() not in content for _, _, content in server.requests)


def test_a_night_that_fails_says_so_and_not_why(
    home: SmallHome, server: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_to(monkeypatch, server, "/hook")
    home.settings.settings_file.write_text('[retention]\ntexts_days = "long"\n')
    with pytest.raises(Exception, match="texts_days"):
        home.nightly()
    events = [json.loads(content) for _, path, content in server.requests if path.endswith("/lineage")]
    assert [event["eventType"] for event in events] == ["START", "FAIL"]
    assert all(b"texts_days" not in content for _, _, content in server.requests)


def test_who_does_not_answer_fails_no_night(
    home: SmallHome, server: Taken, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(telemetry, "_SECONDS", 0.2)
    send_to(monkeypatch, server, "/hang")
    assert home.nightly().status == "published"
    said = capsys.readouterr().err
    assert "OpenTelemetry did not take all within 0.2 s" in said
    assert "OpenLineage did not take all within 0.2 s" in said


def test_without_what_sends_it_a_night_says_how_to_add_it(
    home: SmallHome, server: Taken, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    send_to(monkeypatch, server, "/hook")
    monkeypatch.setitem(sys.modules, "openlineage.client", None)
    assert home.nightly().status == "published"
    assert "slowwave[telemetry]" in capsys.readouterr().err
