"""Checkpoints: TensorFlow's files, written and read in both directions."""
import os

import pytest

from dragon.vm import tensorflow as ours
from harness import genuine
from harness.expressions import check


def make_module(tf, factor):
    """Return a module with variables in lists and dictionaries."""
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0, 2.0, 3.0]] * 2) * factor
            self.w = tf.Variable(self.w)
            self.parts = [tf.Variable(3 * int(factor)), {"a": tf.Variable(4.0 * factor, dtype=tf.float64)}]
            self.flag = tf.Variable(factor > 1)
            self.half = tf.Variable(tf.cast([factor, 2.0], tf.bfloat16))
            self.shared = self.parts[0]
    return Model()


def values(module):
    return [module.w.numpy().tolist(), module.parts[0].numpy(), module.parts[1]["a"].numpy(), module.flag.numpy(),
            module.half.numpy().astype("float32").tolist()]


@pytest.mark.parametrize("direction", ["ours", "read", "written"])
def test_files_are_tensorflows(tmp_path, direction):
    writer = genuine.tf if direction == "read" else ours
    reader = genuine.tf if direction == "written" else ours
    source, target = make_module(writer, 2.0), make_module(reader, 5.0)
    saved = writer.train.Checkpoint(model=source, step=writer.Variable(7)).save(str(tmp_path / "folder" / "ckpt"))
    step = reader.Variable(0)
    found = reader.train.latest_checkpoint(str(tmp_path / "folder"))
    assert found == saved and found.endswith("ckpt-1")
    reader.train.Checkpoint(model=target, step=step).restore(found).assert_consumed()
    assert values(source) == values(target) and int(step) == 7
    names = [reader.train.list_variables(found), writer.train.list_variables(saved)]
    assert names[0] == names[1]
    key = "model/w/.ATTRIBUTES/VARIABLE_VALUE"
    assert reader.train.load_variable(found, key).tolist() == source.w.numpy().tolist()
    assert reader.train.load_checkpoint(found).has_tensor(key)


def test_many_keys(tmp_path):
    """More keys than one block of the table holds."""
    count = 300
    source = genuine.tf.train.Checkpoint(many=[genuine.tf.Variable(float(n)) for n in range(count)])
    target = [ours.Variable(0.0) for _ in range(count)]
    ours.train.Checkpoint(many=target).read(source.write(str(tmp_path / "a"))).assert_consumed()
    assert [float(v) for v in target] == list(range(count))
    again = [genuine.tf.Variable(0.0) for _ in range(count)]
    written = ours.train.Checkpoint(many=target).write(str(tmp_path / "b"))
    genuine.tf.train.Checkpoint(many=again).read(written).assert_consumed()
    assert [float(v) for v in again] == list(range(count))


@pytest.mark.parametrize("tf", ["ours", "genuine"])
def test_manager(tmp_path, tf):
    tf = ours if tf == "ours" else genuine.tf
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0.0))
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert manager.latest_checkpoint is None and manager.restore_or_initialize() is None
    for number in range(3):
        checkpoint.v.assign(float(number))
        manager.save()
    assert [os.path.basename(path) for path in manager.checkpoints] == ["ckpt-2", "ckpt-3"]
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-2.data-00000-of-00001", "ckpt-2.index",
                                            "ckpt-3.data-00000-of-00001", "ckpt-3.index"]
    checkpoint.v.assign(9.0)
    other = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert os.path.basename(other.restore_or_initialize()) == "ckpt-3" and float(checkpoint.v) == 2.0
    assert int(checkpoint.save_counter) == 3


def test_what_does_not_match(tmp_path):
    path = ours.train.Checkpoint(a=ours.Variable(1.0), b=ours.Variable(2.0)).save(str(tmp_path / "c"))
    status = ours.train.Checkpoint(a=ours.Variable(0.0)).restore(path)
    status.assert_existing_objects_matched()
    status.expect_partial()
    with pytest.raises(AssertionError, match="b/.ATTRIBUTES"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="'z/.ATTRIBUTES"):
        ours.train.Checkpoint(z=ours.Variable(0.0)).restore(path).assert_existing_objects_matched()
    with pytest.raises(ValueError, match="shape"):
        ours.train.Checkpoint(a=ours.Variable([1.0, 2.0])).restore(path)


def test_damaged_files(tmp_path):
    prefix = ours.train.Checkpoint(a=ours.Variable([1.0, 2.0])).write(str(tmp_path / "c"))
    with pytest.raises(ours.errors.NotFoundError):
        ours.train.load_checkpoint(str(tmp_path / "none"))
    with pytest.raises(ours.errors.NotFoundError):
        ours.train.load_variable(prefix, "b")
    data = tmp_path / "c.data-00000-of-00001"
    data.write_bytes(bytes(len(data.read_bytes())))
    with pytest.raises(ours.errors.DataLossError):
        ours.train.load_variable(prefix, "a/.ATTRIBUTES/VARIABLE_VALUE")
    index = tmp_path / "c.index"
    whole = index.read_bytes()
    for wrong in (b"", whole[:40], whole[:-1], bytes([whole[0] ^ 1]) + whole[1:]):
        index.write_bytes(wrong)
        with pytest.raises(ours.errors.DataLossError):
            ours.train.load_checkpoint(prefix)


def test_variables_made_later(tmp_path):
    class Late(ours.Module):
        v = None
    source = Late()
    source.v = ours.Variable(3.0)
    path = ours.train.Checkpoint(m=source).save(str(tmp_path / "c"))
    target = Late()
    status = ours.train.Checkpoint(m=target).restore(path)
    target.v = ours.Variable(0.0)
    status.assert_consumed()
    assert float(target.v) == 3.0


def test_moving_average():
    results = []
    for tf in (ours, genuine.tf):
        average, variable = tf.train.ExponentialMovingAverage(0.9, num_updates=3), tf.Variable([1.0, 2.0])
        average.apply([variable])
        variable.assign([3.0, 5.0])
        average.apply([variable])
        results.append(average.average(variable).numpy().tolist())
    assert results[0] == pytest.approx(results[1])


PLACES = """
import os, tempfile
def run(thing, step):
    place = os.path.join(tempfile.mkdtemp(), "ck")
    checkpoint = tf.train.Checkpoint(thing=thing)
    before = [step(), step()]
    path = checkpoint.save(place)
    after = [step(), step(), step()]
    checkpoint.restore(path)
    again = [step(), step()]
    return before, after, again
"""


@pytest.mark.parametrize("lines", [
    "data = iter(tf.data.Dataset.range(10).map(lambda x: x * 2))\nreturn run(data, lambda: next(data))",
    "data = iter(tf.data.Dataset.range(10).batch(2))\nreturn run(data, lambda: data.get_next())",
    "data = iter(tf.data.Dataset.range(20).repeat())\n"
    "return run(data, lambda: data.get_next_as_optional().get_value())",
    "numbers = tf.random.Generator.from_seed(3)\nreturn run(numbers, lambda: numbers.normal([2]))"])
def test_iterators_and_generators_go_on_where_they_were(lines):
    check(PLACES + lines)


def test_iterator_of_another_process(tmp_path):
    one, other = iter(ours.data.Dataset.range(10)), iter(ours.data.Dataset.range(10))
    for _ in range(4):
        next(one)
    path = ours.train.Checkpoint(data=one).save(str(tmp_path / "ck"))
    ours.train.Checkpoint(data=other).restore(path)
    assert int(next(other)) == 4 and int(next(one)) == 4
