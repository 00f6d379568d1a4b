"""Rows that come in over HTTP: judged as landing would, durable in the inbox before they are answered.

Nothing of their content is logged, and nobody is let in who should not be.
"""
