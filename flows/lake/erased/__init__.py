"""What is taken out of a lake for good: rows go from its files. What is kept are keyed hashes, to know them again."""
