"""What is kept of texts that were let go of by their age: what was found in them, as counts need it."""
