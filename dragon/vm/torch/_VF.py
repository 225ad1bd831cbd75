"""`torch._VF`: torch's functions under the name by which PyTorch's own modules call them."""
from dragon.vm.guest import explain
from dragon.vm.torch.core.register import FUNCTIONS


def __getattr__(name):
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    raise explain("torch._VF", name, FUNCTIONS.keys)
