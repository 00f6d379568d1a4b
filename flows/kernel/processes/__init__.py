"""Processes that are begun beside our own. They end with us, however we end."""
