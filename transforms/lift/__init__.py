"""What a memory does to success, as far as the log can tell: by chance, by cut-off, on repeated tasks, or by matching.

What could not be compared is said in words; association is never called an effect.
"""
