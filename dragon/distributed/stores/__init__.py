"""Where processes leave each other values: in memory, in a file, or with one of them over TCP."""
