"""Tensors without numbers for tracing: there are none, and `is_fake` says so of every tensor."""
from dragon.vm.torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
