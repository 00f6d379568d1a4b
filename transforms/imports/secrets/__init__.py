"""Secrets in what other programs wrote: identified by their form or by what stands before them, and taken out.

What is taken out is counted by kind. It depends on the text alone, and a text without secrets stays as it is.
"""
