"""Where parts of tensors lie."""
from dragon.distributed.globals.layout import Layout
from dragon.vm.torch.core.size import Size


def compute_local_shape_and_global_offset(global_shape, mesh, placements):
    """Return the shape of this process's part of a tensor, and where in the whole it begins.

    Parameters
    ----------
    global_shape : Sequence[int]
        The shape of the whole.
    mesh : DeviceMesh
        The mesh.
    placements : Sequence[Placement]
        How the tensor lies on it.

    Returns
    -------
    Tuple[Tuple[int, ...], Tuple[int, ...]]
        The shape, and for each axis the first place; both empty outside of the mesh.

    """
    if not mesh._is_current_rank_part_of_mesh():
        return (0,), ()
    layout = Layout(mesh._globals, tuple(global_shape), [placement.signature for placement in placements])
    return layout.local_shape(), layout.offsets()


def normalize_to_torch_size(size):
    """Return a size that was given as numbers, or as one sequence of them."""
    if len(size) == 1 and isinstance(size[0], (list, tuple)):
        size = size[0]
    return Size([int(each) for each in size])
