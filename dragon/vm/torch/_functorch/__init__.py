"""What `torch.func` is made of, under the names that libraries import."""
