"""Modules of fewer bits."""
