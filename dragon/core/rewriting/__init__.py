"""Python functions written anew: their source read, changed as a tree, and compiled with the closures of the old."""
