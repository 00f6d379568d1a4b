"""The command line: options, questions, what is printed.

Each command is made when it is asked for; nothing imports this room.
"""
