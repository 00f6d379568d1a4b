"""The lake: files that never change, read and written here alone.

Its format has a number; older ones are brought up to date by steps that stay.
"""
