"""Commands by which people decide: review, forget, edit, leave out.

A decision is durable before anything follows from it.
"""
