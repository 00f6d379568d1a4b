"""Commands that delete from a home, by age or by name. What would go is shown first."""
