"""`tf.compat.v1.train.Optimizer`: what the optimizers of TensorFlow 1 share, with slots beside each variable."""
from dragon.vm.shared import strategies
from dragon.vm.shared.arrays.gathering import gather
from dragon.vm.shared.arrays.reducing import unsorted_segment_sum
from dragon.vm.shared.recording.tape import GradientTape
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.slices import IndexedSlices
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.variable import Variable


def _joined(slices):
    """Return (sums of the rows of one place, the places) of slices."""
    from dragon.vm.shared.arrays.gathering import unique
    places, numbers = unique(slices.indices)[:2]
    return unsorted_segment_sum(slices.values, numbers, places.shape[0]), places


class Optimizer:
    """What all optimizers of TensorFlow 1 share.

    Parameters
    ----------
    use_locking : bool
        Accepted: one thread writes.
    name : str
        What slots are named after.
    use_own_namescope_for_non_slot_vars : bool, optional
        Accepted.

    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking, name, use_own_namescope_for_non_slot_vars=False):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name
        self._slots, self._others = {}, {}

    def get_name(self):
        """Return the name."""
        return self._name

    # --- gradients

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=1, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None):
        """Take one step that makes a loss smaller.

        Parameters
        ----------
        loss : Callable
            Takes nothing and returns the loss.
        global_step : Variable, optional
            Counts on.
        var_list : Sequence[Variable], optional
            What is changed; by default the trainable variables that the loss reads.
        gate_gradients, aggregation_method, colocate_gradients_with_ops, name : Any, optional
            Belong to graphs; accepted.
        grad_loss : Tensor, optional
            The gradient of something with respect to the loss.

        """
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops,
                                       grad_loss)
        if not any(grad is not None for grad, _ in pairs):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support "
                             f"gradients, between variables {[str(one) for _, one in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=1, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        """Return (gradient, variable) pairs of a loss; see `minimize`."""
        if not callable(loss):
            raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function when eager execution "
                               "is enabled.")
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        if var_list is None:
            var_list = tape.watched_variables()
        var_list = [var_list] if isinstance(var_list, Variable) else list(var_list)
        return list(zip(tape.gradient(value, var_list, grad_loss), var_list))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Take one step along gradients; variables without one stay."""
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        used = [(grad if isinstance(grad, IndexedSlices) else convert_to_tensor(grad), variable)
                for grad, variable in pairs if grad is not None]
        if not used:
            raise ValueError(f"No gradients provided for any variable: {[str(one) for _, one in pairs]}.")
        if strategies.local.replica is not None:
            return self._apply_together(used, global_step, name)
        self._create_slots([variable for _, variable in used])
        self._prepare()
        for grad, variable in used:
            if isinstance(grad, IndexedSlices):
                rows, places = _joined(grad)
                self._resource_apply_sparse(rows, variable, places)
            else:
                self._resource_apply_dense(grad, variable)
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable))
        self._finish([], name or self._name)
        if global_step is not None:
            global_step.assign_add(1)

    def _apply_together(self, used, global_step, name):
        """Take one step along the sums of the gradients of all replicas."""
        grads, variables = zip(*used)
        memory = strategies.local.replica.memory

        def step(parts):
            self.apply_gradients(zip(memory.sum_all(parts), variables), global_step, name)
            return [None] * len(parts)
        strategies.local.replica.merge(step, grads)

    # --- what a class of optimizers says

    def _create_slots(self, var_list):
        """Make the slots that are not there yet."""

    def _prepare(self):
        """Read the settings before a step."""

    def _resource_apply_dense(self, grad, handle):
        """Change a variable along its gradient."""
        raise NotImplementedError(f"{type(self).__name__}: got a dense gradient, expected _resource_apply_dense")

    def _resource_apply_sparse(self, grad, handle, indices):
        """Change rows of a variable along theirs; as a whole, where a class has no other way."""
        whole = unsorted_segment_sum(grad, indices, handle.shape[0])
        self._resource_apply_dense(whole, handle)

    def _finish(self, update_ops, name_scope):
        """Do what is left after a step."""

    # --- slots

    def _call_if_callable(self, param):
        return param() if callable(param) else param

    def _setting(self, value, variable):
        """Return a setting as a tensor of a variable's dtype."""
        return ops.cast(convert_to_tensor(self._call_if_callable(value)), variable.dtype)

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        slots = self._slots.setdefault(slot_name, {})
        key = id(var)
        if key not in slots:
            made = sum(entry is not None for held in self._slots.values() for entry in [held.get(key)])
            name = f"{var.name.split(':')[0]}/{op_name}{f'_{made}' if made else ''}"
            slots[key] = (Variable(val, trainable=False, name=name), var)
        return slots[key][0]

    def _zeros_slot(self, var, slot_name, op_name):
        return self._get_or_make_slot(var, ops.zeros(tuple(var.shape), dtype=var.dtype), slot_name, op_name)

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        if name not in self._others:
            self._others[name] = Variable(initial_value, trainable=False, name=name)
        return self._others[name]

    def _get_non_slot_variable(self, name, graph=None):
        return self._others.get(name)

    def get_slot(self, var, name):
        """Return the slot of a variable by its name, or None."""
        found = self._slots.get(name, {}).get(id(var))
        return found and found[0]

    def get_slot_names(self, *args, **kwargs):
        """Return the names of the slots."""
        return sorted(self._slots)

    def variables(self):
        """Return all that the optimizer keeps."""
        kept = [slot for slots in self._slots.values() for slot, _ in slots.values()]
        return [*kept, *self._others.values()]

    def _rows(self, variable, places):
        return gather(variable, places)

    def _put_rows(self, variable, rows, places):
        variable.scatter_update(IndexedSlices(rows, places))


class RowOptimizer(Optimizer):
    """The base of optimizers whose step of a row depends on this row alone: rows without a gradient stay."""

    SLOTS = ()  # (name, the value it starts with)

    def _start_of(self, name):
        """Return the value that a slot starts with."""
        return dict(self.SLOTS)[name]

    def _create_slots(self, var_list):
        for variable in var_list:
            for name, _ in self.SLOTS:
                start = ops.full(tuple(variable.shape), float(self._start_of(name)), dtype=variable.dtype)
                self._get_or_make_slot(variable, start, name, self._name)

    def _step(self, value, grad, slots, get):
        """Return (the new value, the new slots)."""
        raise NotImplementedError

    def _resource_apply_dense(self, grad, handle):
        slots = [self.get_slot(handle, name) for name, _ in self.SLOTS]
        value, found = self._step(handle.value(), grad, [slot.value() for slot in slots],
                                  lambda setting: self._setting(setting, handle))
        for slot, new in zip(slots, found):
            slot.assign(new)
        handle.assign(value)

    def _resource_apply_sparse(self, grad, handle, indices):
        slots = [self.get_slot(handle, name) for name, _ in self.SLOTS]
        value, found = self._step(self._rows(handle, indices), grad, [self._rows(slot, indices) for slot in slots],
                                  lambda setting: self._setting(setting, handle))
        for slot, new in zip(slots, found):
            self._put_rows(slot, new, indices)
        self._put_rows(handle, value, indices)


def shrunk(value, by):
    """Return numbers that are closer to 0 by some length, 0 where they were closer than that."""
    return ops.sign(value) * ops.maximum(ops.abs(value) - by, ops.zeros_like(value))
