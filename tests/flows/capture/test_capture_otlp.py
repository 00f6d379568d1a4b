"""Telemetry that is taken in: kept as OTLP JSON without secrets, of its sender's project; imported when it lands."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from capture_process import receiving
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from otlp_documents import OTHER_TRACE, TRACE, chat, span, traces
from otlp_exporter import EXPORTER, OPENINFERENCE
from small_home import SmallHome

from slowwave.flows.capture.posts import UnreadableError, document_of, taken_answer
from slowwave.flows.imports import connections
from slowwave.flows.imports.connections import received_deliveries
from slowwave.flows.kernel.bearer_tokens import add_token
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.inbox import inbox_otlp
from slowwave.flows.land.received_files import claim
from slowwave.flows.nightly.nightly import land_inbox, start_run
from slowwave.flows.publish.run import Run
from slowwave.transforms.imports.otlp.trace_documents import kept_document, why_not_taken

# One that has `openinference-instrumentation` and OpenTelemetry's exporter, which the development lock does not hold.
OPENINFERENCE_PYTHON = os.environ.get("SLOWWAVE_TEST_OPENINFERENCE_PYTHON", "")
BY_ITSELF = pytest.param(
    "by itself",
    marks=pytest.mark.skipif(not OPENINFERENCE_PYTHON, reason="SLOWWAVE_TEST_OPENINFERENCE_PYTHON names none"),
)


def export(url: str, prompt: str, token: str = "", attributes: str = "gen_ai") -> None:
    """Send a span with the SDK's own exporter; `by itself`: by OpenInference's own library."""
    env = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": url}
    if token:
        env["OTEL_EXPORTER_OTLP_HEADERS"] = f"Authorization=Bearer%20{token}"
    python, program = (OPENINFERENCE_PYTHON, OPENINFERENCE) if attributes == "by itself" else (sys.executable, EXPORTER)
    subprocess.run([python, "-c", program, prompt, attributes], env=env, check=True, timeout=120)


def landed(home: SmallHome) -> list[dict[str, Any]]:
    query = "SELECT interaction_id, project, agent, prompt, response FROM interactions ORDER BY prompt"
    return json.loads(home.ask("sql", query, "--format", "json").stdout)


def land(home: SmallHome) -> Run:
    with writer_lock(home.settings, "land"):
        run = start_run(home.settings, "land")
        land_inbox(run)
    return run


def deliver(home: SmallHome, number: int, *documents: object) -> Path:
    home.settings.inbox.mkdir(parents=True, exist_ok=True)
    path = home.settings.inbox / f"capture-{number:017d}-{number:017d}.otlp.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in documents))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("attributes", ["gen_ai", "openinference", BY_ITSELF])
def test_a_real_exporter_delivers_and_the_project_is_that_of_its_token(attributes: str, tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    token = add_token(home.settings, "api", "capture", "team/shop")
    with receiving(home.folder) as receiver:
        export(receiver.url, "Push it, my key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789", token, attributes)
        text = "".join(path.read_text() for path in home.settings.inbox.glob("*.otlp.jsonl"))
    assert "sk-ant-api03" not in text
    assert home.ask("land").returncode == 0
    (row,) = landed(home)
    assert (row["project"], row["agent"], row["response"]) == ("team/shop", "dev", "Pushed.")
    assert row["prompt"].startswith("Push it, my key is [secret:")
    assert list(home.settings.inbox.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("attributes", ["gen_ai", "openinference", BY_ITSELF])
def test_a_real_exporter_tries_again_until_it_is_kept(attributes: str, tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    refusals: list[str] = []
    with receiving(home.folder) as receiver:

        class Full(BaseHTTPRequestHandler):
            """In front of the receiver: says twice what it says of a full disk, then passes on."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if len(refusals) < 2:
                    refusals.append(self.path)
                    self.send_response(503)
                    self.send_header("Retry-After", "1")
                    self.end_headers()
                    return
                sent = {"Content_Type": self.headers["Content-Type"], "Content_Encoding": "gzip"}
                status, _, answer = receiver.ask("POST", self.path, body, **sent)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:  # type: ignore[override]
                pass

        front = HTTPServer(("127.0.0.1", 0), Full)
        threading.Thread(target=front.serve_forever, daemon=True).start()
        export(f"http://127.0.0.1:{front.server_port}", "Again", attributes=attributes)
        front.shutdown()
        front.server_close()
    assert refusals == ["/v1/traces"] * 2
    assert home.ask("land").returncode == 0
    assert [row["prompt"] for row in landed(home)] == ["Again"]


def test_protobuf_becomes_otlp_json_with_hex_ids():
    request = ExportTraceServiceRequest()
    made = request.resource_spans.add().scope_spans.add().spans.add()
    made.trace_id, made.span_id, made.parent_span_id = bytes(range(16)), bytes(range(8)), bytes(8)
    made.start_time_unix_nano = 2**60
    made.links.add(trace_id=bytes(range(1, 17)), span_id=bytes(range(1, 9)))
    made.attributes.add(key="gen_ai.x").value.bytes_value = b"\x00\xff"
    document = document_of(request.SerializeToString(), "traces", is_protobuf=True)
    (found,) = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert (found["traceId"], found["spanId"]) == (bytes(range(16)).hex(), bytes(range(8)).hex())
    assert found["links"][0]["traceId"] == bytes(range(1, 17)).hex()
    assert found["startTimeUnixNano"] == str(2**60)
    assert why_not_taken(document, "traces") == ""
    for wrong in (b"\xff\xff", b"{}", request.SerializeToString()[:-1]):
        with pytest.raises(UnreadableError):
            document_of(wrong, "traces", is_protobuf=True)


@pytest.mark.parametrize("document", [[], 7, {"resourceSpans": 7}, {"resource_spans": []}, {"resourceSpans": "x"}])
def test_what_is_no_otlp_is_said(document: object):
    assert why_not_taken(document, "traces")
    assert why_not_taken({}, "traces") == ""


def test_what_was_posted_to_the_wrong_path_is_not_taken_for_nothing():
    held = traces(span(1, chat("Which port?", "5432.")))
    assert why_not_taken(held, "traces") == ""
    assert why_not_taken(held, "logs") == "it has traces, which go to /v1/traces"
    assert why_not_taken({"resourceLogs": [], **held}, "traces") == ""
    assert why_not_taken({"resourceLogs": [{}], **held}, "traces") == "it has logs, which go to /v1/logs"


def test_what_names_another_project_is_rejected_and_the_rest_kept():
    def of(project: str | None) -> dict[str, Any]:
        named = [{"key": "openinference.project.name", "value": {"stringValue": project}}] if project else []
        resource = {"attributes": [{"key": "slowwave.project", "value": {"stringValue": "stolen"}}, *named]}
        return {"resource": resource, "scopeSpans": [{"spans": [span(1, {}), span(2, {})]}]}

    document = {"resourceSpans": [of(None), of("shop"), of("other"), "odd", {}]}
    kept, refused = kept_document(document, "traces", "shop")
    assert refused == 2
    assert len(kept["resourceSpans"]) == 3
    assert "stolen" not in json.dumps(kept)
    for held in kept["resourceSpans"]:
        pairs = {one["key"]: one["value"]["stringValue"] for one in held["resource"]["attributes"]}
        assert pairs["slowwave.project"] == "shop"
    everything, none = kept_document(document, "traces", None)
    assert (len(everything["resourceSpans"]), none) == (4, 0)
    assert "slowwave.project" not in json.dumps(everything)
    told = ExportTraceServiceResponse.FromString(taken_answer("traces", 2, is_protobuf=True).body)
    assert told.partial_success.rejected_spans == 2
    assert json.loads(taken_answer("logs", 2, is_protobuf=False).body)["partialSuccess"]["rejectedLogRecords"] == 2
    assert taken_answer("traces", 0, is_protobuf=True).body == b""


def test_a_trace_that_is_whole_lands_and_its_file_goes(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    deliver(home, 1, traces(span(1, chat("Which port?", "5432."))))
    deliver(home, 2, traces(span(2, chat("Which host?", "db."), trace=OTHER_TRACE)))
    run = land(home)
    assert run.landed.unreadable == []
    assert [row["prompt"] for row in landed(home)] == ["Which host?", "Which port?"]
    assert list(home.settings.inbox.iterdir()) == []


def test_a_trace_waits_for_its_topmost_span(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    child = span(2, chat("Which port?", "5432."), parent=1)
    deliver(home, 1, traces(child))
    land(home)
    assert landed(home) == []
    assert len(inbox_otlp(home.settings.inbox)) == 1

    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "dev"}
    deliver(home, 2, traces(span(1, agent, seconds=5.0)))
    land(home)
    (row,) = landed(home)
    assert (row["interaction_id"], row["agent"]) == (f"otlp:{TRACE}:{1:016x}", "dev")
    assert inbox_otlp(home.settings.inbox) == []


def test_a_trace_whose_topmost_span_never_comes_lands_after_an_hour(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    path = deliver(home, 1, traces(span(2, chat("Which port?", "5432."), parent=1)))
    deliver(home, 2, traces(span(3, chat("Which host?", "db."), parent=1, trace=OTHER_TRACE)))
    land(home)
    assert landed(home) == []
    (waiting,) = inbox_otlp(home.settings.inbox)
    assert path != waiting  # it was claimed, with the other
    an_hour_ago = time.time() - 3601
    os.utime(waiting, (an_hour_ago, an_hour_ago))
    land(home)
    assert [row["prompt"] for row in landed(home)] == ["Which host?", "Which port?"]
    assert inbox_otlp(home.settings.inbox) == []


def test_killed_before_its_file_goes_the_same_lands_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = SmallHome(tmp_path / "home")
    deliver(home, 1, traces(span(1, chat("Which port?", "5432."))), {"resourceSpans": [], "odd": 1}, {"no": "otlp"})

    class KilledError(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", killed)
        with pytest.raises(KilledError):
            received_deliveries(home.settings, print)
    run = land(home)
    assert run.landed.total("accepted") == 1
    assert run.landed.total("quarantined") == 1
    assert run.landed.total("duplicate") == 0
    assert list(home.settings.inbox.iterdir()) == []


def test_what_comes_while_the_inbox_is_claimed_waits_for_the_next_landing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Else the receiver might merge it while it is read: there would be no such file any more."""
    home = SmallHome(tmp_path / "home")
    deliver(home, 1, traces(span(1, chat("Which port?", "5432."))))
    row = home.settings.inbox / f"capture-{3:017d}-{3:017d}.jsonl"

    def claims(settings: Settings) -> None:
        claim(settings)
        deliver(home, 2, traces(span(2, chat("Which host?", "db."), trace=OTHER_TRACE)))
        row.write_text('{"prompt": "Which user?", "created_at": "2026-03-02T09:00:00Z"}\n')

    with monkeypatch.context() as patched:
        patched.setattr(connections, "claim", claims)
        land(home)
    assert [one["prompt"] for one in landed(home)] == ["Which port?"]
    assert row.exists()
    land(home)
    assert [one["prompt"] for one in landed(home)] == ["Which host?", "Which port?", "Which user?"]


def test_what_cannot_be_read_stays_and_is_named(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    deliver(home, 1, traces(span(1, chat("Which port?", "5432."))))
    (home.settings.inbox / "odd.otlp.jsonl").write_bytes(gzip.compress(b"x" * 1000)[:20])
    run = land(home)
    assert [row["prompt"] for row in landed(home)] == ["Which port?"]
    assert [path.name for path in home.settings.inbox.iterdir()] == ["odd.otlp.jsonl"]
    assert any("odd.otlp.jsonl" in said for said in run.landed.unreadable)
