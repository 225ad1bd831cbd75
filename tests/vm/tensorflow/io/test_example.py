"""`tf.train.Example` and its kin: bytes, fields and errors as of the genuine messages."""
import pytest
from harness import genuine

from dragon.vm.tensorflow.core.examples import example as ours

VALUES = {
    "ints": lambda m: m.Feature(int64_list=m.Int64List(value=[1, -2, 2 ** 62])),
    "floats": lambda m: m.Feature(float_list=m.FloatList(value=[1.5, 0.1])),
    "bytes": lambda m: m.Feature(bytes_list=m.BytesList(value=[b"", b"ab\x00\xff"])),
    "empty": lambda m: m.Feature(),
    "empty_list": lambda m: m.Feature(int64_list=m.Int64List()),
}


def make_example(m):
    """Return an example with all values."""
    return m.Example(features=m.Features(feature={name: make(m) for name, make in VALUES.items()}))


@pytest.mark.parametrize("name", VALUES)
def test_feature_bytes(name):
    mine, theirs = VALUES[name](ours), VALUES[name](genuine.tf.train)
    assert mine.SerializeToString() == theirs.SerializeToString()
    assert str(mine) == str(theirs)
    assert mine.WhichOneof("kind") == theirs.WhichOneof("kind")


def test_examples_are_read_both_ways():
    mine, theirs = make_example(ours), make_example(genuine.tf.train)
    assert genuine.tf.train.Example.FromString(mine.SerializeToString()) == theirs
    read = ours.Example.FromString(theirs.SerializeToString())
    assert read == mine
    assert list(read.features.feature["ints"].int64_list.value) == [1, -2, 2 ** 62]
    assert read.features.feature["floats"].float_list.value[1] == pytest.approx(0.1)
    assert sorted(read.features.feature) == sorted(VALUES)


def test_fields_are_filled_step_by_step():
    made = []
    for m in (ours, genuine.tf.train):
        example = m.Example()
        example.features.feature["a"].int64_list.value.append(3)
        example.features.feature["a"].int64_list.value.extend([4, 5])
        example.features.feature["b"].bytes_list.value[:] = [b"x"]
        sequence = m.SequenceExample()
        sequence.context.feature["id"].int64_list.value.append(1)
        tokens = sequence.feature_lists.feature_list["tokens"]
        tokens.feature.add().int64_list.value.append(7)
        tokens.feature.add().int64_list.value.append(8)
        made.append((example.SerializeToString(deterministic=True), sequence.SerializeToString(deterministic=True),
                     example.HasField("features")))
    assert made[0] == made[1]


@pytest.mark.parametrize("make", [
    lambda m: m.Int64List(value=[1.5]), lambda m: m.Int64List(value=["a"]), lambda m: m.FloatList(value=["a"]),
    lambda m: m.BytesList(value=[1]), lambda m: m.BytesList(value=["text"]),
    lambda m: m.Int64List(value=[2 ** 70]), lambda m: m.Feature(other=1),
])
def test_wrong_values_raise(make):
    with pytest.raises((TypeError, ValueError)) as theirs:
        make(genuine.tf.train)
    with pytest.raises((TypeError, ValueError)) as mine:
        make(ours)
    assert issubclass(mine.type, theirs.type)
