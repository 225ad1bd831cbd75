"""Nested tensors: batches whose samples differ in size, in the layouts `torch.jagged` and `torch.strided`."""
