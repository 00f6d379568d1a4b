"""How likely a memory is referenced in the next 30 days.

Fits are held to given coefficients, so that threads change no bit.
"""
