"""The parts of `torch.func`, under the names that libraries import."""
