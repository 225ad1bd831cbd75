"""Pipelines as other frameworks' iterators and data sets."""
