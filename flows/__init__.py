"""The shell: flows, and the input and output they need."""
