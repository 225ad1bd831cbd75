"""Tensors on a mesh that are made of nothing, and modules whose tensors are put on one."""
import inspect

from dragon.core import warnings
from dragon.vm.torch.core.functions.creation import default_dtype
from dragon.vm.torch.core.layout import strided
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.device_mesh import _mesh_resources
from dragon.vm.torch.distributed.tensor._api import DTensor, distribute_tensor, row_major
from dragon.vm.torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta, check_placements
from dragon.vm.torch.distributed.tensor._ops.creation import kept_part
from dragon.vm.torch.distributed.tensor._utils import normalize_to_torch_size
from dragon.vm.torch.distributed.tensor.placement_types import Replicate
from dragon.vm.torch.nn.parameter import Parameter


def _make(who, make, size, dtype, layout, requires_grad, device_mesh, placements, is_drawn=False):
    """Make a tensor's parts: `make` is given a shape, and the dtype and device by name."""
    if layout is not strided:
        raise AssertionError(f"{who}: got layout={layout!r}, expected torch.strided")
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    size, dtype = normalize_to_torch_size(size), dtype or default_dtype()
    placements = [Replicate()] * mesh.ndim if placements is None else placements
    placements = check_placements(who, placements, mesh, len(size))
    if any(placement.is_partial() for placement in placements):
        raise RuntimeError(f"{who}: got {placements}, expected Shard or Replicate")
    spec = DTensorSpec(mesh, placements, TensorMeta(tuple(size), row_major(size), dtype))
    if not mesh._is_current_rank_part_of_mesh():
        local = ops.empty((0,), dtype=dtype, device=mesh._place)
    elif is_drawn:  # each draws the whole, so that the numbers do not depend on how it is cut
        local = kept_part(mesh, make(tuple(size), {"dtype": dtype, "device": mesh._place}), spec.signatures)
    else:
        local = make(spec.layout.local_shape(), {"dtype": dtype, "device": mesh._place})
    return DTensor(local, spec, requires_grad=requires_grad)


def zeros(*size, requires_grad=False, dtype=None, layout=strided, device_mesh=None, placements=None):
    """Return zeros on a mesh."""
    return _make("zeros", lambda shape, kind: ops.zeros(shape, **kind), size, dtype, layout, requires_grad,
                 device_mesh, placements)


def ones(*size, dtype=None, layout=strided, requires_grad=False, device_mesh=None, placements=None):
    """Return ones on a mesh."""
    return _make("ones", lambda shape, kind: ops.ones(shape, **kind), size, dtype, layout, requires_grad,
                 device_mesh, placements)


def empty(*size, dtype=None, layout=strided, requires_grad=False, device_mesh=None, placements=None):
    """Return a tensor on a mesh whose numbers are whatever was in memory."""
    return _make("empty", lambda shape, kind: ops.empty(shape, **kind), size, dtype, layout, requires_grad,
                 device_mesh, placements)


def full(size, fill_value, *, dtype=None, layout=strided, requires_grad=False, device_mesh=None, placements=None):
    """Return a tensor on a mesh of one number."""
    return _make("full", lambda shape, kind: ops.full(shape, fill_value, **kind), (size,), dtype, layout,
                 requires_grad, device_mesh, placements)


def rand(*size, requires_grad=False, dtype=None, layout=strided, device_mesh=None, placements=None):
    """Return numbers between 0 and 1 on a mesh: those of one process with the same seed."""
    return _make("rand", lambda shape, kind: ops.empty(shape, **kind).uniform_(), size, dtype, layout,
                 requires_grad, device_mesh, placements, True)


def randn(*size, requires_grad=False, dtype=None, layout=strided, device_mesh=None, placements=None):
    """Return normal numbers on a mesh: those of one process with the same seed."""
    return _make("randn", lambda shape, kind: ops.empty(shape, **kind).normal_(), size, dtype, layout,
                 requires_grad, device_mesh, placements, True)


def _replicate(module, mesh):
    """Put those tensors of a module on a mesh that are not there."""
    for name, parameter in module._parameters.items():
        if parameter is not None and not isinstance(parameter, DTensor):
            module.register_parameter(name, Parameter(distribute_tensor(parameter.detach(), mesh),
                                                      requires_grad=parameter.requires_grad))
    for name, buffer in module._buffers.items():
        if buffer is not None and not isinstance(buffer, DTensor):
            module._buffers[name] = distribute_tensor(buffer, mesh)


def _count_arguments(function):
    return len(inspect.signature(function).parameters)


def distribute_module(module, device_mesh=None, partition_fn=None, input_fn=None, output_fn=None):
    """Put the parameters and buffers of a module on a mesh, and have what goes in and comes out looked at.

    Parameters
    ----------
    module : Module
        The module; it is changed.
    device_mesh : DeviceMesh, optional
        The mesh; that of the `with` block around without it.
    partition_fn : Callable, optional
        Called with each submodule's name, the submodule and the mesh; it may put parameters on the mesh. All others
        are the same everywhere.
    input_fn : Callable, optional
        Called with the module, its positional arguments and the mesh; it returns the arguments.
    output_fn : Callable, optional
        Called with the module, its result and the mesh; it returns the result.

    Returns
    -------
    Module
        The module.

    """
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    if getattr(module, "_distribute_module_applied", False):
        raise RuntimeError("distribute_module should only be called once on a module, but it has already been called "
                           "on this module!")
    for name, submodule in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, submodule, mesh)
        _replicate(submodule, mesh)
    if input_fn is not None:
        count = _count_arguments(input_fn)
        if count not in (2, 3):
            raise ValueError(f"input_fn should take in 3 arguments, but got {count} arguments!")
        if count == 2:
            warnings.warn("Deprecating input_fn that takes two arguments (inputs, device_mesh), please use input_fn "
                          "that takes in (module, inputs, device_mesh) instead!", FutureWarning)
        module.register_forward_pre_hook(
            lambda owner, inputs: input_fn(*((owner,) if count == 3 else ()), inputs, mesh))
    if output_fn is not None:
        taken = _count_arguments(output_fn)
        if taken not in (2, 3):
            raise ValueError(f"output_fn should take in 3 arguments, but got {taken} arguments!")
        if taken == 2:
            warnings.warn("Deprecating output_fn that takes two arguments (inputs, device_mesh), please use output_fn "
                          "that takes in (module, inputs, device_mesh) instead!", FutureWarning)
        module.register_forward_hook(
            lambda owner, inputs, outputs: output_fn(*((owner,) if taken == 3 else ()), outputs, mesh))
    module._distribute_module_applied = True
    return module
