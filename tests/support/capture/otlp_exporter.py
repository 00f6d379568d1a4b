"""A program that sends an agent's spans by the exporter of the SDK; its arguments: the prompt, and whose attributes.

`openinference` are those that the instrumentations of OpenInference give, which export by the same SDK: an agent, and
within it the call of a model with its messages in single attributes.

`OPENINFERENCE` does the same by OpenInference's own library, which the development lock does not hold.
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
tracer = provider.get_tracer("agents")
with tracer.start_as_current_span("invoke_agent dev") as agent:
    if sys.argv[2:] == ["openinference"]:
        agent.set_attributes({"openinference.span.kind": "AGENT", "agent.name": "dev", "session.id": "s-1",
            "input.value": sys.argv[1], "output.value": "Pushed."})
        with tracer.start_as_current_span("ChatCompletion") as call:
            call.set_attributes({"openinference.span.kind": "LLM", "llm.model_name": "any",
                "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": sys.argv[1],
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": "Pushed.",
                "llm.token_count.prompt": 9, "llm.token_count.completion": 2, "llm.token_count.total": 11})
    else:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "dev",
            "gen_ai.input.messages": said("user", sys.argv[1]), "gen_ai.output.messages": said("assistant", "Pushed.")})
provider.shutdown()
"""

OPENINFERENCE = """
import sys
from openinference.instrumentation import Message, TokenCount, TracerProvider, get_llm_attributes, using_session
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.export import BatchSpanProcessor
provider = TracerProvider(resource=Resource.create({"service.name": "checkout"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(compression=Compression.Gzip)))
tracer = provider.get_tracer("agents")
with using_session("s-1"), tracer.start_as_current_span("dev", openinference_span_kind="agent") as agent:
    agent.set_attribute("agent.name", "dev")
    agent.set_input(sys.argv[1])
    with tracer.start_as_current_span("ChatCompletion", openinference_span_kind="llm") as call:
        call.set_attributes(get_llm_attributes(model_name="any",
            token_count=TokenCount(prompt=9, completion=2, total=11),
            input_messages=[Message(role="user", content=sys.argv[1])],
            output_messages=[Message(role="assistant", content="Pushed.")]))
    agent.set_output("Pushed.")
provider.shutdown()
"""
