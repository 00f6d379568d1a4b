"""The morning report: one page, written as a file.

Sentences are in the stories, their places in templates.
"""
