"""Logs and stores of other programs, read as they lie there, become deliveries in the inbox; landing does the rest.

The rules of each program are in `transforms/imports`; here is how its files are found, read and delivered.
"""
