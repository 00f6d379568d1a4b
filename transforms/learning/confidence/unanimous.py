"""From how many attempts on a record of one kind decides on which side of one half its estimate is."""

UNANIMOUS_ATTEMPTS = 4
