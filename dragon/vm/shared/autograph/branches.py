"""`if`, conditional expressions and logic, where a tensor decides and where Python does."""
from dragon.core.capture.control import PLAIN
from dragon.vm.shared.autograph import verifying
from dragon.vm.shared.autograph.staging import attempt, condition, flow, guarded, is_staged, packed, unpacked
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops


def if_stmt(cond, body, orelse, get_state, set_state, symbol_names, nouts):
    """Do what one of two functions does.

    Parameters
    ----------
    cond : Any
        Which one.
    body, orelse : Callable
        Functions of nothing, which write names of the function around them.
    get_state, set_state : Callable
        They read and write what either function may change.
    symbol_names : Tuple[str]
        What that is called.
    nouts : int
        How many of the names are needed afterwards.

    """
    if is_staged(cond):
        _staged_if(condition(cond, "if statement"), body, orelse, get_state, set_state, symbol_names, nouts)
    elif cond:
        body()
    else:
        orelse()


def _staged_if(cond, body, orelse, get_state, set_state, names, count):
    before = get_state()
    made, kinds = [], []

    def branch(function, name):
        def run():
            set_state(before)
            function()
            after = tuple(get_state())[:count]
            verifying.require_values(after, names, name)
            if made:
                verifying.compare_branches(made[0], after, names)
            made.append(after)
            del kinds[:]
            return packed(after, kinds)
        return guarded(run)
    try:
        result = attempt(flow.either, cond, branch(body, "main"), branch(orelse, "else"), "if")
    except BaseException:
        set_state(before)
        raise
    if result is PLAIN:
        set_state(before)
        return (body if cond else orelse)()
    set_state((*unpacked(result, iter(kinds)), *before[count:]))


def if_exp(cond, if_true, if_false, expr_repr):
    """Return what one of two functions returns."""
    if not is_staged(cond):
        return if_true() if cond else if_false()
    made, kinds = [], []

    def branch(function):
        def run():
            value = function()
            if made:
                verifying.compare_branches([made[0]], [value], [f"conditional expression {expr_repr!r}"])
            made.append(value)
            del kinds[:]
            return packed(value, kinds)
        return guarded(run)
    cond = condition(cond, "conditional expression")
    result = attempt(flow.either, cond, branch(if_true), branch(if_false), "conditional expression")
    if result is PLAIN:
        return if_true() if cond else if_false()
    return unpacked(result, iter(kinds))


def _other(function, first, stops):
    """Return the second operand of `and` or `or`, where the first is a tensor: asked for only where it matters."""
    value = convert_to_tensor(first)

    def second():
        return convert_to_tensor(function(), "bool")
    result = attempt(flow.either, condition(value, "logical expression"),
                     guarded((lambda: value) if stops else second), guarded(second if stops else lambda: value),
                     "logical expression")
    if result is not PLAIN:
        return result
    return value if bool(value) == stops else second()


def and_(a, b):
    """Return `a() and b()`, as a tensor where the first is one in a graph."""
    first = a()
    return _other(b, first, False) if is_staged(first) else first and b()


def or_(a, b):
    """Return `a() or b()`, as a tensor where the first is one in a graph."""
    first = a()
    return _other(b, first, True) if is_staged(first) else first or b()


def not_(a):
    """Return `not a`, as a tensor where it is one."""
    return ops.logical_not(convert_to_tensor(a, "bool")) if is_staged(a) else not a


def eq(a, b):
    """Return `a == b`."""
    return a == b


def not_eq(a, b):
    """Return `a != b`."""
    return a != b


def assert_stmt(expression, message):
    """Do what `assert` does, when the graph runs where the expression is a tensor in one."""
    if not is_staged(expression):
        assert expression, message()
        return
    from dragon.vm.shared.autograph.hosting import assert_true
    assert_true(expression, [message()])
