"""Asking a language model within a budget, and landing its answers.

The key goes to its server and nowhere else.
"""
