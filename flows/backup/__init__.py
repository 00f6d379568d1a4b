"""Backup, restore and verify: a home is copied to another place, brought back, and held against what it was."""
