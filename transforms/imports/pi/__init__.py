"""Sessions of pi, and of OpenClaw, which is built on it: a header, then entries that hang on each other as a tree.

Versions 1 to 3 of the format. Version 1 was seen in a file, 3 in the source of pi and in files that others describe.
"""
