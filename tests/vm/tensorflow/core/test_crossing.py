"""What strategies take beside devices, beside genuine TensorFlow's."""
import pytest

from dragon.vm import tensorflow as ours
from harness.expressions import check
from harness.subresults import each

EXPRESSIONS = """
d.CrossDeviceOps().reduce("sum", tf.ones(2), tf.ones(2))
d.ReductionToOneDevice().reduce(d.ReduceOp.MEAN, tf.ones(2), tf.ones(2))
d.ReductionToOneDevice().batch_reduce(d.ReduceOp.SUM, [(tf.ones(2), tf.ones(2)), (tf.zeros(1), tf.ones(2))])
d.ReductionToOneDevice().broadcast(tf.ones(2), tf.ones(2))
d.HierarchicalCopyAllReduce(num_packs=-1)
d.NcclAllReduce(num_packs=-1)
repr(d.InputOptions())
d.InputOptions(experimental_fetch_to_device=False).experimental_fetch_to_device
repr(d.RunOptions())
[mode.name for mode in d.InputReplicationMode]
isinstance(d.HierarchicalCopyAllReduce(), d.CrossDeviceOps)
isinstance(d.get_strategy().extended, d.StrategyExtended)
isinstance(3, d.DistributedValues)
"""
PROGRAM = """
d = tf.distribute
strategy = d.MirroredStrategy(["/cpu:0"], cross_device_ops=d.ReductionToOneDevice())
with strategy.scope(): v = tf.Variable(1.)
data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2), d.InputOptions())
return [isinstance(v, d.DistributedValues), isinstance(data, d.DistributedDataset),
        isinstance(iter(data), d.DistributedIterator), strategy.extended.variable_created_in_scope(v),
        len(strategy.extended.worker_devices), len(strategy.extended.parameter_devices),
        strategy.run(lambda: tf.ones(2), options=d.RunOptions())]
"""
CHOSEN = """
d = tf.distribute
d.experimental_set_strategy(d.OneDeviceStrategy("/cpu:0"))
found = [d.has_strategy(), type(d.get_strategy()).__name__]
d.experimental_set_strategy(None)
return [*found, d.has_strategy()]
"""


@each("text", EXPRESSIONS.strip().split("\n"))
def test_expression(text):
    check(f"d = tf.distribute\nreturn {text}")


@pytest.mark.parametrize("text", [PROGRAM, CHOSEN], ids=["in a scope", "chosen for good"])
def test_program(text):
    check(text.strip())


def test_what_is_refused():
    with pytest.raises(TypeError, match="expected a strategy or None"):
        ours.distribute.experimental_set_strategy(3)
    with ours.distribute.OneDeviceStrategy("/cpu:0").scope(), pytest.raises(RuntimeError, match="inside a"):
        ours.distribute.experimental_set_strategy(None)


def test_a_way_of_joining_that_is_none():
    strategy = ours.distribute.get_strategy()
    for join in (strategy.reduce, strategy.reduce_to):
        with pytest.raises(ValueError, match="got reduce_op='max', expected 'sum' or 'mean'"):
            join("max", 1.0, None)


def test_users_classes_are_their_own():
    class Mine(ours.distribute.StrategyExtended):
        pass
    assert not isinstance(ours.distribute.get_strategy(), Mine)
