"""status and doctor: what is fresh, what waits, what could go wrong.

They answer beside a running night, and mend nothing.
"""
