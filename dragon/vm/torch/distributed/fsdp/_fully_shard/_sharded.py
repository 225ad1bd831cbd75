"""One parameter: a tensor on a mesh between passes, and a plain whole one within them."""
from dragon.core import modes
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.fsdp._fully_shard._meshes import join_specs
from dragon.vm.torch.distributed.tensor import DTensor, Shard, distribute_tensor
from dragon.vm.torch.distributed.tensor._dtensor_spec import DTensorSpec
from dragon.vm.torch.nn.parameter import Parameter

_OWN = ("_local_tensor", "_spec", "_is_param")  # what makes a tensor one on a mesh, and a parameter


class ShardedParameter:
    """A parameter of one module or of several that share it.

    One that lies on a mesh already, as tensor parallelism has it, is spread in its process's part. It lies on the mesh
    of both between passes, and on its own within them.

    Parameters
    ----------
    param : Parameter
        The parameter as it was.
    places : List[Tuple[Module, str]]
        The modules that have it, and their names of it.
    name : str
        Its name in the wrapped module.
    mesh : DeviceMesh
        The processes.
    placements : Sequence[Placement]
        How it is cut there; one of them is a `Shard`.
    dtype : dtype, optional
        What is computed in; by default its own.

    """

    def __init__(self, param, places, name, mesh, placements, dtype=None):
        self.places, self.name = places, name
        self.axis = next(each.dim for each in placements if isinstance(each, Shard)) % param.dim()
        self.count = mesh.size(mesh.ndim - 1)
        self._asked = dtype
        self._inner = param._spec if isinstance(param, DTensor) else None  # how the whole lies, if on a mesh
        local = param.detach() if self._inner is None else param._local_tensor.detach()
        part = distribute_tensor(local, mesh, placements, src_data_rank=None)
        if self._inner is not None:
            part = DTensor(part._local_tensor, join_specs(name, self._inner, mesh, placements))
        self.sharded = Parameter(part, param.requires_grad)
        self._copy_attributes(param, self.sharded)
        self.spec = self.sharded._spec
        # In each part the axis that is cut comes first, and has as many rows as the largest part.
        self.shape = tuple(local.shape)
        self._moved = tuple(local.movedim(self.axis, 0).shape)
        self.rows = -(-self._moved[0] // self.count)
        self.size = self.rows * (local.numel() // max(self._moved[0], 1))
        self.is_whole = False
        self._begin_with(param.dtype)
        self.show(self.sharded)

    def _begin_with(self, dtype):
        """Note the dtype of the parts; there is no whole yet."""
        computes = self._asked is not None and dtype.is_floating_point
        self.dtype, self._kept, self.whole, self._memory = self._asked if computes else dtype, dtype, None, None

    @staticmethod
    def _copy_attributes(param, made):
        for key, value in vars(param).items():
            if key not in _OWN and key not in vars(made):
                setattr(made, key, value)

    def show(self, param):
        """Have modules see a parameter."""
        for module, name in self.places:
            module._parameters[name] = param

    def seen(self):
        """Return what modules see; somebody may have given them another one."""
        module, name = self.places[0]
        return module._parameters[name]

    def refresh(self):
        """Take what modules see, if it is a tensor on the mesh, as when a state was loaded into them."""
        seen = self.seen()
        if seen is not self.sharded and seen is not self.whole and isinstance(seen, DTensor):
            self.sharded = seen
        kind = self.sharded.dtype
        if kind != self._kept:  # the module was converted, which gives its parameters other data
            self.sharded._local_tensor = self.sharded._local_tensor.to(kind)
            self.sharded._spec = self._in_dtype(self.sharded._spec, kind)
            self._begin_with(kind)
        self.spec = self.sharded._spec

    @staticmethod
    def _in_dtype(spec, dtype):
        """Return how a tensor of a dtype lies on a mesh."""
        return DTensorSpec(spec.mesh, spec.placements, spec.tensor_meta._replace(dtype=dtype))

    def part(self):
        """Return this process's part, as it is sent."""
        return self._padded(self.sharded._local_tensor.detach().movedim(self.axis, 0).to(self.dtype), self.rows)

    @staticmethod
    def _padded(rows, count):
        """Return rows as one row of numbers, with zeros for those that are missing."""
        missing = count - rows.shape[0]
        if missing:
            rows = ops.cat([rows, ops.zeros((missing, *rows.shape[1:]), dtype=rows.dtype, device=rows.device)], 0)
        return rows.reshape(-1)

    def make_whole(self):
        """Have memory for the whole."""
        if self.whole is None:
            made = ops.zeros(self.shape, dtype=self.dtype, device=self.sharded.device)
            if self._inner is not None:
                made = DTensor(made, self._in_dtype(self._inner, self.dtype))
            self.whole = Parameter(made, self.sharded.requires_grad)
            self._copy_attributes(self.sharded, self.whole)
            self._memory = self.whole.data if self._inner is None else self.whole._local_tensor
            self._bytes = self._memory.numel() * self._memory.element_size()
        else:
            # What was saved for the backward pass looks at this memory.
            self._memory.untyped_storage().resize_(self._bytes)

    def fill(self, parts):
        """Fill the whole with the parts of all processes, a row each."""
        rows = parts.reshape(self.count * self.rows, *self._moved[1:])[:self._moved[0]]
        self._memory.copy_(rows.movedim(0, self.axis))
        self.is_whole = True

    def release(self):
        """Give the whole's memory up."""
        if self.is_whole:
            self._memory.untyped_storage().resize_(0)
            self.is_whole = False

    def take_gradient(self):
        """Take what has come as the whole's gradient, zeros if nothing has, as it lies in this process."""
        gradient, self.whole.grad = self.whole.grad, None
        if gradient is None:
            return ops.zeros(self.shape, dtype=self.dtype, device=self.whole.device)
        gradient = gradient.detach()
        if self._inner is None:
            return gradient
        if gradient.placements != self._inner.placements:
            gradient = gradient.redistribute(placements=self._inner.placements)
        return gradient._local_tensor

    def spread(self, gradient):
        """Return a whole gradient as what is sent: a row for each process."""
        moved, step = gradient.movedim(self.axis, 0), self.rows
        return ops.stack([self._padded(moved[place * step:(place + 1) * step], step) for place in range(self.count)], 0)

    def accumulate(self, row):
        """Add this process's part of a reduced gradient to that of the tensor on the mesh."""
        local = self.sharded._local_tensor
        moved = local.movedim(self.axis, 0)
        part = row.reshape(self.rows, *moved.shape[1:])[:moved.shape[0]].movedim(0, self.axis)
        part = part.to(local.dtype).contiguous()
        with modes.no_grad():
            if self.sharded.grad is None:
                self.sharded.grad = DTensor(part, self.spec)
            else:
                self.sharded.grad._local_tensor.add_(part)
