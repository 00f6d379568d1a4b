"""The shell: flows, and the input and output they need.

A room imports only rooms before it: kernel, lake, land, publish, llm, nightly, ask, decide, care, schedule, cli.
"""
