"""What is done with a call of an operator with tensors on a mesh: a rule says how, parts are boxed, computed, shown."""
import itertools

from dragon.core import warnings
from dragon.core.scopes import contextmanager
from dragon.distributed.globals.signatures import is_split
from dragon.vm.torch.core.dispatching.wrapper_subclass import stand_in, without_numbers
from dragon.vm.torch.core.dispatching.mode_stack import leaves
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.distributed.tensor import _ops
from dragon.vm.torch.distributed.tensor._calls import Call, Operand, mapped, meta_of, replicated
from dragon.vm.torch.distributed.tensor._dtensor_spec import DTensorSpec
from dragon.vm.torch.distributed.tensor.placement_types import Replicate

_settings = {"implicit": False}
_told = set()
KEPT = 4096  # plans of calls whose shapes never repeat would be kept for ever
_plans = {}  # by the operator, how its tensors lie, and its other arguments; the oldest first


@contextmanager
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
    if not mesh._is_current_rank_part_of_mesh():
        return _absent(cls, Call(func, args, kwargs, mesh, operands))
    if _ops.has_handler(func):
        found = _ops.handle(Call(func, args, kwargs, mesh, operands), cls)
        if found is not NotImplemented:
            return found
    plan = plan_for(func, args, kwargs, mesh, operands)
    parts = [operand.local if operand.spec.signatures == wanted else operand.boxed(wanted)
             for operand, wanted in zip(operands, plan.decision.operands)]
    return plan.show(cls, operands, plan.compute(parts))


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


class Plan:
    """What is done with calls of an operator whose tensors lie as some did, with the same other arguments.

    Parameters
    ----------
    call : Call
        Such a call, with tensors that have no numbers.
    decision : Decision
        What was made of it.

    """

    def __init__(self, call, decision):
        self.call, self.decision, self.specs = call, decision, None
        self.compute = decision.compute or call.compute
        self.written = call.written

    def show(self, cls, operands, result):
        """Return results as tensors on the mesh.

        Parameters
        ----------
        cls : type
            The class of tensors on a mesh.
        operands : List[Operand]
            The tensors of the call.
        result : Any
            What it gave of parts.

        Returns
        -------
        Any
            The results.

        """
        many = _is_list(result)
        if self.written:
            found = [operands[place].tensor for place in self.written]
            return found if many else found[0]
        results = list(result) if many else [result]
        specs = self.specs or self._specs(results)
        made = [cls(item, spec, requires_grad=False) if isinstance(item, Tensor) else item
                for item, spec in zip(results, specs)]
        return type(result)(made) if many and type(result) in (list, tuple) else made if many else made[0]

    def _specs(self, results):
        """Return how results lie; where parts of them are, it is known for all such calls."""
        signatures = self.decision.results
        if len(signatures) != len(results):
            signatures = [signatures[0]] * len(results)
        forms = self.decision.forms
        is_cut = any(map(is_split, itertools.chain(*signatures)))
        if forms is None:
            forms = self.call.form(_forms) if is_cut else _forms(results)
        specs = [None if form is None else self.call.spec(each, form) for each, form in zip(signatures, forms)]
        if is_cut:
            self.specs = specs
        return specs


def _key(item, specs):
    """Return what an argument is to a plan: how a tensor lies, a value and its type."""
    if isinstance(item, Tensor):
        return next(specs)
    if type(item) in (list, tuple):
        return tuple(_key(each, specs) for each in item)
    return type(item), item


def plan_for(func, args, kwargs, mesh, operands):
    """Return what is to be done with a call: what was found for one like it, or what its rule says.

    Parameters
    ----------
    func : OpOverload
        The operator.
    args : tuple
        Its positional arguments.
    kwargs : Dict[str, Any]
        Its arguments by name.
    mesh : DeviceMesh
        The mesh.
    operands : List[Operand]
        The tensors among its arguments.

    Returns
    -------
    Plan
        The plan.

    """
    specs = iter([operand.spec for operand in operands])
    try:
        key = func, id(mesh), _ops.losses.classes_are_cut(), _key(args, specs), tuple(
            (name, _key(value, specs)) for name, value in kwargs.items())
        found = _plans.get(key)
    except TypeError:  # an argument that has no hash
        key = found = None
    if found is None:
        # What is kept must not hold the tensors of one call.
        forms = [Operand(form, operand.spec, form) for operand in operands for form in [_without_numbers(operand)]]
        places = iter(forms)
        call = Call(func, *mapped(lambda _: next(places).tensor, (args, kwargs)), mesh, forms)
        found = Plan(call, _ops.decide(call) or _fall_back(call))
        if key is not None:
            while len(_plans) >= KEPT:
                _plans.pop(next(iter(list(_plans))), None)  # other threads may add meanwhile
            _plans[key] = found
    return found


def _without_numbers(operand):
    """Return a tensor of an operand's form."""
    meta = operand.spec.tensor_meta
    if isinstance(operand.tensor, Tensor) and hasattr(operand.tensor, "_spec"):
        return stand_in(operand.tensor)
    return without_numbers(meta.shape, meta.stride, meta.dtype, operand.local.device)


def _absent(cls, call):
    """Return what a process outside of the mesh gets: results without anything."""
    if call.written:
        return call.operands[call.written[0]].tensor
    whole = call.form()

    def empty(item):
        return cls(call.operands[0].local.new_empty(0, dtype=item.dtype),
                   DTensorSpec(call.mesh, [Replicate()] * call.mesh.ndim, meta_of(item)), requires_grad=False)
    return mapped(empty, whole)
