"""`torch.nested`: a name that scripts import; Dragon has no nested tensors, and every name of it says so."""
