"""Meshes of processes, for a world of one: an array with one place along each axis, and a group for each axis."""
import math

from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import arange, as_tensor
from dragon.vm.torch.distributed.distributed_c10d import (get_backend, get_rank, get_world_size, init_process_group,
                                                          is_initialized, new_group)


class DeviceMesh:
    """An array of processes, whose axes are ways to share work.

    Parameters
    ----------
    device_type : str
        The devices that processes work on, "cpu" or "cuda".
    mesh : Union[Tensor, Sequence]
        The ranks.
    mesh_dim_names : Sequence[str], optional
        The names of the axes.
    backend_override : Sequence, optional
        The backend and its options for each axis; a process that is alone needs none.

    """

    def __init__(self, device_type, mesh=None, *, mesh_dim_names=None, backend_override=None, _init_backend=True,
                 _groups=None):
        if mesh is None:
            raise TypeError("DeviceMesh: got no mesh, expected an array of ranks")
        if not is_initialized():
            init_process_group("gloo")
        self.device_type = device_type
        self.mesh = as_tensor(mesh).detach().to(OBJECTS["int32"])
        if self.mesh.numel() > get_world_size():
            raise RuntimeError(f"Mesh should not be bigger than default world size {get_world_size()}, but found "
                               f"{self.mesh.numel()} ranks!")
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._groups = [new_group([0]) for _ in self.shape] if _groups is None else list(_groups)

    shape = property(lambda self: tuple(self.mesh.shape), doc="tuple: how many processes there are along each axis.")
    ndim = property(lambda self: self.mesh.ndim, doc="int: the number of axes.")

    def size(self, mesh_dim=None):
        """Return how many processes there are along an axis, or in all."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.size(mesh_dim)

    def _axis(self, mesh_dim, hint=""):
        """Return the number of an axis; the only one for None."""
        if mesh_dim is None:
            if self.ndim > 1:
                raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions: Optional kwarg `mesh_dim` needs "
                                   f"to be specified when device_mesh.ndim > 1.{hint}")
            return 0
        if isinstance(mesh_dim, str):
            if mesh_dim not in (self.mesh_dim_names or ()):
                raise KeyError(f"Mesh dimension '{mesh_dim}' does not exist. Available mesh dimensions are: "
                               f"mesh_dim_names={self.mesh_dim_names}")
            return self.mesh_dim_names.index(mesh_dim)
        return mesh_dim

    def get_group(self, mesh_dim=None):
        """Return the group of the processes along an axis."""
        return self._groups[self._axis(mesh_dim, " get_all_groups() returns the groups of all of them.")]

    def get_all_groups(self):
        """Return the group of each axis."""
        return list(self._groups)

    def get_rank(self):
        """Return this process's rank in the world."""
        return get_rank()

    def get_local_rank(self, mesh_dim=None):
        """Return this process's rank along an axis."""
        return get_rank(self.get_group(mesh_dim))

    def get_coordinate(self):
        """Return this process's place in the mesh; None if it is not there."""
        return (0,) * self.ndim if self.mesh.numel() and int(self.mesh.flatten()[0]) == get_rank() else None

    @staticmethod
    def from_group(group, device_type, mesh=None, *, mesh_dim_names=None):
        """Return a mesh with groups that there are: one, or one for each axis of `mesh`."""
        groups = list(group) if isinstance(group, (list, tuple)) else [group]
        if len(groups) > 1 and mesh is None:
            raise ValueError("Must pass mesh if passing multiple ProcessGroups")
        mesh = as_tensor([0] if mesh is None else mesh)
        if mesh.ndim != len(groups):
            raise ValueError(f"Expected number of groups to match the mesh: got {len(groups)} groups and "
                             f"{mesh.ndim} axes")
        return DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names, _groups=groups)

    def __getitem__(self, mesh_dim_names):
        """Return the mesh of some axes, by their names."""
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if not names or any(name not in self.mesh_dim_names for name in names):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are "
                           f"{list(self.mesh_dim_names)}.")
        axes = [self.mesh_dim_names.index(name) for name in names]
        return DeviceMesh(self.device_type, self.mesh.reshape((1,) * len(names)), mesh_dim_names=names,
                          _groups=[self._groups[axis] for axis in axes])

    def _flatten(self, mesh_dim_name=None):
        """Return the mesh with all axes made one."""
        name = mesh_dim_name or "_".join(self.mesh_dim_names or ("mesh",))
        return DeviceMesh(self.device_type, self.mesh.flatten(), mesh_dim_names=(name,))

    def _key(self):
        return self.device_type, self.shape, tuple(self.mesh.flatten().tolist()), self.mesh_dim_names

    def __eq__(self, other):
        return isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __repr__(self):
        sizes = ", ".join(f"{name}={size}" for name, size in zip(self.mesh_dim_names, self.shape)) \
            if self.mesh_dim_names else ", ".join(map(str, self.shape)) + ("," if self.ndim == 1 else "")
        return f"DeviceMesh(({sizes}), '{self.device_type}', backend='{get_backend()}')"


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    """Return a mesh of all processes, in the order of their ranks.

    Parameters
    ----------
    device_type : str
        The devices that processes work on, "cpu" or "cuda".
    mesh_shape : Sequence[int]
        How many processes there are along each axis; there is one.
    mesh_dim_names : Sequence[str], optional
        The names of the axes.
    backend_override : dict, optional
        The backend and its options for an axis; a process that is alone needs none.

    Returns
    -------
    DeviceMesh
        The mesh.

    """
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError("Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names "
                               f"{mesh_dim_names}")
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError("mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): "
                               f"{len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}.")
    if not device_type.isalpha():
        raise RuntimeError(f"Device type with index is not supported but got {device_type}. If you maintained a "
                           "'torch.device' object, it's recommended to pass in 'device.type'.")
    if min(mesh_shape, default=1) < 1:
        raise RuntimeError(f"init_device_mesh: got mesh_shape {tuple(mesh_shape)}, expected at least one process along "
                           "each axis")
    ranks = arange(math.prod(mesh_shape), dtype=OBJECTS["int32"]).reshape(tuple(mesh_shape))
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names, backend_override=backend_override)
