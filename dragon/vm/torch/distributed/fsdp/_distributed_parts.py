"""Whole parameters, and states of optimizers, as tensors on a mesh of which each process has its part."""
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.distributed.device_mesh import DeviceMesh
from dragon.vm.torch.distributed.tensor import Replicate, Shard, distribute_tensor


def _mesh_of(wrapped):
    """Return the mesh of a wrapped module's processes, the same each time."""
    mesh = wrapped._device_mesh or wrapped.__dict__.get("_made_mesh")
    if mesh is None:
        kind = wrapped.compute_device.type
        mesh = wrapped.__dict__["_made_mesh"] = DeviceMesh.from_group(wrapped.process_group, kind)
    return mesh


def to_part(value, wrapped):
    """Return a whole tensor, of a wrapped module, as one on a mesh, cut along its first axis if it has any.

    Parameters
    ----------
    value : Tensor
        The whole tensor.
    wrapped : FullyShardedDataParallel
        The wrapped module.

    Returns
    -------
    DTensor
        The tensor on the mesh.

    """
    mesh = _mesh_of(wrapped)
    cut = Shard(0) if value.dim() and wrapped._handle.is_sharded else Replicate()
    placements = [Replicate()] * (mesh.ndim - 1) + [cut]
    return distribute_tensor(value.detach().clone(), mesh, placements, src_data_rank=None)


def states_to_parts(state, wrapped):
    """Return an optimizer's state by names with its whole tensors on meshes.

    Parameters
    ----------
    state : Dict[str, Any]
        The state.
    wrapped : Dict[str, FullyShardedDataParallel]
        The wrapped module of each parameter's name.

    Returns
    -------
    Dict[str, Any]
        The state.

    """
    def convert(name, value):
        return to_part(value, wrapped[name]) if name in wrapped and isinstance(value, Tensor) and value.dim() else value
    return {**state, "state": {name: {word: convert(name, value) for word, value in values.items()}
                               for name, values in state["state"].items()}}
