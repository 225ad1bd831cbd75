"""Several replicas in one process: they take turns, meet, and each has its own memory where values differ."""
