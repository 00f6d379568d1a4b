"""From the lake to an audited serving file: what has to be rebuilt, building it, publishing.

Whatever is published follows from the log, `as_of` and params; a publish that fails changes nothing.
"""
