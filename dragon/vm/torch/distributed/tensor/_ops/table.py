"""Where rules are kept, by the name of an operator without its overload and without the mark of writing in place."""
import functools

from dragon.distributed.globals.choosing import choose
from dragon.vm.torch.core.aten.kinds import kinds_of
from dragon.vm.torch.distributed.tensor._calls import Decision

RULES = {}  # functions of a call that return a decision
WAYS = {}  # functions of a call that return what can be done along one axis of the mesh
KIND_WAYS = {}  # the same, by a kind of operators
HANDLERS = {}  # functions of a call and the class of its tensors that return the results themselves
KIND_HANDLERS = {}  # the same, by kinds of operators
EARLY = {}  # by the full name: functions of the operator, arguments and class that answer before tensors are looked at
# Operators whose other tensors may be plain: masks, and where bags begin, that the framework makes on the way.
TAKE_PLAIN = {"aten.masked_fill.Scalar", "aten.masked_fill.Tensor", "aten.embedding_bag.padding_idx"}


def _register(table, names):
    def register(function):
        table.update(dict.fromkeys(names.split(), function))
        return function
    return register


def rule(names):
    """Register a function of a call that returns a decision."""
    return _register(RULES, names)


def ways(names):
    """Register a function of a call that returns pairs of signatures of its operands and of its results."""
    return _register(WAYS, names)


def ways_of_kind(kind):
    """Register a function as `ways` does, for all operators of a kind that have none of their own."""
    return _register(KIND_WAYS, kind)


def ways_for(name):
    """Return what is registered for an operator or for its kind, or None."""
    found = WAYS.get(name)
    if found is None:
        kinds = kinds_of(name)
        found = next((each for kind, each in KIND_WAYS.items() if kind in kinds), None)
    return found


def handler(names):
    """Register a function of a call and the class of its tensors that returns the results, or NotImplemented."""
    return _register(HANDLERS, names)


def handler_of_kinds(*kinds):
    """Register a function as `handler` does, for all operators of some kinds at once."""
    def register(function):
        KIND_HANDLERS[frozenset(kinds)] = function
        return function
    return register


@functools.cache  # every call asks
def handler_for(name):
    """Return what answers calls of an operator by itself, or None."""
    found = HANDLERS.get(name)
    if found is None:
        kinds = kinds_of(name)
        found = next((each for needed, each in KIND_HANDLERS.items() if needed <= kinds), None)
    return found


def name_of(call):
    """Return the name under which a call's rule is kept."""
    name = call.packet
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def chosen(call, ways, compute=None):
    """Return the decision for the cheapest of some ways."""
    count = max((len(results) for _, results in ways), default=1)
    kept = call.written[0] if call.written else None
    found = choose(call.mesh.shape, [(operand.signatures, operand.bytes) for operand in call.operands], ways, count,
                   kept)
    if found is None:
        raise RuntimeError(f"{call.func}: in-place operations that require placement changes are not supported: got "
                           f"{', '.join(str(operand.spec) for operand in call.operands)}")
    return Decision(*found, compute=compute)
