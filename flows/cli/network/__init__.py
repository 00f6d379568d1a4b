"""Commands about who comes in over the network: tokens, and what takes their rows.

Each imports what it needs when it runs.
"""
