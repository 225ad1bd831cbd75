"""Fake tensors: shapes and dtypes without numbers, kept as the values of nodes, with symbolic sizes."""
from dragon import _C
from dragon.core import modes
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor


class FakeTensor(Tensor):
    """A tensor without numbers, whose sizes may be symbols."""

    @classmethod
    def like(cls, tensor, sizes):
        """Return one with the dtype and device of a tensor, of these sizes.

        Parameters
        ----------
        tensor : Tensor
            The tensor.
        sizes : Sequence[Union[int, SymInt]]
            The sizes.

        Returns
        -------
        FakeTensor
            The tensor.

        """
        with ExitStack() as exits:
            exits.switch(modes.set_phantom, True)
            exits.switch(modes.set_recording, False)
            plain = _C.phantom_like(tensor.detach(), tuple(map(int, sizes)))
            made = plain.as_subclass(cls)
        made.sizes = tuple(sizes)
        return made

    @property
    def shape(self):
        """Size: the sizes, symbols among them."""
        return tuple.__new__(Size, self.__dict__.get("sizes", ()))

    def size(self, dim=None):
        """Return the sizes, or one of them."""
        return self.shape if dim is None else self.shape[dim]

    def __repr__(self):
        return f"FakeTensor(..., size=({', '.join(map(str, self.shape))}{',' * (self.ndim == 1)}), dtype={self.dtype})"

    def __deepcopy__(self, memo):
        made = FakeTensor.like(self, self.__dict__["sizes"])
        made.__dict__.update(self.__dict__)
        return made

    def __reduce_ex__(self, protocol):
        return _rebuild, (tuple(map(int, self.shape)), self.dtype)


def _rebuild(shape, dtype):
    from dragon.vm import torch
    return FakeTensor.like(torch.empty((), dtype=dtype), shape)
