"""What follows from what people decide: changes of memories, holds, archivings.

Decisions are landed rows like any other, so a replay decides the same.
"""
