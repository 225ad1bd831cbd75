"""Datasets in files: snapshots, shards, fingerprints; datasets as tensors; debugging."""
import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from dragon.vm.shared.data import settings
from harness import genuine
from harness.expressions import check

PROGRAMS = [
    "return [sorted(d.snapshot(p, 'GZIP').as_numpy_iterator()) for _ in range(2)]",
    "return sorted(d.apply(tf.data.experimental.snapshot(p)).as_numpy_iterator())",
    "s = d.snapshot(p, shard_func=lambda x: x % 2, reader_func=lambda ds: ds.flat_map(lambda x: x))\n"
    "return [list(s.as_numpy_iterator()), list(s.as_numpy_iterator())]",
    "return d.snapshot(p, shard_func=lambda x: 1.5)",
    "return [d.snapshot(p).cardinality(), d.snapshot(p).element_spec == d.element_spec]",
    "d.save(p, shard_func=lambda x: x % 3)\nreturn sorted(tf.data.Dataset.load(p).as_numpy_iterator())",
    "d.save(p, shard_func=lambda x: x % 3)\n"
    "return list(tf.data.Dataset.load(p, reader_func=lambda ds: ds.flat_map(lambda x: x)).as_numpy_iterator())",
    "d.save(p)\nreturn len(tf.data.Dataset.load(p))",
    "d.save(p, shard_func=lambda x: 1.5)",
    "v = tf.data.experimental.to_variant(d)\n"
    "e = tf.data.experimental.from_variant(v, d.element_spec)\n"
    "return [v.dtype == tf.variant, v.shape, list(e.as_numpy_iterator())]",
    "return tf.data.experimental.to_variant(d).numpy()",
    "return tf.data.experimental.make_saveable_from_iterator(iter(d))",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program, tmp_path, monkeypatch):
    for place, face in (("mine", ours), ("theirs", genuine.tf)):
        monkeypatch.setattr(face, "_place_of_this_test", str(tmp_path / place), raising=False)
    check(f"d, p = tf.data.Dataset.range(7), tf._place_of_this_test\n{program}")


def counted(calls, last=5):
    def elements():
        for number in range(last):
            calls.append(number)
            yield number
    return ours.data.Dataset.from_generator(elements, output_signature=ours.TensorSpec([], ours.int32))


def test_elements_are_made_once(tmp_path):
    calls = []
    kept = counted(calls).snapshot(tmp_path)
    assert [list(kept.as_numpy_iterator()) for _ in range(3)] == [[0, 1, 2, 3, 4]] * 3 and len(calls) == 5


def test_what_was_left_is_made_again(tmp_path):
    calls = []
    kept = counted(calls).snapshot(tmp_path)
    next(iter(kept))
    assert list(kept.as_numpy_iterator()) == [0, 1, 2, 3, 4] and len(calls) == 6


def test_later_programs_read_what_is_made_in_the_same_way_alone(tmp_path):
    def make(factor):
        return ours.data.Dataset.range(3).map(lambda x: x * factor).snapshot(tmp_path)
    assert list(make(2).as_numpy_iterator()) == [0, 2, 4] and list(make(3).as_numpy_iterator()) == [0, 3, 6]
    folders = sorted(tmp_path.iterdir())
    assert len(folders) == 2 and list(make(2).as_numpy_iterator()) == [0, 2, 4]
    assert sorted(tmp_path.iterdir()) == folders


def test_fingerprints_are_those_of_what_is_made():
    def make(start, words=("a", "b")):
        table = np.arange(start, start + 3)
        rows = ours.data.Dataset.from_tensor_slices((table, list("abc"))).shuffle(3, seed=1).batch(2)
        return int(rows.map(lambda x, y: (x + len(words), y)).fingerprint().numpy())
    assert make(0) == make(0) != make(1) != make(0, ("a", "b", "c"))
    kept = ours.data.Dataset.range(2)
    before = kept.fingerprint().numpy()
    list(kept)
    assert kept.fingerprint().numpy() == before
    thing = object()
    with pytest.raises(NotImplementedError, match="fingerprint: got a dataset that is made of more"):
        kept.map(lambda x: (x, id(thing))[0]).fingerprint()


def test_wrong_compressions_are_refused(tmp_path):
    with pytest.raises(ValueError, match="got compression='ZZ'"):
        ours.data.Dataset.range(3).snapshot(tmp_path, "ZZ")


def test_debugging_runs_one_after_another(monkeypatch):
    monkeypatch.setattr(settings, "debugging", [False])
    ours.data.experimental.enable_debug_mode()
    assert settings.debugging == [True]
    seen = []
    rows = ours.data.Dataset.range(40).map(lambda x: seen.append(int(x)) or x, num_parallel_calls=4)
    assert list(rows.as_numpy_iterator()) == seen[-40:] == list(range(40))


def test_what_needs_services_says_so():
    with pytest.raises(NotImplementedError, match="expected a service of several processes"):
        ours.data.experimental.distributed_save(ours.data.Dataset.range(2), "x", "localhost:1")
    with pytest.raises(NotImplementedError, match="expected one with a model of its times"):
        ours.data.experimental.get_model_proto(iter(ours.data.Dataset.range(2)))
    with pytest.raises(TypeError, match="got variant=3"):
        ours.data.experimental.from_variant(3, ours.TensorSpec([]))
