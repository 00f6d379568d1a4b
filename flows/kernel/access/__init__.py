"""Who may come in over the network: tokens, and files that are nobody's but the owner's.

Nothing slow is loaded here either.
"""
