"""Several replicas in one process: what genuine TensorFlow's MirroredStrategy gives on two virtual CPUs."""
import numpy as np
import pytest

from dragon.vm import tensorflow as tf

d = tf.distribute
CPU = tf.config.list_physical_devices("CPU")[0]


@pytest.fixture
def two():
    """Return a strategy of two replicas."""
    cut = tf.config.LogicalDeviceConfiguration
    tf.config.set_logical_device_configuration(CPU, [cut(), cut()])
    yield d.MirroredStrategy(["/cpu:0", "/cpu:1"])
    tf.config.set_logical_device_configuration(CPU, [cut()])


def number():
    """Return the replica's number as a float."""
    return tf.cast(d.get_replica_context().replica_id_in_sync_group, tf.float32)


def parts(strategy, value):
    """Return the values of all replicas as lists."""
    return [np.asarray(part).tolist() for part in strategy.experimental_local_results(value)]


def test_devices(two):
    assert [device.name for device in tf.config.list_logical_devices("CPU")] == ["/device:CPU:0", "/device:CPU:1"]
    assert len(tf.config.get_logical_device_configuration(CPU)) == 2
    assert two.num_replicas_in_sync == d.MirroredStrategy().num_replicas_in_sync == 2
    assert two.extended.worker_devices[1] == "/job:localhost/replica:0/task:0/device:CPU:1"
    assert d.MirroredStrategy(["/cpu:1"]).num_replicas_in_sync == 1
    with pytest.raises(AssertionError, match="No duplicates allowed"):
        d.MirroredStrategy(["/cpu:0", "cpu:0"])
    assert d.MirroredStrategy([]).num_replicas_in_sync == 2  # no devices, as no argument
    with pytest.raises(ValueError, match="one or more"):
        tf.config.set_logical_device_configuration(CPU, [])


def test_run_reduce_and_gather(two):
    assert two.run(lambda: 3) == 3 and two.run(lambda: None) is None
    rows = two.run(lambda x: x + 10 * number(), (tf.range(3.0),))
    assert parts(two, rows) == [[0, 1, 2], [10, 11, 12]]
    assert repr(two.run(number)) == ("PerReplica:{\n  0: <tf.Tensor: shape=(), dtype=float32, numpy=0.0>,\n"
                                     "  1: <tf.Tensor: shape=(), dtype=float32, numpy=1.0>\n}")
    assert two.reduce("SUM", rows, axis=None).numpy().tolist() == [10, 12, 14]
    assert float(two.reduce("SUM", rows, axis=0)) == 36 and float(two.reduce(d.ReduceOp.MEAN, rows, axis=0)) == 6
    uneven = two.run(lambda: tf.range(3.0 + number()))
    assert float(two.reduce("SUM", uneven, axis=0)) == 9
    assert float(two.reduce("MEAN", uneven, axis=0)) == pytest.approx(9 / 7)
    assert two.gather(uneven, 0).numpy().tolist() == [0, 1, 2, 0, 1, 2, 3]
    with pytest.raises(ValueError, match="expected equal"):
        two.reduce("SUM", uneven, axis=None)
    with pytest.raises(ValueError, match="A non-DistributedValues value 3.0"):
        two.reduce("SUM", 3.0, axis=None)
    assert two.reduce("MEAN", 3.0, axis=None) == 3.0
    whole = two.reduce("MEAN", two.run(lambda: d.get_replica_context().replica_id_in_sync_group), axis=None)
    assert float(whole) == 0.5 and whole.dtype == tf.float64
    slices = two.run(lambda: tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1])))
    assert two.reduce("SUM", slices, axis=None).indices.numpy().tolist() == [0, 0]


def test_replicas_meet(two):
    there = []

    def inside():
        context = d.get_replica_context()
        there.append(d.get_strategy() is two and not d.in_cross_replica_context())
        return (context.all_reduce("sum", number() + 1), context.all_reduce("mean", {"x": number()}),
                context.all_gather(tf.fill([2], number()), 0))
    total, mean, rows = two.run(inside)
    assert there == [True, True]
    assert parts(two, total) == [3, 3] and parts(two, mean["x"]) == [0.5, 0.5] and parts(two, rows)[1] == [0, 0, 1, 1]
    assert parts(two, two.run(tf.function(inside))[0]) == [3, 3]
    assert parts(two, tf.function(lambda: two.run(inside))()[0]) == [3, 3]
    seen = []

    def merged(strategy, x):
        seen.append(parts(strategy, x))
        return strategy.reduce("sum", x, axis=None)
    assert float(two.run(lambda: d.get_replica_context().merge_call(merged, args=(number() + 1,)))) == 3
    assert seen == [[1, 2]]
    with pytest.raises(RuntimeError, match="different number of replica_context"):
        two.run(lambda: number() if number() else d.get_replica_context().merge_call(merged, args=(number(),)))
    with pytest.raises(ZeroDivisionError):
        two.run(lambda: d.get_replica_context().all_reduce("sum", number()) / (1 // int(1 - number())))
    with pytest.raises(RuntimeError, match="cross-replica context"):
        two.run(lambda: two.run(number))
    assert parts(two, two.run(inside)[0]) == [3, 3]  # nothing is left of what failed


def test_gradients_meet(two):
    def inside():
        x = number() + 1
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = d.get_replica_context().all_reduce("sum", x * x) * x
        with tf.GradientTape() as other:
            other.watch(x)
            z = tf.reduce_sum(d.get_replica_context().all_gather(x[None], 0) * [2.0, 3.0])
        return tape.gradient(y, x), other.gradient(z, x)
    first, second = two.run(inside)
    assert parts(two, first) == [11, 17] and parts(two, second) == [4, 6]


def test_variables(two):
    aggregation, synchronization = tf.VariableAggregation, tf.VariableSynchronization
    outside = tf.Variable(0.0)
    with two.scope():
        own, mean = tf.Variable(1.0), tf.Variable(3.0, aggregation=aggregation.MEAN)
        total = tf.Variable(2.0, synchronization=synchronization.ON_READ, aggregation=aggregation.SUM)
        first = tf.Variable(5.0, synchronization=synchronization.ON_READ,
                            aggregation=aggregation.ONLY_FIRST_REPLICA)
    two.run(lambda: [total.assign_add(number() + 1), first.assign(number() + 7), own.assign(number()),
                     mean.assign(number()), outside.assign_add(1.0)])
    assert parts(two, total) == [3, 4] and float(total) == 7 and float(total + 1) == 8
    assert parts(two, own) == [0, 1] and float(own) == 0 and float(first) == 7 and float(outside) == 2
    assert float(mean) == 0.5
    two.run(lambda: mean.assign_add(number() + 1))
    assert float(mean) == 2
    total.assign(9.0)
    own.assign(11.0)
    assert parts(two, total) == [4.5, 4.5] and parts(two, own) == [11, 11]
    assert parts(two, two.run(lambda: own + number())) == [11, 12]
    two.extended.update(own, lambda v, y: v.assign(y), args=(two.run(number),))
    assert parts(two, own) == [0, 1]
    assert two.extended.variable_created_in_scope(own) and not two.extended.variable_created_in_scope(outside)


@pytest.mark.parametrize("size, expected", [
    (4, [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8], []]]), (5, [[[0, 1, 2], [3, 4]], [[5, 6], [7, 8]]]),
    (1, [[[value], []] for value in range(9)])])
def test_batches_are_shared_out(two, size, expected):
    data = two.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(size))
    assert [parts(two, batch) for batch in data] == expected
    assert isinstance(data, d.DistributedDataset) and isinstance(iter(data), d.DistributedIterator)
    assert "PerReplicaSpec(TensorSpec(shape=(None,), dtype=tf.int64" in repr(data.element_spec)
    assert int(data.cardinality) == len(expected)


def test_batches_of_functions(two):
    def make(context):
        assert context.num_input_pipelines == 1 and context.num_replicas_in_sync == 2
        return tf.data.Dataset.range(6).batch(context.get_per_replica_batch_size(4))
    data = two.distribute_datasets_from_function(make)
    assert [parts(two, batch) for batch in data] == [[[0, 1], [2, 3]], [[4, 5], []]]
    iterator = iter(data)
    assert parts(two, iterator.get_next()) == [[0, 1], [2, 3]] and bool(iterator.get_next_as_optional().has_value())
    assert not bool(iterator.get_next_as_optional().has_value())
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    options = d.InputOptions(experimental_replication_mode=d.InputReplicationMode.PER_REPLICA)
    data = two.distribute_datasets_from_function(
        lambda context: tf.data.Dataset.range(4).shard(2, context.input_pipeline_id).batch(1), options)
    assert [parts(two, batch) for batch in data] == [[[0], [1]], [[2], [3]]]
    with pytest.raises(ValueError, match="expected batches"):
        next(iter(two.experimental_distribute_dataset(tf.data.Dataset.range(4))))
    values = two.experimental_distribute_values_from_function(lambda context: context.replica_id_in_sync_group)
    assert values.values == (0, 1)


def test_optimizers_of_old_take_one_step(two):
    with two.scope():
        v, optimizer = tf.Variable([1.0, 2.0]), tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    found = []
    for _ in range(3):
        two.run(lambda: optimizer.minimize(lambda: tf.reduce_sum(v * v) * (1 + number()), var_list=[v]))
        found.append(v.numpy())
    assert np.allclose(found, [[0.4, 0.8], [-0.38, -0.76], [-0.854, -1.708]])
    two.run(lambda: optimizer.apply_gradients([(tf.constant([1.0, 2.0]) * (1 + number()), v)]))
    assert np.allclose(v, [-1.5806, -3.1612])


def test_rows_of_gradients(two):
    with two.scope():
        table, optimizer = tf.Variable(tf.ones([4, 2])), tf.keras.optimizers.SGD(0.5)
    rows = two.experimental_distribute_values_from_function(
        lambda context: tf.constant([[0, 1, 1], [1, 2, 2]][context.replica_id_in_sync_group]))

    def step(rows):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, table), table)])
    two.run(step, (rows,))
    assert table.numpy().tolist() == [[0, 0], [-2, -2], [-1, -1], [1, 1]]


def test_older_names(two):
    older = d.experimental
    assert older.CentralStorageStrategy().num_replicas_in_sync == 2
    assert older.MultiWorkerMirroredStrategy(older.CollectiveCommunication.RING).num_replicas_in_sync == 2
    options = older.CommunicationOptions(implementation="nccl")
    assert options.implementation is older.CommunicationImplementation.NCCL and options.bytes_per_pack == 0
    assert repr(older.ValueContext(1, 2)) == "tf.distribute.ValueContext(replica id 1,  total replicas in sync: 2)"
    with pytest.raises(ValueError, match="bytes_per_pack"):
        older.CommunicationOptions(-1)


def test_signatures_of_values_of_replicas(two):
    spread = two.experimental_distribute_dataset(tf.data.Dataset.from_tensors([1.0]).repeat(8).batch(4))

    @tf.function(input_signature=[spread.element_spec])
    def step(batch):
        return two.run(lambda x: 2 * x, args=(batch,))
    assert [parts(two, step(batch)) for batch in spread] == [[[[2], [2]], [[2], [2]]]] * 2
    with pytest.raises(TypeError, match="Can not cast"):
        step(tf.ones((2, 1)))


def test_names_that_libraries_use(two):
    value = two.call_for_each_replica(number)
    assert [float(part) for part in two.unwrap(value)] == [0, 1] and two.group(value) is value
    extended = two.extended
    assert extended.worker_devices_by_replica == [[name] for name in extended.worker_devices]
    assert extended.non_slot_devices([]) == extended.parameter_devices[0]
    assert extended.update_non_slot(None, lambda x: x + 1, (1,)) == 2
    assert extended.broadcast_to([1, 2], "/cpu:0").numpy().tolist() == [1, 2]
    assert float(extended.read_var(tf.Variable(2.0))) == 2
    assert len(list(extended.experimental_make_numpy_dataset(np.zeros((3, 2))))) == 3
    data = two.experimental_distribute_datasets_from_function(lambda context: tf.data.Dataset.range(4).batch(1))
    assert len(list(data)) == 2


def test_devices_that_are_not_there():
    for make in (d.TPUStrategy, d.cluster_resolver.TPUClusterResolver):
        with pytest.raises(ValueError, match="Please provide a TPU Name"):
            make()
    central = d.experimental.CentralStorageStrategy(["/cpu:0"])
    assert central.extended.parameter_devices == ("/cpu:0",)
