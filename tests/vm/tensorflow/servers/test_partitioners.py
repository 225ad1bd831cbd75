"""In how many parts variables are cut: as genuine TensorFlow's partitioners say."""
import pytest
from harness.expressions import check
from harness.subresults import each

PARTITIONERS = ["FixedShardsPartitioner(3)", "MinSizePartitioner(4, 2)", "MinSizePartitioner(4, 10)",
                "MinSizePartitioner()", "MaxSizePartitioner(4)", "MaxSizePartitioner(4, max_shards=2)",
                "MaxSizePartitioner(1024)", "MaxSizePartitioner(20)", "MinSizePartitioner(100, 3)"]


@each("partitioner", PARTITIONERS)
def test_parts(partitioner):
    check(f"""
p = tf.distribute.experimental.partitioners.{partitioner}
shapes = [[6, 1], [1, 5], [10, 3], [7], [100, 20]]
return [[list(p(tf.TensorShape(s), t)) for t in (tf.float32, tf.int64, tf.string)] for s in shapes]""", 0)


@pytest.mark.parametrize("wrong", ["MinSizePartitioner(0)", "MinSizePartitioner(1, 0)", "MaxSizePartitioner(0)",
                                   "MaxSizePartitioner(4, -1)", "Partitioner()(tf.TensorShape([1]), tf.int32)"])
def test_refusals(wrong):
    check(f"return tf.distribute.experimental.partitioners.{wrong}", 0)
