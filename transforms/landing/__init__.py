"""From what producers deliver to landed rows: coerced, hashed, versioned, checked, or refused with a reason.

A row hash names a row for ever: columns may be added (`since`), what is hashed of those that are there may not change.
"""
