"""`slowwave push`: what it asks, does and prints."""
