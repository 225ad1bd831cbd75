"""Whether new memory is filled so that what reads it unset shows: `torch.utils.deterministic`."""
# Kept, and read by nobody: nothing of Dragon's reads memory that was not set.
fill_uninitialized_memory = True
