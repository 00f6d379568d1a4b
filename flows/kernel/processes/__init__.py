"""Processes that are begun beside our own, and end with us, however we end; with how many threads ours compute."""
