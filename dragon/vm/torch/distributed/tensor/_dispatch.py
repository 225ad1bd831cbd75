"""What is done with a call of an operator with tensors on a mesh: a rule says how, parts are boxed, computed, shown."""
import contextlib
import itertools

from dragon.core import warnings
from dragon.distributed.globals.signatures import is_split
from dragon.vm.torch.core.dispatching.stack import leaves
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.distributed.tensor import _ops
from dragon.vm.torch.distributed.tensor._calls import Call, Operand, mapped, meta_of, replicated
from dragon.vm.torch.distributed.tensor._dtensor_spec import DTensorSpec
from dragon.vm.torch.distributed.tensor.placement_types import Replicate

_settings = {"implicit": False}
_told = set()


@contextlib.contextmanager
def implicit_replication():
    """Take plain tensors in calls with tensors on a mesh for what all processes have, within a `with` block."""
    before, _settings["implicit"] = _settings["implicit"], True
    try:
        yield
    finally:
        _settings["implicit"] = before


def _gather_operands(func, args, kwargs):
    """Return the mesh of a call, and its tensors."""
    tensors = [item for item in leaves(args, kwargs) if isinstance(item, Tensor)]
    mesh = next(item._spec.mesh for item in tensors if hasattr(item, "_spec"))
    operands = []
    for item in tensors:
        spec = getattr(item, "_spec", None)
        if spec is not None:
            if spec.mesh is not mesh and spec.mesh != mesh:
                raise RuntimeError(f"{func}: got DTensors on {mesh} and on {spec.mesh}, expected one mesh. Operators "
                                   "across meshes are not supported: All operands in the same call must have the same "
                                   "mesh")
            operands.append(Operand(item, spec, item._local_tensor))
            continue
        if item.ndim and not _settings["implicit"] and not _ops.takes_plain(func):
            raise RuntimeError(f"{func} got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to "
                               f"DTensor before calling distributed operators! The plain one has shape "
                               f"{tuple(item.shape)}; `implicit_replication` takes such for what all processes have")
        operands.append(Operand(item, DTensorSpec(mesh, [Replicate()] * mesh.ndim, meta_of(item)), item))
    return mesh, operands


def dispatch(cls, func, args, kwargs):
    """Answer a call of an operator.

    Parameters
    ----------
    cls : type
        The class of tensors on a mesh.
    func : OpOverload
        The operator.
    args : tuple
        Its positional arguments.
    kwargs : Dict[str, Any]
        Its arguments by name.

    Returns
    -------
    Any
        The results, on the mesh where they are tensors.

    """
    early = _ops.EARLY.get(str(func))
    if early is not None:
        return early(func, args, kwargs, cls)
    mesh, operands = _gather_operands(func, args, kwargs)
    call = Call(func, args, kwargs, mesh, operands)
    if not mesh._is_current_rank_part_of_mesh():
        return _absent(cls, call)
    found = _ops.handle(call, cls)
    if found is not NotImplemented:
        return found
    decision = _ops.decide(call)
    if decision is None:
        decision = _fall_back(call)
    parts = [operand.boxed(wanted) for operand, wanted in zip(operands, decision.operands)]
    result = (decision.compute or call.compute)(parts)
    return show(cls, call, decision, result)


def _fall_back(call):
    """Have all processes do all of it, and say so once for each operator."""
    if call.written and any(operand.signatures != call.operands[0].signatures or not operand.spec.is_replicated()
                            for operand in call.operands):
        raise RuntimeError(f"{call.func}: in-place operations that require placement changes are not supported: got "
                           f"{[operand.spec for operand in call.operands]}, expected operands that lie as the first")
    name = str(call.func)
    if name not in _told and any(not operand.spec.is_replicated() for operand in call.operands):
        _told.add(name)
        warnings.warn(f"{name}: got tensors that are cut, and no rule for them: all processes compute the whole")
    return replicated(call)


def _is_list(result):
    return isinstance(result, (list, tuple)) and not isinstance(result, Tensor)


def _forms(result):
    return [meta_of(item) if isinstance(item, Tensor) else None for item in (result if _is_list(result) else [result])]


def show(cls, call, decision, result):
    """Return results as tensors on the mesh.

    Parameters
    ----------
    cls : type
        The class of tensors on a mesh.
    call : Call
        The call.
    decision : Decision
        What was made of it.
    result : Any
        What it gave of parts.

    Returns
    -------
    Any
        The results.

    """
    if call.written:
        found = [call.operands[place].tensor for place in call.written]
        return found if _is_list(result) else found[0]
    many = _is_list(result)
    results = list(result) if many else [result]
    count, signatures = len(results), decision.results
    if len(signatures) == 1 or len(signatures) != count:
        signatures = [signatures[0]] * count
    forms = decision.forms
    if forms is None:
        if all(not isinstance(item, Tensor) for item in results):
            return result
        needs = any(map(is_split, itertools.chain(*signatures)))
        forms = call.form(_forms) if needs else _forms(result)
    made = [cls(item, call.spec(each, form), requires_grad=False) if isinstance(item, Tensor) else item
            for item, each, form in zip(results, signatures, forms)]
    return type(result)(made) if many and type(result) in (list, tuple) else made if many else made[0]


def _absent(cls, call):
    """Return what a process outside of the mesh gets: results without anything."""
    if call.written:
        return call.operands[call.written[0]].tensor
    whole = call.form()

    def empty(item):
        return cls(call.operands[0].local.new_empty(0, dtype=item.dtype),
                   DTensorSpec(call.mesh, [Replicate()] * call.mesh.ndim, meta_of(item)), requires_grad=False)
    return mapped(empty, whole)
