"""Strategies of several replicas: in this process, where they take turns, and in others, which share memory."""

from dragon.core.capture import control
from dragon.core.capture.settings import is_capturing
from dragon.core.scopes import contextmanager
from dragon.vm.keras.core import global_state
from dragon.vm.keras.core.workers import Workers
from dragon.vm.shared import nest, strategies
from dragon.vm.shared.replicas.memory import Memory
from dragon.vm.shared.replicas.turns import Team
from dragon.vm.shared.replicas.values import PerReplica, is_spread, regroup, select
from dragon.vm.shared.tensors import placing, variable as variables
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.devices import device, engine_device
from dragon.vm.shared.tensors.slices import IndexedSlices
from dragon.vm.shared.tensors.tensor import Base, as_tensor, ops
from dragon.vm.tensorflow.core.flow import strategies as single
from dragon.vm.tensorflow.core.flow.strategies import (
    InputContext, ReduceOp, ReplicaContext, Strategy, ValueContext, reduce_op_of)

CROSS = "Method requires being in cross-replica context, use get_replica_context().merge_call()"


def _surroundings():
    """Return a function that opens, in another thread, what this one has open."""
    strategy, chosen = getattr(single._local, "strategy", None), getattr(single._local, "chosen", None)
    devices = placing.named_devices()
    scopes, creators = list(getattr(variables._local, "scopes", ())), getattr(variables._local, "creators", ())
    keras = {name: list(value) if isinstance(value, list) else value
             for name, value in vars(global_state._state).items()}

    @contextmanager
    def within():
        single._local.strategy, single._local.chosen = strategy, chosen
        variables._local.scopes, variables._local.creators = scopes, creators
        vars(global_state._state).clear()
        vars(global_state._state).update(keras)
        with placing.Scope(devices):
            yield
    return within


def _place(name):
    """Return the part of a device's full name that tells which of this process's it is."""
    return name[name.rindex("/device:"):]


class SpreadStrategy(Strategy):
    """What strategies of several replicas share; of one, they are as all others.

    Parameters
    ----------
    devices : Sequence[str]
        The devices of this process's replicas.
    workers : Workers, optional
        The processes; this one by default.
    cross_device_ops : CrossDeviceOps, optional
        How values of this process's replicas are joined.

    """

    def __init__(self, devices, workers=None, cross_device_ops=None):
        super().__init__()
        self._device, self._names = _place(devices[0]), devices
        self._workers = workers or Workers()
        self._joins = cross_device_ops
        strategies.exists[0] = strategies.exists[0] or self.is_spread
        places = [_place(name) for name in devices]
        self._places = [engine_device(place) for place in places]
        self.memory = Memory(len(devices), self._join, self.num_replicas_in_sync, self._places)
        self.team = Team(len(devices), self.memory, _surroundings)

    num_replicas_in_sync = property(lambda self: len(self._names) * self._workers.size,
                                    doc="int: how many replicas there are.")
    is_spread = property(lambda self: self.num_replicas_in_sync > 1, doc="bool: whether there are several replicas.")
    worker_devices = property(lambda self: tuple(self._names), doc="Tuple[str]: the devices of this process.")
    parameter_devices = worker_devices
    local_count = property(lambda self: len(self._names), doc="int: how many replicas this process has.")
    workers = property(lambda self: self._workers, doc="Workers: the processes.")
    worker_index = property(lambda self: self._workers.index, doc="int: this process's number.")
    worker_count = property(lambda self: self._workers.size, doc="int: how many processes there are.")

    def _require_cross(self):
        if strategies.local.replica is not None:
            raise RuntimeError(CROSS)

    # --- joining values

    def _join(self, kind, parts):
        """Return the sum or mean of the values of this process's replicas and of all others."""
        total = self._sum_here(parts)
        if self._workers.size > 1:
            total = self._workers.sum(total)
        if kind == "sum":
            return total
        is_exact = total.dtype.is_floating or total.dtype.is_complex
        return ops.div(total if is_exact else ops.cast(total, "float64"), self.num_replicas_in_sync)

    def _sum_here(self, parts):
        if isinstance(parts[0], IndexedSlices):
            values, indices = ([self.memory.placed(getattr(part, name), 0) for part in parts]
                               for name in ("values", "indices"))
            whole = IndexedSlices(ops.cat(values), ops.cat(indices), parts[0].dense_shape)
            return whole.whole() if self._workers.size > 1 else whole
        parts = [self.memory.placed(convert_to_tensor(part), 0) for part in parts]
        if self._joins is not None:
            return convert_to_tensor(self._joins.reduce(ReduceOp.SUM, PerReplica(parts), self._device))
        total = as_tensor(parts[0]) if isinstance(parts[0], Base) else parts[0]
        for part in parts[1:]:
            if tuple(part.shape) != tuple(total.shape):
                raise ValueError("tf.distribute: got values of replicas of the shapes "
                                 f"{[tuple(each.shape) for each in parts]}, expected equal ones")
            total = ops.add(total, part)
        return total

    def _parts_of(self, value):
        """Return the values of this process's replicas, or None for what is not theirs."""
        if isinstance(value, PerReplica):
            return list(value.values)
        return self.memory.parts(value) if getattr(value, "_dragon_is_variable", False) else None

    def reduce(self, reduce_op, value, axis=None):
        """Return the sum or mean of the replicas' values, and along an axis if one is named."""
        if not self.is_spread:
            return super().reduce(reduce_op, value, axis)
        self._require_cross()
        kind = reduce_op_of(reduce_op, "reduce")
        return nest.map_structure(lambda item: self._reduced(kind, item, axis), value)

    def _reduced(self, kind, value, axis):
        parts = self._parts_of(value)
        if parts is None:
            if axis is None and self.worker_count == 1:
                if kind is ReduceOp.SUM and not (isinstance(value, (int, float)) and value == 0):
                    raise ValueError(f"A non-DistributedValues value {value} cannot be reduced with the given reduce "
                                     f"op {kind}.")
                return value
            parts = [value] * self.local_count
        if axis is None:
            return self._join("sum" if kind is ReduceOp.SUM else "mean", parts)
        parts = [convert_to_tensor(part) for part in parts]
        total = self._join("sum", [ops.sum(part, axis) for part in parts])
        if kind is ReduceOp.SUM:
            return total
        axes = [axis] if isinstance(axis, int) else list(axis)
        counts = [convert_to_tensor(_size(part, axes), "int64") for part in parts]
        return ops.div(total, ops.cast(self._join("sum", counts), total.dtype if total.dtype.is_floating else
                                       "float64"))

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """Return the sum or mean of the replicas' values, which all devices have."""
        return self.reduce(reduce_op, value)

    def gather(self, value, axis):
        """Return the replicas' values one after the other."""
        if not self.is_spread:
            return super().gather(value, axis)
        self._require_cross()
        return nest.map_structure(lambda item: self._gathered(item, axis), value)

    def _gathered(self, value, axis):
        parts = self._parts_of(value)
        if parts is None:
            if self.worker_count == 1:
                return convert_to_tensor(value)
            parts = [value]
        return self._joined_along(axis, parts)

    def _joined_along(self, axis, parts):
        parts = [self.memory.placed(convert_to_tensor(part), 0) for part in parts]
        if not 0 <= axis < parts[0].ndim:
            raise ValueError(f"gather: got axis={axis} for a value of shape {tuple(parts[0].shape)}, expected 0 to "
                             f"{parts[0].ndim - 1}")
        return self._workers.gather(ops.cat(parts, axis), axis)

    # --- running

    @contextmanager
    def scope(self):
        """Use the strategy within a `with` block."""
        if self.is_spread:
            self._require_cross()
        before = strategies.local.watcher
        strategies.local.watcher = self._note if self.is_spread else before
        try:
            with super().scope():
                yield self
        finally:
            strategies.local.watcher = before

    def _note(self, variable):
        self.memory.note(variable)
        if self._workers.size > 1 and strategies.local.replica is None:
            self._workers.make_equal(variable)

    def variable_created_in_scope(self, v):
        """Return whether a variable is the strategy's."""
        return not self.is_spread or self.memory.has(v)

    def run(self, fn, args=(), kwargs=None, options=None):
        """Call a function on each replica; returns what all return.

        Values of replicas among the arguments are given to each its own; where results differ, `PerReplica` holds them.

        """
        if not self.is_spread:
            return super().run(fn, args, kwargs, options)
        self._require_cross()
        if is_capturing():
            control.give_up("a strategy runs several replicas, which take turns")

        def of(number):
            first = self._workers.index * self.local_count

            def call():
                strategies.local.watcher, watcher = self._note, strategies.local.watcher
                before, single._local.strategy = getattr(single._local, "strategy", None), self
                own_args, own_kwargs = select(number, (tuple(args), dict(kwargs or {})))
                try:
                    with device(_place(self._names[number])), single._context(
                            ReplicaContext(self, convert_to_tensor(first + number))):
                        return fn(*own_args, **own_kwargs)
                finally:
                    single._local.strategy, strategies.local.watcher = before, watcher
            return call
        with device(self._device):
            return regroup(self.team.run([of(number) for number in range(self.local_count)]))

    def experimental_local_results(self, value):
        """Return the values of this process's replicas as a tuple."""
        if not self.is_spread:
            return super().experimental_local_results(value)
        if nest.is_nested(value):
            return tuple(select(number, value) for number in range(self.local_count)) if is_spread(value) else (value,)
        parts = self._parts_of(value)
        return (value,) if parts is None else tuple(parts)

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Call a function with a variable; for each replica where values of replicas are among the arguments."""
        if not self.is_spread or not is_spread((args, kwargs or {})):
            return super().update(var, fn, args, kwargs, group)
        self._require_cross()
        self.memory.own(var)
        found = []
        for number in range(self.local_count):
            own_args, own_kwargs = select(number, (tuple(args), dict(kwargs or {})))
            self.memory.switch(number)
            try:
                found.append(fn(var, *own_args, **own_kwargs))
            finally:
                self.memory.switch(None)
        return None if group else regroup(found)

    # --- data

    def _input_context(self, number=None):
        """Return the part of the input of this process, or of one of its replicas."""
        if number is None:
            return InputContext(self.worker_count, self.worker_index, self.num_replicas_in_sync)
        return InputContext(self.num_replicas_in_sync, self.worker_index * self.local_count + number,
                            self.num_replicas_in_sync)

    def experimental_distribute_dataset(self, dataset, options=None):
        """Return what gives each replica its part of a dataset's batches."""
        if not self.is_spread:
            return super().experimental_distribute_dataset(dataset, options)
        from dragon.vm.tensorflow.core.flow.spread_data import DistributedDataset, of_whole_batches
        return DistributedDataset(self, of_whole_batches(self, dataset), dataset.element_spec, dataset.cardinality())

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """Return what gives each replica the batches of what a function makes of an InputContext."""
        if not self.is_spread:
            return super().distribute_datasets_from_function(dataset_fn, options)
        from dragon.vm.tensorflow.core.flow.spread_data import from_function
        return from_function(self, dataset_fn, options)

    def experimental_distribute_values_from_function(self, value_fn):
        """Return what a function makes of each replica's number."""
        if not self.is_spread:
            return super().experimental_distribute_values_from_function(value_fn)
        first = self.worker_index * self.local_count
        return PerReplica([value_fn(ValueContext(first + number, self.num_replicas_in_sync))
                           for number in range(self.local_count)])


def _size(part, axes):
    size = 1
    for axis in axes:
        size *= int(part.shape[axis])
    return size
