"""The same functions as Prefect flows, and `slowwave serve`.

The only room that imports Prefect.
"""
