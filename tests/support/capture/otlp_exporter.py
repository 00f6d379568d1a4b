"""A program that sends an agent's span with the SDK's own exporter: its arguments are the prompt, and whose attributes.

`openinference` are those that the instrumentations of OpenInference give, which export by the same SDK.
"""

EXPORTER = """
import json, sys
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
provider = TracerProvider(resource=Resource.create({"service.name": "checkout"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(compression=Compression.Gzip)))
said = lambda role, text: json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
with provider.get_tracer("agents").start_as_current_span("invoke_agent dev") as agent:
    if sys.argv[2:] == ["openinference"]:
        agent.set_attributes({"openinference.span.kind": "AGENT", "agent.name": "dev",
            "input.value": sys.argv[1], "output.value": "Pushed."})
    else:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "dev",
            "gen_ai.input.messages": said("user", sys.argv[1]), "gen_ai.output.messages": said("assistant", "Pushed.")})
provider.shutdown()
"""
