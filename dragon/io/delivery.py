"""Batches on their way to a device: one is copied while the one before it is being worked with."""
from dragon import _C
from dragon.core.operators import operators


class ToDevice:
    """Put the arrays and tensors of a batch on a device; structures keep their form, what holds no numbers stays.

    Given to an `Iterator` as `deliver`, it is called for each batch while the one before it is still being worked with:
    a device that copies by itself has the time for it.

    Parameters
    ----------
    device : Union[str, dragon.Device]
        The device.
    make : Callable, optional
        Makes a tensor of an array, over its memory: `dragon.from_numpy`, `torch.from_numpy`. The engine's plain tensors
        by default.

    """

    ahead = 1  # how many batches are handed over before they are asked for

    def __init__(self, device, make=None):
        self.device, self.make = device, make or _plain

    def __call__(self, value):
        if isinstance(value, dict):
            return {key: self(part) for key, part in value.items()}
        if isinstance(value, (tuple, list)):
            parts = [self(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        if not isinstance(value, _C.Tensor):
            if getattr(getattr(value, "dtype", None), "kind", "O") not in "biufc":
                return value
            value = self.make(value)
        return value.to(self.device) if hasattr(value, "to") else operators().to_device(value, str(self.device))


def _plain(array):
    return _C.from_buffer(array, _C.Tensor)


def ahead(items, count):
    """Yield items, each when so many more have been made."""
    waiting = []
    for item in items:
        waiting.append(item)
        if len(waiting) > count:
            yield waiting.pop(0)
    yield from waiting
