"""The compiled loops of `used`.

Each stands alone, as numba keeps it until its own file changes; arrays in, arrays out.
"""
