"""Where PyTorch has its dispatcher written in Python."""
