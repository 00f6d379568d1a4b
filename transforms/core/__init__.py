"""What every room stands on: declarations of tables, hashes, times, sums and counts that no order of rows moves.

Nothing here knows of a memory or a strategy; the digests and sums are in every published hash and must not be changed.
"""
