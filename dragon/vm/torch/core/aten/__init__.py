"""What computes PyTorch's operators: `table` finds it, the families have what takes more than a row's expression."""
