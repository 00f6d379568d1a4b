"""Rollouts of Codex, of both generations of its format: a thread's records become turns, and turns become rows."""
