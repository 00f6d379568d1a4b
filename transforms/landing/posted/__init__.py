"""Rows as they are posted over HTTP: a body taken apart, and each row given what its sender and its receipt say.

What comes out is what a file would deliver: the same rows land from it.
"""
