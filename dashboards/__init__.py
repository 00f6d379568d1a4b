"""What people look at.

A room imports only rooms before it: cookbook, charts, report, app. Of flows it asks, and changes nothing itself.
"""
