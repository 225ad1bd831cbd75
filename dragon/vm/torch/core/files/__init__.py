"""PyTorch's files: archives of records, the pickles within, and where storages go."""
