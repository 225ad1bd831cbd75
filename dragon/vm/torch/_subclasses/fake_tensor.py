"""Names of tensors without numbers, and the question whether a tensor is one."""
from dragon.vm.torch.core import absent

FakeTensor = absent.make_class("_subclasses.fake_tensor", "FakeTensor")
FakeTensorMode = absent.make_class("_subclasses.fake_tensor", "FakeTensorMode")


def is_fake(x):
    """Return False: all tensors have numbers, but for those on the meta device."""
    return False
