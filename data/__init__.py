"""The generator of the sample logs."""
