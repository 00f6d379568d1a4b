"""Adapters of programs that keep whole conversations: what was said by whom, turn after turn.

`chat_log` makes turns of it; a module each says how one program writes a conversation down.
"""
