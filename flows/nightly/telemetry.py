"""Spans of OpenTelemetry and events of OpenLineage, where the environment names who takes them.

The environment is the standard one: `OTEL_EXPORTER_OTLP_ENDPOINT` and `OPENLINEAGE_URL` with what belongs to them.
Without it nothing is imported. Whoever does not take them fails no run, and holds none up for longer than a few
seconds. They name tables, stages and runs; no text of a log and no message of an error is in them.
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from slowwave import __version__ as VERSION  # noqa: N812 - a constant here
from slowwave.flows.kernel.errors import install_command
from slowwave.flows.kernel.terminal import terminal_safe
from slowwave.flows.kernel.times import utc_iso, utc_now
from slowwave.flows.publish.run import Run

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

P = ParamSpec("P")
R = TypeVar("R")

# For whatever is sent at the end of a run, together.
_SECONDS = 5.0
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PRODUCER = "https://pypi.org/project/slowwave"


def observed(work: Callable[Concatenate[Run, P], R]) -> Callable[Concatenate[Run, P], R]:
    """Return the work of a run, with spans and events sent of it where that is wanted."""

    @wraps(work)
    def work_observed(run: Run, *arguments: P.args, **options: P.kwargs) -> R:
        with ExitStack() as stack:
            for is_wanted, observe in ((_wants_spans(), _trace), (_wants_events(), _send_events)):
                if is_wanted:
                    try:
                        stack.enter_context(observe(run))
                    except Exception as error:  # noqa: BLE001 - what is wrong with a setting of theirs fails no night
                        _say(_explain(error))
            return work(run, *arguments, **options)

    return work_observed


def _wants_spans() -> bool:
    is_off = (
        os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or os.environ.get("OTEL_TRACES_EXPORTER") == "none"
    )
    return not is_off and any(os.environ.get(name) for name in _ENDPOINTS)


def _wants_events() -> bool:
    return bool(os.environ.get("OPENLINEAGE_URL")) and os.environ.get("OPENLINEAGE_DISABLED", "").lower() != "true"


def _explain(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"nothing is sent to OpenTelemetry or OpenLineage: {install_command('telemetry')}"
    return f"nothing is sent to OpenTelemetry or OpenLineage: {type(error).__name__}"


def _say(text: str) -> None:
    sys.stderr.write(f"slowwave: {terminal_safe(text)}\n")


def _wait_for(threads: list[threading.Thread], who: str) -> None:
    for thread in threads:
        thread.join(_SECONDS / len(threads))
    if any(thread.is_alive() for thread in threads):
        _say(f"{who} did not take all within {_SECONDS:g} s")


def _start(function: Callable[[], Any]) -> threading.Thread:
    """Call it in a thread that nobody has to wait for."""
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


@contextmanager
def _trace(run: Run) -> Iterator[None]:
    """A span of the run, and of each stage in it."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "slowwave"}
    resource = Resource.create({"service.version": VERSION, **named})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    call = run.call

    def call_in_span(name: str, function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - any stage
        with _span(provider, name):
            return call(name, function, *arguments)

    run.call = call_in_span
    try:
        with _span(provider, run.kind, {"slowwave.run_id": run.run_id}):
            yield
    finally:
        run.call = call
        _wait_for([_start(provider.shutdown)], "OpenTelemetry")


@contextmanager
def _span(provider: TracerProvider, name: str, attributes: dict[str, str] | None = None) -> Iterator[None]:
    from opentelemetry.trace import StatusCode

    tracer = provider.get_tracer("slowwave", VERSION)
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield
        except BaseException:
            span.set_status(StatusCode.ERROR)
            raise


@contextmanager
def _send_events(run: Run) -> Iterator[None]:
    """An event when the run begins and one when it ends, with the tables that it reads and publishes."""
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, RunEvent, RunState
    from openlineage.client.event_v2 import Run as LineageRun

    from slowwave.transforms.graph import PUBLISHED
    from slowwave.transforms.landing.tables import LANDED

    client = OpenLineageClient()
    home = run.settings.home.resolve().as_uri()
    named = LineageRun(runId=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{home}#{run.run_id}")))
    job = Job(namespace=os.environ.get("OPENLINEAGE_NAMESPACE", "slowwave"), name=run.kind)

    def send(state: Literal["START", "COMPLETE", "FAIL"]) -> threading.Thread:
        event = RunEvent(
            eventType=RunState[state],
            eventTime=utc_iso(utc_now()),
            run=named,
            job=job,
            producer=_PRODUCER,
            inputs=[InputDataset(namespace=home, name=table.name) for table in LANDED],
            outputs=[OutputDataset(namespace=home, name=table.name) for table in PUBLISHED],
        )

        def emit() -> None:
            try:
                client.emit(event)
            except Exception as error:  # noqa: BLE001 - whoever does not take it fails no night
                _say(f"OpenLineage did not take {state}: {type(error).__name__}")

        return _start(emit)

    threads = [send("START")]
    try:
        yield
    except BaseException:
        threads.append(send("FAIL"))
        raise
    else:
        threads.append(send("COMPLETE"))
    finally:
        _wait_for(threads, "OpenLineage")
