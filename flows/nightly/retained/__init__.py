"""What goes from the lake by its age: texts, and evidence that no count needs. What counts need of them is kept."""
