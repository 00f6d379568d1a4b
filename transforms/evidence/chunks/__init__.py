"""Document chunks that interactions used, counted per chunk and per document.

Ids with a `#` name a chunk of a document.
"""
