"""How sure one can be of a strategy, old evidence keeping its order.

Counts are whole numbers carried from day to day; nothing here may depend on the order of rows.
"""
