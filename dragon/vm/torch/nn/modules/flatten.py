"""Layers that merge axes or split one."""
from dragon.vm.torch.nn.modules._applied import Applied


class Flatten(Applied, takes="start_dim=1, end_dim=-1"):
    """Merge the axes from one to another.

    Parameters
    ----------
    start_dim, end_dim : int, optional, default=1, -1
        The first and the last of them.

    Examples
    --------
    >>> nn.Flatten()(torch.zeros(8, 3, 4, 4)).shape
    torch.Size([8, 48])

    """

    def forward(self, input):
        """Return the input with axes merged."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Applied, takes="dim, unflattened_size"):
    """Split an axis into several.

    Parameters
    ----------
    dim : int
        Which one.
    unflattened_size : Sequence[int]
        Their sizes.

    """

    def _settle(self):
        if not isinstance(self.dim, int):
            raise TypeError(f"Unflatten: got dim {self.dim!r}, expected an int: Dragon has no named tensors")
        self._require_tuple_int(self.unflattened_size)

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
