"""Where programs keep whole conversations, and how their files are read.

What a record holds is said in `slowwave.transforms.imports.chats`.
"""
