"""OpenTelemetry traces and logs: which spans are an interaction, what was asked, answered, offered, judged.

GenAI semantic conventions, older and newer, OpenInference and further producers (`conventions`), and coding agents' own
events (`clients`); a trace is read as a whole, whatever files it is in.
"""
