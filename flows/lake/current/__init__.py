"""What is published, and which of it is current.

A home links to its file; of a lake in a bucket, a pointer there says which file that is, for every home over it.
"""
