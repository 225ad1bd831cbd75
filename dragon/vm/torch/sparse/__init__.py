"""`torch.sparse`: a name that scripts import; Dragon has no sparse tensors, and every name of it says so."""
