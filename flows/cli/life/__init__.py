"""Commands that let go of what a lake holds: for good, or by age. What would go is shown first."""
