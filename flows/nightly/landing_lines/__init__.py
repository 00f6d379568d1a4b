"""What the screen says of a landing: how a mapping was used, which fields are unknown, which ids match nothing.

The counts of delivered rows themselves are in `slowwave.flows.nightly.screen`.
"""
