"""status, doctor, alerts and metrics: what is fresh, what waits, what goes or could go wrong, and who is told.

They answer beside a running night, and mend nothing.
"""
