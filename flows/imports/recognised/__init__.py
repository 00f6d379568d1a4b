"""Which importer a file is for, by what is in it.

Where none reads it: what the file is, and how its rows come in all the same.
"""
