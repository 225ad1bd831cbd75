"""Layers that merge axes or split one."""
from dragon.vm.torch.nn.modules._applied import Applied


class Flatten(Applied):
    """Merge the axes from one to another.

    Parameters
    ----------
    start_dim, end_dim : int, optional, default=1, -1
        The first and the last of them.

    """

    __constants__ = _options = ["start_dim", "end_dim"]

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        """Return the input with axes merged."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Applied):
    """Split an axis into several.

    Parameters
    ----------
    dim : int
        Which one.
    unflattened_size : Sequence[int]
        Their sizes.

    """

    __constants__ = _options = ["dim", "unflattened_size"]

    def __init__(self, dim, unflattened_size):
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(f"Unflatten: got dim {dim!r}, expected an int: Dragon has no named tensors")
        self._require_tuple_int(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    def _require_tuple_int(self, input):
        if not isinstance(input, (tuple, list)):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(input).__name__}")
        for place, item in enumerate(input):
            if not isinstance(item, int):
                raise TypeError(f"unflattened_size must be tuple of ints, but found element of type "
                                f"{type(item).__name__} at pos {place}")

    def forward(self, input):
        """Return the input with an axis split."""
        return input.unflatten(self.dim, self.unflattened_size)
