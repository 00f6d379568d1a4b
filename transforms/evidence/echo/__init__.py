"""`echo/1`: answers that repeat a memory's first words, in Polars and as a compiled loop.

Both find the same to the last row; whoever changes one writes `echo/2`.
"""
