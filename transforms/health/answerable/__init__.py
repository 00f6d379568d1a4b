"""What a log can and cannot answer, in sentences, and what to record so that it can.

One function makes the sentences, from counts: of a publish, or of rows that are about to land.
"""
