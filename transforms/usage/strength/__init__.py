"""How much of a memory's evidence is left, and when it will have faded.

Beyond what the log watched nothing is forecast.
"""
