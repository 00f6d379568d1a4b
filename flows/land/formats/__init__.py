"""Readers of JSONL, CSV and Parquet, packed or not, in chunks of bounded size.

Whatever is in a file, a reader gives rows or reasons.
"""
