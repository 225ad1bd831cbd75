"""Steps of optimizers and norms of gradients: each process updates its parts; norms are of whole tensors."""
import math

from dragon.distributed.globals.boxing import box
from dragon.distributed.globals.layout import Layout
from dragon.distributed.globals.signatures import BROADCAST, is_partial, is_split
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.distributed.tensor._calls import Operand, mapped, meta_of
from dragon.vm.torch.distributed.tensor._dtensor_spec import DTensorSpec
from dragon.vm.torch.distributed.tensor._ops.table import EARLY, handler

# Steps that compute each element by itself; the others need what whole tensors have in common.
_STEPS = "adadelta adagrad adam adam_scaled adamax asgd nadam radam rmsprop rprop sgd".split()


def _is_on_mesh(x):
    return getattr(x, "_spec", None) is not None


def _local_of(x, like=None):
    """Return the part of a tensor, cut as another one of its shape."""
    if not _is_on_mesh(x):
        return x
    if like is None or x._spec.signatures == like._spec.signatures or x.shape != like.shape:
        return x._local_tensor
    return Operand(x, x._spec, x._local_tensor).boxed(like._spec.signatures)


def _step(func, args, kwargs, cls):
    """Update parts: of what belongs to one parameter, each process takes what it has of the parameter."""
    params, grads, *states = args
    for param, *others in zip(params, *(each for each in states if len(each) == len(params))):
        for state in others:
            if _is_on_mesh(param) and _is_on_mesh(state) and state.shape == param.shape \
                    and state._spec.signatures != param._spec.signatures:
                raise RuntimeError(f"{func}: got a parameter of {param._spec} and a state of {state._spec}, expected "
                                   "both to lie alike: redistribute the state")
        if _is_on_mesh(param) and any(map(is_partial, param._spec.signatures)):
            raise RuntimeError(f"{func}: got a parameter of {param._spec}, expected one without sums that remain to be "
                               "done")
    for param, grad in zip(params, grads):
        if _is_on_mesh(param) != _is_on_mesh(grad):
            raise RuntimeError(f"{func}: got mixed torch.Tensor and DTensor: a parameter of type "
                               f"{type(param).__name__} and its gradient of type {type(grad).__name__}, expected one")
    local = [_local_of(grad, param) for param, grad in zip(params, grads)]
    return func.run([_local_of(param) for param in params], local, *mapped(_local_of, tuple(states)),
                    **mapped(_local_of, kwargs))


EARLY.update({f"dragon.{name}_step.default": _step for name in _STEPS})


def _whole_step(func, args, kwargs, cls):
    """Update parameters whose steps need norms of them: one after the other is put together, and cut again."""
    params = args[0]
    names = [argument.name for argument in func._schema.arguments]
    args = [*args, *(kwargs.pop(name) for name in names[len(args):] if isinstance(kwargs.get(name), (list, tuple)))]
    lists = [isinstance(each, (list, tuple)) for each in args]
    for place, param in enumerate(params):
        mine = [each[place] if is_list else each for each, is_list in zip(args, lists)]
        if not any(map(_is_on_mesh, mine)):
            func.run(*([each] if is_list else each for each, is_list in zip(mine, lists)), **kwargs)
            continue
        wholes = [_put_together(each) if isinstance(each, Tensor) else each for each in mine]
        func.run(*([each] if is_list else each for each, is_list in zip(wholes, lists)), **kwargs)
        for x, whole in zip(mine, wholes):
            if _is_on_mesh(x) and x is not args[1][place]:
                mesh = x._spec.mesh
                layout = Layout(mesh._globals, x._spec.shape, (BROADCAST,) * mesh.ndim)
                x._local_tensor.copy_(box(ops, whole, layout, x._spec.signatures))
    return ()


def _put_together(x):
    """Return all of a tensor, which is not written into if it is on a mesh."""
    if not _is_on_mesh(x):
        return x
    return Operand(x, x._spec, x._local_tensor).boxed((BROADCAST,) * x._spec.mesh.ndim).clone()


EARLY["dragon.lamb_step.default"] = _whole_step


def partial_norm(x, p):
    """Return the norm of a part, as a number that norms of other parts can be added to."""
    if x.numel() == 0:
        return ops.full((), math.inf if p == -math.inf else 0.0, dtype=x.dtype, device=x.device)
    found = ops.linalg_vector_norm(x, p)
    return found if math.isinf(p) or p == 0 else ops.pow(found, p)


def _join(p):
    return {math.inf: "maximum", -math.inf: "minimum"}.get(p, "sum")


def _finished(total, p):
    return total if math.isinf(p) or p == 0 else ops.pow(total, 1.0 / p)


def total_norm(tensors, p):
    """Return the norm of tensors as one vector; one collective for all that are cut alike.

    Parameters
    ----------
    tensors : Sequence[Tensor]
        The tensors, on meshes or plain.
    p : float
        Of the norm.

    Returns
    -------
    Tensor
        The norm, plain.

    """
    sums, meshes = {}, {}
    for x in tensors:
        key, part = None, x
        if _is_on_mesh(x):
            wanted = tuple(BROADCAST if is_partial(cut) else cut for cut in x._spec.signatures)
            part = Operand(x, x._spec, x._local_tensor).boxed(wanted)
            cuts = tuple(axis for axis, cut in enumerate(wanted) if is_split(cut))
            key = id(x._spec.mesh), cuts
            meshes[key] = x._spec.mesh
        sums.setdefault(key, []).append(partial_norm(part, p))
    reduce = {"maximum": ops.amax, "minimum": ops.amin, "sum": ops.sum}[_join(p)]
    found = []
    for key, norms in sums.items():
        total = reduce(ops.stack(norms))
        for axis in key[1] if key else ():
            total = meshes[key]._globals.run(axis, lambda group, x=total: ops.all_reduce(x, group, _join(p)))
        found.append(total)
    return _finished(reduce(ops.stack(found)), p)


def _shown(cls, tensors, total):
    """Return a number on the mesh of tensors, if they have one."""
    meshes = {id(x._spec.mesh): x._spec.mesh for x in tensors if _is_on_mesh(x)}
    if len(meshes) != 1 or not all(map(_is_on_mesh, tensors)):
        return total
    mesh = next(iter(meshes.values()))
    return cls(total, DTensorSpec.of(mesh, (BROADCAST,) * mesh.ndim, meta_of(total)), requires_grad=False)


def _foreach_norm(func, args, kwargs, cls):
    tensors = args[0]
    return _shown(cls, tensors, total_norm(tensors, _power(args, kwargs, 1)))


def _power(args, kwargs, place):
    return float(args[place] if len(args) > place else kwargs.get("p", 2.0))


def _clip_grad_norm(func, args, kwargs, cls):
    """Scale gradients so that their norm as one vector is at most a bound; return the norm."""
    tensors, bound = args[0], args[1] if len(args) > 1 else kwargs["max_norm"]
    total = total_norm(tensors, _power(args, kwargs, 2))
    scale = ops.clamp(float(bound) / (total + 1e-6), max=1.0)
    for x in tensors:
        if _is_on_mesh(x) and any(is_partial(cut) and cut.reduction not in ("sum", "average")
                                  for cut in x._spec.signatures):
            raise RuntimeError(f"{func}: got a gradient of {x._spec}, expected one that can be scaled")
        (x._local_tensor if _is_on_mesh(x) else x).mul_(scale)
    return _shown(cls, tensors, total)


def _foreach_scale(func, args, kwargs, cls):
    """Scale tensors in place, each process its parts."""
    tensors, *others = args
    func.run([_local_of(x) for x in tensors], *mapped(_local_of, tuple(others)), **mapped(_local_of, kwargs))


EARLY["dragon.foreach_norm.default"] = _foreach_norm
EARLY["dragon.foreach_scale.default"] = _foreach_scale
EARLY["dragon.clip_grad_norm.default"] = _clip_grad_norm


@handler("linalg_vector_norm norm")
def _vector_norm(call, cls):
    """Return the norm of all of a tensor, of which each process adds its part."""
    p = call.values.get("ord", call.values.get("p", 2))
    axes = call.values.get("dim")
    if axes not in (None, [], ()) or call.values.get("keepdim") or isinstance(p, str) or isinstance(p, Tensor):
        return NotImplemented
    x = call.operands[0].tensor
    dtype = call.values.get("dtype")
    total = total_norm([x if dtype is None else x.to(dtype)], 2.0 if p is None else float(p))
    return _shown(cls, [x], total)
