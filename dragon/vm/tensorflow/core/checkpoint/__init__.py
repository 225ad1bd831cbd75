"""Variables in files: checkpoints, what they find, and averages that are kept beside variables."""
