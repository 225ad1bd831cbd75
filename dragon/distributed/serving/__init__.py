"""Processes that serve: they keep values, and run functions that another one sends, over ports."""
