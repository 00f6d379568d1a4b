"""The commands of `slowwave` that are no group: their arguments, options, help and examples, by what they are for.

What a command does stands in the module that it imports when it runs, so that `--help` loads none of it.
"""
