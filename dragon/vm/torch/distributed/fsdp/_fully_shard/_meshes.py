"""Parameters that lie on a mesh before they are fully sharded: the mesh of both, and how they lie there."""
from dragon.distributed.globals.layout import deal
from dragon.distributed.globals.signatures import is_partial, is_split
from dragon.vm.torch.distributed.device_mesh import DeviceMesh
from dragon.vm.torch.distributed.tensor._dtensor_spec import DTensorSpec
from dragon.vm.torch.distributed.tensor.placement_types import Shard, _StridedShard

_joined = {}  # {(the outer mesh, the inner one): the mesh of both}: one object for all parameters


def join_meshes(outer, inner):
    """Return the mesh whose axes are those of two, which are parts of one mesh."""
    found = _joined.get((outer, inner))
    if found is not None and found._groups[:outer.ndim] == outer._groups:  # groups may have been made anew
        return found
    if outer._get_root_mesh() != inner._get_root_mesh():
        raise RuntimeError(f"fully_shard: got the mesh {outer} and parameters on {inner}, expected parts of one mesh, "
                           'as mesh["data"] and mesh["tensor"]: Cannot concatenate DeviceMeshes derived from different '
                           "device meshs")
    steps = [step for mesh in (outer, inner) for axis in mesh._grid.axes for size, step in axis if size > 1]
    if len(set(steps)) < len(steps):
        raise RuntimeError(f"fully_shard: got the mesh {outer} and parameters on {inner}, expected meshes without an "
                           "axis in common")
    root = outer._get_root_mesh()
    found = DeviceMesh._concatenate([outer, inner])
    _joined[outer, inner] = found = root if root == found else found
    return found


def join_specs(who, spec, mesh, placements):
    """Return how a tensor lies that is cut again, over the processes of another mesh.

    Parameters
    ----------
    who : str
        The parameter's name.
    spec : DTensorSpec
        How it lies.
    mesh : DeviceMesh
        The processes over which each part is spread.
    placements : Tuple[Placement, ...]
        How they are.

    Returns
    -------
    DTensorSpec
        How it lies then, on the mesh of both.

    """
    if any(map(is_partial, spec.signatures)):
        raise ValueError(f"fully_shard: got {who!r} of {spec}, expected a parameter without sums that remain to be "
                         "done")
    outer = []
    for placement in placements:
        pieces = 1
        for signature, parts in zip(spec.signatures, spec.mesh.shape):
            pieces *= parts if placement.is_shard() and is_split(signature, placement.dim) else 1
        outer.append(placement if pieces == 1 else _StridedShard(placement.dim, split_factor=pieces))
    found = DTensorSpec(join_meshes(mesh, spec.mesh), [*outer, *spec.placements], spec.tensor_meta)
    cut = next(placement for placement in placements if isinstance(placement, Shard)).dim
    if spec.shape[cut] % found.num_shards:
        _check_places(who, spec, mesh, placements, cut, found)
    return found


def _check_places(who, spec, mesh, placements, cut, found):
    """Refuse a tensor of which some process has other places than the mesh of both would say."""
    signature, parts = placements[-1].signature, mesh.shape[-1]
    for coordinate in _places(found.mesh.shape):
        whole = list(spec.layout.ranges(cut, coordinate[mesh.ndim:]))
        if tuple(deal(whole, signature, parts, coordinate[mesh.ndim - 1])) != found.layout.ranges(cut, coordinate):
            raise NotImplementedError(f"fully_shard: got {who!r} of shape {tuple(spec.shape)} as {spec}, cut along "
                                      f"axis {cut} again into {parts}, expected a length that gives processes the "
                                      f"places that the mesh of both says: a multiple of {found.num_shards} does")


def _places(shape):
    """Yield all places of an array."""
    if not shape:
        yield ()
        return
    for first in range(shape[0]):
        for rest in _places(shape[1:]):
            yield (first, *rest)
