"""The first screen of dashboard and report: six answers about the memories of all projects, or of one.

Each answer is read from recipes of the cookbook and is a tile: its figure, how that changed, and what it is by name.
"""
