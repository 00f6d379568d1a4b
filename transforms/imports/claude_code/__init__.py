"""Transcripts of Claude Code: records of a session, one to a line, become its turns; nothing else of them is kept.

What was seen in files of 2.0.76 to 2.1.38, and of later versions in what others have written about theirs.
"""
