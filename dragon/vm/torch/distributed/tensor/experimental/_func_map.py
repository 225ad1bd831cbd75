"""Functions of parts, used on tensors on a mesh."""
import functools

from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.distributed.tensor._api import DTensor
from dragon.vm.torch.utils import _pytree as pytree


def local_map(func=None, out_placements=None, in_placements=None, in_grad_placements=None, device_mesh=None, *,
              redistribute_inputs=False):
    """Return a function of tensors on a mesh, of one of their parts.

    Parameters
    ----------
    func : Callable, optional
        The function; without it a decorator is returned.
    out_placements : Sequence[Placement]
        How the parts of its result make the whole; a tuple of such for several results, None for one that is no tensor.
    in_placements : Tuple[Optional[Sequence[Placement]], ...], optional
        How each argument must lie; as it does, by default.
    in_grad_placements : Tuple[Optional[Sequence[Placement]], ...], optional
        How the gradients of the parts lie.
    device_mesh : DeviceMesh, optional
        The mesh; that of the first argument by default.
    redistribute_inputs : bool, optional, default=False
        Whether arguments that lie otherwise are moved; they are refused by default.

    Returns
    -------
    Callable
        The function.

    """
    if func is None:
        return functools.partial(local_map, out_placements=out_placements, in_placements=in_placements,
                                 in_grad_placements=in_grad_placements, device_mesh=device_mesh,
                                 redistribute_inputs=redistribute_inputs)

    @functools.wraps(func)
    def mapped(*args, **kwargs):
        flat, spec = pytree.tree_flatten(args)
        if in_placements is not None and len(in_placements) != len(flat):
            raise AssertionError(f"in_placements length {len(in_placements)} does not match the number of input args "
                                 f"{len(flat)}!")
        mesh, parts = device_mesh, []
        for place, value in enumerate(flat):
            wanted = None if in_placements is None else in_placements[place]
            if not isinstance(value, DTensor):
                if wanted is not None and isinstance(value, Tensor):
                    raise AssertionError(f"Non-DTensor input {value} must have None placements but got {wanted}")
                parts.append(value)
                continue
            mesh = mesh or value.device_mesh
            if wanted is not None and value.placements != tuple(wanted):
                if not redistribute_inputs:
                    raise ValueError(f"arg {value} in local_map has a mismatched placements: arg placements is "
                                     f"{value.placements} but the input placements is {wanted}! If redistribute_inputs "
                                     "is wanted, set redistribute_inputs=True to local_map.")
                value = value.redistribute(mesh, wanted)
            grads = None if in_grad_placements is None else in_grad_placements[place]
            parts.append(value.to_local(grad_placements=grads))
        result = func(*pytree.tree_unflatten(parts, spec), **kwargs)
        if mesh is None:
            return result
        outs, spec = pytree.tree_flatten(result)
        several = isinstance(out_placements, tuple) and (not out_placements or out_placements[0] is None or isinstance(
            out_placements[0], (list, tuple)))
        layouts = out_placements if several else (out_placements,)
        if len(layouts) != len(outs):
            raise AssertionError("local_map requires one PlacementType be provided for each output value, received "
                                 f"{len(layouts)} out_placements but {len(outs)} is expected!")
        made = [value if layout is None or not isinstance(value, Tensor) else
                DTensor.from_local(value, mesh, layout, run_check=False) for value, layout in zip(outs, layouts)]
        return pytree.tree_unflatten(made, spec)
    return mapped
