"""What is connected: sources that every nightly reads first. What is found where programs keep logs is only listed.

Nothing is connected but by a person's word, and nothing is read before.
"""
