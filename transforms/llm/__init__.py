"""What a language model is asked, and what its answers come down to.

Whatever it says becomes a listed action on a memory that was shown, or nothing.
"""
