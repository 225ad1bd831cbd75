"""Stages: what stands between a source and a batch, as plain iterators over items of any kind.

A stage is a function from an iterator to an iterator. It knows nothing of what the items are: whoever stacks, draws or
measures them gives a function for it. Files are named after what they do; each is imported when it is first needed.
"""
