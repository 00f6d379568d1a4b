"""Words: how texts are cut, inflected and compared by meaning.

Lists of words may grow only with a new version of the methods that read them: released ones must find what they found.
"""
