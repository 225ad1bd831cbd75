"""Sparse tensors: a table of how functions of the API are computed from indices and values, one module per subject."""
