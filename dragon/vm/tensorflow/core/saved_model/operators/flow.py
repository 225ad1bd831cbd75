"""Operators that call functions, decide and repeat."""
from dragon.vm.shared.errors import InvalidArgumentError, UnimplementedError, invalid_argument
from dragon.vm.shared.recording.tape import stop_gradient
from dragon.vm.shared.tensors.dtypes import bool_, int32
from dragon.vm.tensorflow.core.flow import asserts
from dragon.vm.tensorflow.core.saved_model.table import operator
from dragon.vm.tensorflow.core.saved_model.values import Host, Optional, Undefined, dtype_of, number, tensor


def truth(value):
    """Return whether a condition holds: numbers are true but for 0, strings but for empty ones."""
    if type(value) is Host:
        return bool(value.numbers)
    if dtype_of(value).name == "string":
        found = value.numpy()
        return bool(found) if isinstance(found, bytes) else found.size > 0
    return bool(value.shape.num_elements()) if value.ndim else bool(value)


@operator("PartitionedCall StatefulPartitionedCall")
def _call(node, *operands):
    return node.get("f")(*operands)


@operator("SymbolicGradient")
def _symbolic_gradient(node, *operands):
    raise UnimplementedError(None, None, "saved_model: SymbolicGradient is not supported; take gradients by "
                             f"tf.GradientTape (node '{node.name}' of function '{node.where}')")


@operator("If StatelessIf")
def _if(node, condition, *operands):
    return node.get("then_branch" if truth(condition) else "else_branch")(*operands)


@operator("Case StatelessCase")
def _case(node, index, *operands):
    branches = node.get("branches")
    if not branches:
        raise invalid_argument(f"{node.op}: got no branches, expected one. Node: {node.name} of {node.where}")
    place = number(index)
    return branches[place if 0 <= place < len(branches) else -1](*operands)


@operator("While StatelessWhile")
def _while(node, *operands):
    condition, body = node.get("cond"), node.get("body")
    state = list(operands)
    while truth(_first(condition(*state), node)):
        state = body(*state)
    return state


def _first(results, node):
    if not results:
        raise invalid_argument(f"{node.op}: the condition returns nothing. Node: {node.name} of {node.where}")
    return results[0]


@operator("For")
def _for(node, start, limit, delta, *operands):
    body, state = node.get("body"), list(operands)
    for place in range(number(start), number(limit), number(delta)):
        state = body(Host(place, start.dtype), *state)
    return state


@operator("Identity PreventGradient DebugGradientIdentity RefIdentity LoopCond Enter Exit OptimizationBarrier "
          "XlaSharding PlaceholderWithDefault")
def _identity(node, value):
    return value


@operator("StopGradient")
def _stop(node, value):
    return value if type(value) is Host else stop_gradient(tensor(value))


@operator("IdentityN TupleBarrier")
def _identity_n(node, *values):
    return list(values)


@operator("NoOp ControlTrigger")
def _nothing(node):
    return None


@operator("Assert")
def _assert(node, condition, *data):
    asserts.Assert(tensor(condition), [tensor(one) for one in data], node.get("summarize"))


@operator("Print")
def _old_print(node, value, *data):
    import sys
    shown = "".join(f"[{tensor(one).numpy()}]" for one in data)
    sys.stderr.write(f"{node.get('message', '')}{shown}\n")
    return value


@operator("PrintV2")
def _print(node, text):
    import sys
    stream = node.get("output_stream")
    shown = text.numpy().decode(errors="replace") + node.get("end")
    if stream == "stdout" or stream == "stderr":
        getattr(sys, stream).write(shown)
        return
    raise UnimplementedError(None, None, "saved_model: PrintV2 writes to stdout and stderr alone. Received: "
                             f"output_stream={stream!r}")


@operator("Abort")
def _abort(node):
    raise InvalidArgumentError(None, None, f"Abort: {node.get('error_msg', '')}")


# --- Switch and Merge of older graphs, which have no functions

@operator("Switch", "output_false output_true")
def _switch(node, value, condition):
    return (Undefined(), value) if truth(condition) else (value, Undefined())


@operator("Merge", "output value_index")
def _merge(node, *values):
    for place, value in enumerate(values):
        if not getattr(value, "is_undefined", False):
            return value, Host(place, int32)
    return Undefined(), Host(0, int32)


# --- values that may be missing

@operator("OptionalFromValue")
def _some(node, *values):
    return Optional(list(values))


@operator("OptionalNone")
def _none(node):
    return Optional()


@operator("OptionalHasValue")
def _has(node, value):
    return Host(value.values is not None, bool_)


@operator("OptionalGetValue")
def _get(node, value):
    if value.values is None:
        raise invalid_argument("The given optional does not have a value. [Op:OptionalGetValue]")
    return value.values


@operator("FakeParam")
def _fake(node):
    return Undefined()
