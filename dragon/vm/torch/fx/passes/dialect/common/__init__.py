"""Passes that fit operators of all kinds."""
