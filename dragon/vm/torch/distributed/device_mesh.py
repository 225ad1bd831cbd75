"""Meshes of processes: an array of ranks, and along each axis the group of those that differ in their place there."""
import math

from dragon.core import warnings
from dragon.core.thread_state import ThreadStack
from dragon.distributed.globals.mesh import Mesh
from dragon.vm.torch.core.device import device_count
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import as_tensor
from dragon.vm.torch.distributed._mesh_layout import Grid
from dragon.vm.torch.distributed.groups import _pg_map
from dragon.vm.torch.distributed.making import (_get_default_group, _rank_not_in_group, get_process_group_ranks,
                                                get_rank, get_world_size, init_process_group, is_initialized,
                                                new_group)

MOST = 1 << 20  # processes, where nobody has said yet how many there are
_stack = ThreadStack()  # meshes whose `with` blocks are open, the innermost last


class _MeshEnv:
    """Which mesh is meant where none is named."""

    mesh_stack = property(lambda self: _stack.items, doc="List[DeviceMesh]: those of this thread's `with` blocks.")

    @staticmethod
    def get_current_mesh():
        """Return the mesh of the innermost `with` block."""
        if not _stack:
            raise RuntimeError("No device mesh is currently active!")
        return _stack.top


_mesh_resources = _MeshEnv()


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
        The backend and its options for each axis; processes that share memory need none.

    """

    def __init__(self, device_type, mesh=None, *, mesh_dim_names=None, backend_override=None, _init_backend=True,
                 _rank=None, _root=None, _grid=None, _groups=None):
        if mesh is None and _grid is None:
            raise TypeError("The mesh argument is required except for PRIVATE USAGE ONLY!")
        self.device_type, self._root_mesh, self._flat = device_type, _root, {}
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None
        if _grid is None:
            mesh = as_tensor(mesh).detach().to(OBJECTS["int32"])
            self._ranks, self._grid = mesh.flatten().tolist(), Grid.of_shape(tuple(mesh.shape))
        else:
            self._ranks, self._grid = _root._ranks, _grid
        if backend_override is not None and len(backend_override) != self.ndim:
            raise ValueError("backend_override should have the same length as the number of mesh dimensions, but got "
                             f"{len(backend_override)} and {self.ndim}.")
        if _init_backend and not is_initialized():
            init_process_group()
        if _init_backend and self.size() > get_world_size():
            raise RuntimeError(f"Mesh should not be bigger than default world size {get_world_size()}, but found "
                               f"{self.size()} ranks!")
        self._rank = get_rank() if _rank is None and is_initialized() else _rank or 0
        copies = [[self._ranks[start + place] for place in self._grid.places()]
                  for start in self._grid.copies(len(self._ranks))]
        self._own = next((copy for copy in copies if self._rank in copy), copies[0] if len(copies) == 1 else None)
        self._coordinate = None
        if self._own is not None and self._rank in self._own:
            if self._own.count(self._rank) > 1:
                raise AssertionError(f"DeviceMesh: got rank {self._rank} {self._own.count(self._rank)} times, expected "
                                     "it once")
            place, found = self._own.index(self._rank), []
            for size in reversed(self.shape):
                place, rest = divmod(place, size)
                found.append(rest)
            self._coordinate = tuple(reversed(found))
        self._groups = list(_groups) if _groups is not None else self._make_groups() if _init_backend else []
        self._core = self._hash = None

    def _make_groups(self):
        """Make the group of each axis; all processes make all groups, in one order."""
        found = []
        for axis in range(self.ndim):
            name = self.mesh_dim_names[axis] if self.mesh_dim_names else f"dim_{axis}"
            steps, mine = self._grid.offsets(axis), None
            if len(steps) == get_world_size():
                found.append(_get_default_group())
                continue
            for start in Grid([self._grid.axes[axis]]).copies(len(self._ranks)):
                group = new_group([self._ranks[start + step] for step in steps], group_desc=f"mesh_{name}",
                                  sort_ranks=False)
                mine = mine if _rank_not_in_group(group) else group
            if mine is not None:
                found.append(mine)
        return found

    shape = property(lambda self: self._grid.shape, doc="tuple: how many processes there are along each axis.")
    ndim = property(lambda self: len(self._grid.axes), doc="int: the number of axes.")

    @property
    def mesh(self):
        """Tensor: the ranks."""
        if self._own is None:
            raise RuntimeError("In order to get the mesh Tensor of a DeviceMesh it needs to either have all its "
                               "original dimensions (e.g., no slicing) or it needs to contain the local rank")
        return as_tensor(self._own, dtype=OBJECTS["int32"]).reshape(self.shape)

    @property
    def _globals(self):
        """The mesh as global tensors know it."""
        if self._core is None:
            self._core = Mesh(self.shape, self._coordinate, [group._core for group in self._groups])
        return self._core

    @property
    def _place(self):
        """The name of the device of this process's parts: the host's where there is none of the mesh's kind."""
        return self.device_type if self.device_type == "cpu" or device_count(self.device_type) else "cpu"

    def size(self, mesh_dim=None):
        """Return how many processes there are along an axis, or in all."""
        return math.prod(self.shape) if mesh_dim is None else self.shape[mesh_dim]

    def _get_root_mesh(self):
        return self if self._root_mesh is None else self._root_mesh

    def _get_mesh_dim_by_name(self, mesh_dim_name):
        if mesh_dim_name not in (self.mesh_dim_names or ()):
            raise KeyError(f"Mesh dimension '{mesh_dim_name}' does not exist. Available mesh dimensions are: "
                           f"mesh_dim_names={self.mesh_dim_names}")
        return self.mesh_dim_names.index(mesh_dim_name)

    def get_group(self, mesh_dim=None):
        """Return the group of the processes along an axis."""
        if mesh_dim is None:
            if self.ndim > 1:
                raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions: Optional kwarg `mesh_dim` needs "
                                   "to be specified when device_mesh.ndim > 1. If you want to get the list of all the "
                                   "ProcessGroups in the DeviceMesh, please use `get_all_groups()` instead.")
            mesh_dim = 0
        flat = self._get_root_mesh()._flat
        if mesh_dim in flat:
            return flat[mesh_dim].get_group()
        axis = self._get_mesh_dim_by_name(mesh_dim) if isinstance(mesh_dim, str) else mesh_dim
        if not self._groups:
            raise RuntimeError("DeviceMesh process groups not initialized! Expected a mesh with this process in it")
        return self._groups[axis]

    def get_all_groups(self):
        """Return the group of each axis."""
        return [self.get_group(axis) for axis in range(self.ndim)]

    def get_rank(self):
        """Return this process's rank in the world."""
        return get_rank()

    def get_local_rank(self, mesh_dim=None):
        """Return this process's rank along an axis."""
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions: Optional kwarg `mesh_dim` needs to "
                               "be specified when device_mesh.ndim > 1.")
        return get_rank(self.get_group(0 if mesh_dim is None else mesh_dim))

    def get_coordinate(self):
        """Return this process's place in the mesh; None if it is not there."""
        return self._coordinate

    def _is_current_rank_part_of_mesh(self):
        return self._coordinate is not None

    @staticmethod
    def from_group(group, device_type, mesh=None, *, mesh_dim_names=None):
        """Return a mesh with groups that there are: one, or one for each axis of `mesh`."""
        if not isinstance(group, (list, tuple)):
            ranks = get_process_group_ranks(group)
            if mesh is not None and as_tensor(mesh).tolist() != ranks:
                raise ValueError(f"Invalid mesh {mesh} for ProcessGroup with ranks {ranks}")
            return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names, _groups=[group])
        groups = list(group)
        if not groups:
            raise ValueError("Expects at least one ProcessGroup to be passed")
        if mesh is None:
            raise ValueError("Must pass mesh if passing multiple ProcessGroups")
        if mesh_dim_names is None:
            raise ValueError("Must pass mesh_dim_names if passing multiple ProcessGroups")
        mesh = as_tensor(mesh)
        if mesh.ndim != len(groups):
            raise ValueError("Expects mesh with ndim equal to number of ProcessGroups but got mesh "
                             f"{mesh.tolist()} and {len(groups)} ProcessGroups")
        return DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names, _groups=groups)

    def _part(self, axes, names, groups=None):
        """Return a mesh of other axes upon the ranks of the root."""
        return DeviceMesh(self.device_type, mesh_dim_names=names, _root=self._get_root_mesh(), _grid=Grid(axes),
                          _groups=groups)

    def __getitem__(self, mesh_dim_names):
        """Return the mesh of some axes, by their names."""
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if names == self.mesh_dim_names:
            return self
        flat = self._flat if self._root_mesh is None else {}
        known = [*self.mesh_dim_names, *flat]
        if not names or any(name not in known for name in names):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are {known}.")
        axes, groups = [], []
        for name in names:
            if name in self.mesh_dim_names:
                place = self.mesh_dim_names.index(name)
                axes.append(self._grid.axes[place])
                groups.extend(self._groups[place:place + 1])
            else:
                warnings.warn("Slicing a flattened dim from root mesh will be deprecated in PT 2.11. Users need to "
                              "bookkeep the flattened mesh directly. ")
                axes.append(flat[name]._grid.axes[0])
                groups.extend(flat[name]._groups)
        steps = [stride for axis in axes for size, stride in axis if size > 1]
        if len(set(steps)) != len(steps):
            raise RuntimeError(f"Slicing overlapping dim_names {names} is not allowed.")
        if steps != sorted(steps, reverse=True):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Mesh dim indices should be in ascending order.")
        return self._part(axes, names, groups)

    def _flatten(self, mesh_dim_name=None, backend_override=None):
        """Return the mesh with all axes made one, which the root knows by its name from then on."""
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot flatten a DeviceMesh without mesh_dim_names!")
        name, root = mesh_dim_name or "_".join(self.mesh_dim_names), self._get_root_mesh()
        if self.ndim == 1 and name in self.mesh_dim_names:
            return self
        if name in (root.mesh_dim_names or ()):
            raise ValueError(f"{name} already exists for submesh of the {root}. The mesh_dim_names of submesh and "
                             f"flattened mesh are {root.mesh_dim_names}. Please specify another valid mesh_dim_name.")
        axes = [Grid.joined(self._grid.axes)]
        if name in root._flat:
            if root._flat[name]._grid.axes != tuple(axes):
                raise ValueError(f"Flatten mesh with mesh_dim_name {name} has been created before, Please specify "
                                 "another valid mesh_dim_name.")
            return root._flat[name]
        made = root._flat[name] = self._part(axes, (name,))
        return made

    def _unflatten(self, dim, mesh_sizes, mesh_dim_names, backend_override=None):
        """Return the mesh with an axis made several."""
        axis = self._get_mesh_dim_by_name(dim) if isinstance(dim, str) else dim
        sizes, names = tuple(mesh_sizes), tuple(mesh_dim_names)
        if len(sizes) != len(names):
            raise RuntimeError("mesh_dim_names must have same length as mesh_sizes in _unflatten!")
        pairs = self._grid.axes[axis]
        if math.prod(sizes) != self.shape[axis] or len(pairs) > 1:
            raise ValueError(f"The product of {mesh_sizes=} is {math.prod(sizes)}, but the original dimension at "
                             f"dim={axis} has size {self.shape[axis]}. These must be equal for unflatten to work "
                             "correctly.")
        made = [((size, pairs[0][1] * math.prod(sizes[place + 1:])),) for place, size in enumerate(sizes)]
        parts, groups = self._part(made, names)._groups, self._groups
        before = self.mesh_dim_names or tuple(f"dim_{place}" for place in range(self.ndim))
        return self._part((*self._grid.axes[:axis], *made, *self._grid.axes[axis + 1:]),
                          (*before[:axis], *names, *before[axis + 1:]),
                          [*groups[:axis], *parts, *groups[axis + 1:]])

    @staticmethod
    def _concatenate(device_mesh_list):
        """Return the mesh of the axes of several, which are parts of one root."""
        roots = {id(mesh._get_root_mesh()) for mesh in device_mesh_list}
        if len(roots) != 1:
            raise RuntimeError("Cannot concatenate DeviceMeshes derived from different device meshs")
        axes = [axis for mesh in device_mesh_list for axis in mesh._grid.axes]
        names = [name for mesh in device_mesh_list for name in mesh.mesh_dim_names or ()]
        groups = [group for mesh in device_mesh_list for group in mesh._groups]
        return device_mesh_list[0]._part(axes, names, groups)

    def _get_all_submeshes(self, mesh_dim_name):
        """Return the meshes of all processes along an axis."""
        axis = self._get_mesh_dim_by_name(mesh_dim_name)
        steps = self._grid.offsets(axis)
        made = []
        for start in Grid([self._grid.axes[axis]]).copies(len(self._ranks)):
            ranks = [self._ranks[start + step] for step in steps]
            made.append(DeviceMesh(self.device_type, ranks, mesh_dim_names=(mesh_dim_name,), _init_backend=False,
                                   _groups=self._groups[axis:axis + 1] if self._rank in ranks else []))
        return made

    def _key(self):
        return self.device_type, tuple(self._ranks), self._grid.axes, self.mesh_dim_names

    def __eq__(self, other):
        return self is other or isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self):
        if self._hash is None:
            self._hash = hash(self._key())
        return self._hash

    def __deepcopy__(self, memo):
        return self  # a mesh does not change, and its groups are the process's own

    def __getstate__(self):
        names = [group.group_name for group in self._groups]
        return {**self.__dict__, "_groups": names, "_core": None, "_hash": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        known = {group.group_name: group for group in _pg_map}
        self._groups = [known[name] for name in state["_groups"] if name in known]

    def __enter__(self):
        _stack.items.append(self)
        return self

    def __exit__(self, *_):
        _stack.items.pop()
        return False

    def __repr__(self):
        sizes = ", ".join(f"{name}={size}" for name, size in zip(self.mesh_dim_names, self.shape)) \
            if self.mesh_dim_names else ", ".join(map(str, self.shape)) + ("," if self.ndim == 1 else "")
        steps = tuple(axis[0][1] if len(axis) == 1 else tuple(stride for _, stride in axis)
                      for axis in self._grid.axes)
        return f"DeviceMesh(({sizes}), '{self.device_type}', stride={steps})"


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    """Return a mesh of all processes, in the order of their ranks.

    Parameters
    ----------
    device_type : str
        The devices that processes work on, "cpu" or "cuda".
    mesh_shape : Sequence[int]
        How many processes there are along each axis.
    mesh_dim_names : Sequence[str], optional
        The names of the axes.
    backend_override : dict, optional
        The backend and its options for an axis, by its number or its name; processes that share memory need none.

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
    known = {*range(len(mesh_shape)), *(mesh_dim_names or ())}
    unknown = [key for key in backend_override or () if key not in known]
    if unknown:
        raise RuntimeError(f"Found invalid keys in backend_override: got {unknown}, expected integers in range "
                           f"[0, {len(mesh_shape)}) or one of {mesh_dim_names}")
    if not device_type.isalpha():
        raise RuntimeError(f"Device type with index is not supported but got {device_type}. If you maintained a "
                           "'torch.device' object, it's recommended to pass in 'device.type'.")
    if min(mesh_shape, default=1) < 1:
        raise RuntimeError(f"init_device_mesh: got mesh_shape {tuple(mesh_shape)}, expected at least one process along "
                           "each axis")
    most = get_world_size() if is_initialized() else MOST
    if math.prod(mesh_shape) > most:
        raise RuntimeError(f"Mesh should not be bigger than default world size {most}, but found "
                           f"{math.prod(mesh_shape)} ranks!")
    ranks = as_tensor(list(range(math.prod(mesh_shape))), dtype=OBJECTS["int32"]).reshape(tuple(mesh_shape))
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)
