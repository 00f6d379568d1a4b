"""What the lake let go of by its age: what it says of that, and what it keeps in place of it."""
