"""What a day's log says of memories: who could use which, which were injected, echoed, used; one partition per UTC day.

A partition is named by what it is computed from, so a method here changes only as a new version beside the old.
"""
