"""What should stand in the store that a memory came from: its scores, and what people decided about it."""
