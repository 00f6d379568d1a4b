"""A program that sends one span of an agent with the SDK's own exporter; its argument is the prompt."""

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
    agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "dev",
        "gen_ai.input.messages": said("user", sys.argv[1]), "gen_ai.output.messages": said("assistant", "Pushed.")})
provider.shutdown()
"""
