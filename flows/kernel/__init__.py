"""What every command stands on: settings, lock, durable files, errors, the terminal.

It is loaded by each command: nothing slow may be imported here.
"""
