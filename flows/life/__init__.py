"""A lake's life: what is erased from it for good; what stood there, where it may still stand, and that it does not.

What goes is written down before anything goes, so that whoever is killed is followed by one who ends it.
"""
