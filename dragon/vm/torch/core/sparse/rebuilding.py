"""What files call to make a sparse tensor anew."""
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.sparse import invariants
from dragon.vm.torch.core.sparse.parts import COMPRESSED, make


def _rebuild_sparse_tensor(layout, data):
    """Return a sparse tensor from a layout and what it is made of: the parts, the size, and whether it is coalesced."""
    name = repr(layout).removeprefix("torch.")
    if type(layout) is not layouts.layout or name not in (*COMPRESSED, "sparse_coo"):
        raise NotImplementedError(f"rebuilding sparse tensor for layout {layout!r}; expected a sparse one")
    if name == "sparse_coo":
        indices, values, size, *coalesced = data
        # A file may have been written by anybody: its indices are looked at before they are used.
        invariants.check_coordinates(indices, values, tuple(size), bool(coalesced and coalesced[0]))
        return make(name, (indices, values), size, bool(coalesced and coalesced[0]))
    starts, places, values, size = data
    invariants.check_compressed(name, starts, places, values, tuple(size))
    return make(name, (starts, places, values), size)


_rebuild_sparse_tensor.__module__ = __name__.replace("core.sparse.rebuilding", "_utils")  # where files look for it
