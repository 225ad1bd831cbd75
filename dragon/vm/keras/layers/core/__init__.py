"""Layers that do no more than hold a graph together, and those that multiply."""
