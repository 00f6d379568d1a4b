"""The registry of methods: what each computes, which params choose it, which golden tables fix it.

A released one stands as it is; a new version is a new entry in `released`.
"""
