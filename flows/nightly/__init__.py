"""The night as plain functions: land, rebuild, publish, prune, and what is said of it.

Prefect only wraps them, in schedule.
"""
