"""Tensors spread over the processes of a mesh: each holds a part, and operators do what they do with the whole."""
from dragon.distributed.globals.boxing import box
from dragon.distributed.globals.layout import Layout
from dragon.distributed.globals.signatures import BROADCAST
from dragon.vm.torch.autograd.function import Function
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.functions.history import is_grad_enabled
from dragon.vm.torch.core.overrides import _disabled_torch_function_impl
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.distributed.device_mesh import _mesh_resources
from dragon.vm.torch.distributed.tensor import _dispatch
from dragon.vm.torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta, check_placements
from dragon.vm.torch.distributed.tensor.placement_types import Replicate


def _without_partial(placements):
    """Return placements of a gradient: that of what is summed up is the same everywhere."""
    return tuple(Replicate() if placement.is_partial() else placement for placement in placements)


def row_major(shape):
    """Return the strides of a tensor in row-major order."""
    found, step = [], 1
    for size in reversed(shape):
        found.append(step)
        step *= max(size, 1)
    return tuple(reversed(found))


def global_form(local, mesh, placements):
    """Return the shape and strides of a tensor whose parts all have the form of one."""
    shape, stride = list(local.shape), list(local.stride())
    for placement, parts in zip(placements, mesh.shape):
        if placement.is_shard():
            shape[placement.dim] *= parts
            for axis, step in enumerate(local.stride()):
                if axis != placement.dim and step >= local.stride(placement.dim):
                    stride[axis] *= parts
    return tuple(shape), tuple(stride)


def reboxed(local, spec, target):
    """Return a process's part by another spec of the same mesh."""
    return box(ops, local, spec.layout, target.signatures)


class _ToLocal(Function):
    """From a tensor on a mesh to this process's part."""

    @staticmethod
    def forward(ctx, tensor, grad_placements):
        ctx.spec, ctx.grad_placements = tensor._spec, grad_placements
        return tensor._local_tensor.view_as(tensor._local_tensor)

    @staticmethod
    def backward(ctx, grad):
        if grad is None:
            return None, None
        spec = ctx.spec
        placements = _without_partial(spec.placements) if ctx.grad_placements is None else ctx.grad_placements
        meta = TensorMeta(spec.shape, row_major(spec.shape), grad.dtype)
        return DTensor(grad, DTensorSpec(spec.mesh, placements, meta), requires_grad=grad.requires_grad), None


class _FromLocal(Function):
    """From this process's part to a tensor on a mesh."""

    @staticmethod
    def forward(ctx, local, spec, grad_placements):
        ctx.spec, ctx.grad_placements = spec, grad_placements
        return DTensor(local.view_as(local), spec, requires_grad=local.requires_grad)

    @staticmethod
    def backward(ctx, grad):
        if grad is None:
            return None, None, None
        spec = ctx.spec
        placements = _without_partial(spec.placements) if ctx.grad_placements is None else ctx.grad_placements
        return grad.redistribute(spec.mesh, placements).to_local(), None, None


class _Redistribute(Function):
    """From placements to others; the gradient goes back to what it came from."""

    @staticmethod
    def forward(ctx, tensor, mesh, placements, forward_dtype, backward_dtype):
        spec = ctx.spec = tensor._spec
        ctx.dtypes = tensor.dtype, backward_dtype
        local = tensor._local_tensor
        if forward_dtype is not None and forward_dtype != local.dtype:
            local = local.to(forward_dtype)
        target = DTensorSpec(mesh, placements, spec.tensor_meta._replace(dtype=local.dtype))
        made = reboxed(local, spec, target)
        made = made.view_as(made) if made is tensor._local_tensor else made
        return DTensor(made, target, requires_grad=tensor.requires_grad)

    @staticmethod
    def backward(ctx, grad):
        dtype, between = ctx.dtypes
        local, spec = grad._local_tensor, grad._spec
        if local.dtype != (between or dtype):
            local = local.to(between or dtype)
        target = DTensorSpec(ctx.spec.mesh, _without_partial(ctx.spec.placements),
                             spec.tensor_meta._replace(dtype=dtype))
        local = reboxed(local, spec, target)
        return DTensor(local.to(dtype), target, requires_grad=False), None, None, None, None


class DTensor(Tensor):
    """A tensor spread over the processes of a mesh.

    Make one with `distribute_tensor` of a whole tensor, `DTensor.from_local` of parts, or `torch.distributed.tensor`'s
    `zeros`, `ones`, `full`, `empty`, `rand` and `randn`.

    Parameters
    ----------
    local_tensor : Tensor
        The part that this process has.
    spec : DTensorSpec
        How the whole lies.
    requires_grad : bool
        Whether gradients are wanted.

    """

    __torch_function__ = _disabled_torch_function_impl

    @staticmethod
    def __new__(cls, local_tensor, spec, *, requires_grad=False):
        meta = spec.tensor_meta
        made = Tensor._make_wrapper_subclass(cls, tuple(meta.shape), strides=tuple(meta.stride), dtype=meta.dtype,
                                             device=local_tensor.device, layout=local_tensor.layout,
                                             requires_grad=requires_grad)
        made._local_tensor = local_tensor.detach() if local_tensor.requires_grad else local_tensor
        made._spec = spec
        return made

    def __init__(self, *args, **kwargs):
        super().__init__()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _dispatch.dispatch(cls, func, args, kwargs or {})

    def __repr__(self, *, tensor_contents=None):
        return f"DTensor(local_tensor={self._local_tensor}, device_mesh={self._spec.mesh}, placements=" \
               f"{self._spec.placements})"

    def __tensor_flatten__(self):
        return ["_local_tensor"], (self._spec, self.requires_grad)

    @staticmethod
    def __tensor_unflatten__(inner_tensors, flatten_spec, outer_size, outer_stride):
        spec, requires_grad = flatten_spec
        local = inner_tensors["_local_tensor"]
        meta = TensorMeta(tuple(outer_size), tuple(outer_stride), local.dtype)
        return DTensor(local, DTensorSpec(spec.mesh, spec.placements, meta), requires_grad=requires_grad)

    @staticmethod
    def from_local(local_tensor, device_mesh=None, placements=None, *, run_check=False, shape=None, stride=None,
                   grad_placements=None):
        """Return a tensor of which each process gives its part; gradients flow back to the parts.

        Parameters
        ----------
        local_tensor : Tensor
            This process's part.
        device_mesh : DeviceMesh, optional
            The mesh; that of the `with` block around without it.
        placements : Sequence[Placement], optional
            How the parts make the whole; all have all of it by default.
        run_check : bool, optional, default=False
            Whether forms are compared, and what is to be the same everywhere is taken from the first process.
        shape : Sequence[int], optional
            The shape of the whole, where the parts differ in size; with `stride`.
        stride : Sequence[int], optional
            The strides of the whole.
        grad_placements : Sequence[Placement], optional
            How the gradient shall lie that goes back to the parts; as these, by default.

        Returns
        -------
        DTensor
            The tensor.

        """
        if isinstance(local_tensor, DTensor):
            raise RuntimeError("the local_tensor argument only accepts torch.Tensor but got "
                               f"{type(local_tensor)} value.")
        if not isinstance(local_tensor, Tensor):
            raise TypeError(f"from_local: got {type(local_tensor).__name__}, expected a Tensor: the part that this "
                            "process has")
        mesh = device_mesh or _mesh_resources.get_current_mesh()
        placements = [Replicate()] * mesh.ndim if placements is None else placements
        placements = check_placements("from_local", placements, mesh, local_tensor.ndim)
        if bool(shape) != bool(stride):
            raise RuntimeError(f"Found shape:{shape}, stride:{stride}. Please pass both shape and stride at the same "
                               "time.")
        if not shape:
            shape, stride = global_form(local_tensor, mesh, placements)
        spec = DTensorSpec(mesh, placements, TensorMeta(tuple(shape), tuple(stride), local_tensor.dtype))
        if not mesh._is_current_rank_part_of_mesh():
            local_tensor = local_tensor.new_empty(0, requires_grad=local_tensor.requires_grad)
        elif run_check:
            local_tensor = _checked(local_tensor, spec)
        if grad_placements is not None:
            grad_placements = check_placements("from_local", grad_placements, mesh, local_tensor.ndim)
        return _FromLocal.apply(local_tensor, spec, grad_placements)

    def to_local(self, *, grad_placements=None):
        """Return this process's part; gradients flow back.

        Parameters
        ----------
        grad_placements : Sequence[Placement], optional
            How the gradient of the part lies; as the tensor, by default, and where it is partial, the same everywhere.

        Returns
        -------
        Tensor
            The part.

        """
        if grad_placements is not None:
            grad_placements = check_placements("to_local", grad_placements, self._spec.mesh, self.ndim)
        local = self._local_tensor
        found = _ToLocal.apply(self, grad_placements) if is_grad_enabled() else local
        if getattr(self, "_is_param", False) and not getattr(found, "_is_param", False):
            found = found.view_as(found) if found is local else found
            found._is_param = True
        return found

    def redistribute(self, device_mesh=None, placements=None, *, async_op=False, forward_dtype=None,
                     backward_dtype=None):
        """Return the tensor by other placements; gradients flow back to these.

        Parameters
        ----------
        device_mesh : DeviceMesh, optional
            Its mesh; others are refused.
        placements : Sequence[Placement]
            The other placements.
        async_op : bool, optional, default=False
            Accepted: what is returned is always there.
        forward_dtype : dtype, optional
            The dtype in which numbers are sent, and of the result.
        backward_dtype : dtype, optional
            The dtype in which gradients are sent.

        Returns
        -------
        DTensor
            The tensor.

        """
        mesh = device_mesh or self._spec.mesh
        if mesh != self._spec.mesh:
            raise NotImplementedError(f"redistribute: got the mesh {mesh} for a tensor on {self._spec.mesh}, expected "
                                      "its own")
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        placements = check_placements("redistribute", placements, mesh, self.ndim)
        for now, then in zip(self._spec.placements, placements):
            if then.is_partial() and now != then:
                raise RuntimeError(f"Can not redistribute from {now} to {then}, redistributing to Partial is for "
                                   "internal use only!")
        return _Redistribute.apply(self, mesh, placements, forward_dtype, backward_dtype)

    def full_tensor(self, *, grad_placements=None):
        """Return the whole tensor, on each process; gradients flow back.

        Parameters
        ----------
        grad_placements : Sequence[Placement], optional
            How the gradient of the whole lies; the same everywhere by default.

        Returns
        -------
        Tensor
            The whole tensor.

        """
        whole = self.redistribute(placements=[Replicate()] * self._spec.mesh.ndim)
        return _ToLocal.apply(whole, None if grad_placements is None else tuple(grad_placements))

    device_mesh = property(lambda self: self._spec.mesh, doc="DeviceMesh: the mesh.")
    placements = property(lambda self: self._spec.placements, doc="tuple: the placement on each axis of the mesh.")


def _checked(local, spec):
    """Return a part, after its form was compared with that of the others; copies are the first process's."""
    mesh = spec.mesh
    for axis, placement in enumerate(spec.placements):
        if placement.is_shard():
            continue  # parts may differ in size
        if placement.is_replicate():
            local = mesh._globals.run(axis, lambda group: ops.broadcast_from(local.contiguous(), group, 0))
    return local


def whole_signatures(mesh):
    """Return the signatures of a tensor that all processes have."""
    return (BROADCAST,) * mesh.ndim


def distribute_tensor(tensor, device_mesh=None, placements=None, *, src_data_rank=0):
    """Return a tensor on a mesh, of one that is whole.

    Parameters
    ----------
    tensor : Tensor
        The whole tensor, a leaf.
    device_mesh : DeviceMesh, optional
        The mesh; that of the `with` block around without it.
    placements : Sequence[Placement], optional
        How it shall lie; all have all of it by default.
    src_data_rank : int, optional, default=0
        Whose tensor it is, by its number along each axis of the mesh; None takes of each process's own.

    Returns
    -------
    DTensor
        The tensor.

    """
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    if not tensor.is_leaf:
        raise RuntimeError("`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf tensor!")
    placements = [Replicate()] * mesh.ndim if placements is None else placements
    placements = check_placements("distribute_tensor", placements, mesh, tensor.ndim)
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh:
            raise ValueError(f"Cannot distribute a DTensor with device mesh {tensor.device_mesh} to a different device "
                             f"mesh {mesh}.")
        if tensor.placements != placements:
            raise ValueError(f"Cannot distribute a DTensor with placements {tensor.placements} to a different "
                             f"placements {list(placements)}. do you want to call `redistribute` instead?")
        return tensor
    local = tensor.detach()
    if not local.is_meta and local.device.type != as_device(mesh._place).type:
        local = local.to(mesh._place)
    spec = DTensorSpec(mesh, placements, TensorMeta(tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype))
    if not mesh._is_current_rank_part_of_mesh():
        local = local.new_empty(0)
    elif not local.is_meta:
        # All have the numbers of the first ones along each axis, and keep their parts: what they would be sent.
        if src_data_rank is not None:
            for axis in range(mesh.ndim):
                local = mesh._globals.run(
                    axis, lambda group: ops.broadcast_from(local.contiguous(), group, src_data_rank))
        whole = Layout(mesh._globals, spec.shape, whole_signatures(mesh))
        local = box(ops, local, whole, spec.signatures)
        local = local.clone() if local.data_ptr() == tensor.data_ptr() else local
    else:
        local = tensor.new_empty(spec.layout.local_shape())
    return DTensor(local, spec, requires_grad=tensor.requires_grad)
