"""Calls of Python functions that become graphs: what they depend on, how they are captured, when they are again."""
