"""Where rules are kept, by the name of an operator without its overload and without the mark of writing in place."""
from dragon.distributed.globals.choosing import choose
from dragon.vm.torch.distributed.tensor._calls import Decision

RULES = {}  # functions of a call that return a decision
WAYS = {}  # functions of a call that return what can be done along one axis of the mesh
HANDLERS = {}  # functions of a call and the class of its tensors that return the results themselves
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


def handler(names):
    """Register a function of a call and the class of its tensors that returns the results, or NotImplemented."""
    return _register(HANDLERS, names)


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
