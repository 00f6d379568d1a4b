"""Files and stores of other programs become deliveries in the inbox, one for each of their units.

There is no second way into the lake: what is written here lands as everything else does.
"""
