"""Operators of variables."""
from dragon.vm.shared.arrays import gathering
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.variable import read
from dragon.vm.tensorflow.core.saved_model.table import find, operator
from dragon.vm.tensorflow.core.saved_model.values import host, shape_of, tensor


def _variable(value, node):
    if not hasattr(value, "assign"):
        raise invalid_argument(f"{node.op}: got {type(value).__name__}, expected a variable. Node: {node.name}")
    return value


@operator("ReadVariableOp")
def _read(node, variable):
    return read(_variable(variable, node))


@operator("AssignVariableOp")
def _assign(node, variable, value):
    _variable(variable, node).assign(tensor(value))


@operator("AssignAddVariableOp")
def _assign_add(node, variable, value):
    _variable(variable, node).assign_add(tensor(value))


@operator("AssignSubVariableOp")
def _assign_sub(node, variable, value):
    _variable(variable, node).assign_sub(tensor(value))


@operator("VarIsInitializedOp")
def _is_initialized(node, variable):
    return host(True, "bool")


@operator("VariableShape")
def _shape(node, variable):
    return host(list(shape_of(variable)), node.get("out_type", "int32"))


@operator("DestroyResourceOp")
def _destroy(node, variable):
    return None


@operator("DisableCopyOnRead")
def _disable_copy(node, variable):
    return None


@operator("ResourceGather")
def _gather(node, variable, indices):
    return gathering.gather(_variable(variable, node), tensor(indices), axis=0, batch_dims=node.get("batch_dims", 0))


@operator("ResourceGatherNd")
def _gather_nd(node, variable, indices):
    return gathering.gather_nd(read(_variable(variable, node)), tensor(indices))


def _enter_scatter(op, name, nested):
    """Enter an operator that writes parts of a variable."""
    def run(node, variable, indices, updates):
        variable, indices, updates = _variable(variable, node), tensor(indices), tensor(updates)
        if not nested:
            indices, updates = _flat_rows(variable, indices, updates)
        found = getattr(gathering, f"tensor_scatter_nd_{name}")(read(variable), indices, updates)
        variable.assign(found)
    operator(op)(run)


def _flat_rows(variable, indices, updates):
    """Return places of rows as one column, and a row for each of them."""
    from dragon.vm.shared.arrays.array import broadcast_to, reshape
    inner = list(variable.shape)[1:]
    updates = broadcast_to(updates, [*indices.shape, *inner])
    return reshape(indices, [-1, 1]), reshape(updates, [-1, *inner])


for _name in ("Update", "Add", "Sub", "Max", "Min"):
    _enter_scatter(f"ResourceScatter{_name}", _name.lower(), False)
for _name in ("Update", "Add", "Sub"):
    _enter_scatter(f"ResourceScatterNd{_name}", _name.lower(), True)


@operator("ResourceStridedSliceAssign")
def _assign_slice(node, variable, *operands):
    variable = _variable(variable, node)
    variable.assign(find("TensorStridedSliceUpdate").run(node, read(variable), *operands))


# --- steps of training, which files of whole training steps have

def _rate(value):
    return tensor(value)


@operator("ResourceApplyGradientDescent")
def _descend(node, variable, rate, gradient):
    _variable(variable, node).assign_sub(tensor(gradient) * _rate(rate))


@operator("ResourceApplyMomentum ResourceApplyKerasMomentum")
def _momentum(node, variable, slot, rate, gradient, momentum):
    variable, slot, gradient = _variable(variable, node), _variable(slot, node), tensor(gradient)
    rate, momentum = _rate(rate), _rate(momentum)
    if node.op == "ResourceApplyMomentum":
        slot.assign(read(slot) * momentum + gradient)
        step = (gradient + read(slot) * momentum if node.get("use_nesterov", False) else read(slot)) * rate
        variable.assign_sub(step)
        return
    slot.assign(read(slot) * momentum - gradient * rate)
    step = read(slot) * momentum - gradient * rate if node.get("use_nesterov", False) else read(slot)
    variable.assign_add(step)


@operator("ResourceApplyAdam")
def _adam(node, variable, m, v, beta1_power, beta2_power, rate, beta1, beta2, small, gradient):
    variable, m, v, gradient = _variable(variable, node), _variable(m, node), _variable(v, node), tensor(gradient)
    beta1_power, beta2_power, rate, beta1, beta2, small = map(tensor, (beta1_power, beta2_power, rate, beta1, beta2,
                                                                       small))
    scaled = rate * (1 - beta2_power) ** 0.5 / (1 - beta1_power)
    m.assign(read(m) + (gradient - read(m)) * (1 - beta1))
    v.assign(read(v) + (gradient * gradient - read(v)) * (1 - beta2))
    way = read(m) * beta1 + gradient * (1 - beta1) if node.get("use_nesterov", False) else read(m)
    variable.assign_sub(way * scaled / (read(v) ** 0.5 + small))
