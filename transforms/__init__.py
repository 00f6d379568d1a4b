"""Pure transforms: frames in, frames out.

At the top lie only the params of a run and the graph of all tables. All else is in rooms, each of which imports
only rooms before it: core, language, landing, evidence, grouping, learning, lift, usage, health, observations,
decisions, llm.
"""
