"""`experimental.dynamic`: tensors and batches that operators work on as they are called, as DALI 2.4 has them."""
import threading

import numpy as np
import pytest

from dragon.vm.dali import types
from dragon.vm.dali.experimental import dynamic as ndd
from harness.subresults import each

VALUES = {"ndd": ndd, "np": np, "types": types, "t": ndd.tensor([1, 2, 3]),
          "f": ndd.tensor([[1.5, 2], [3, 4]], layout="HW"), "b": ndd.batch([[1, 2], [3, 4]]),
          "u": ndd.as_batch([np.ones((2, 3), np.uint8), np.ones((1, 3), np.uint8)], layout="HW")}
# What DALI gave: the type, the layout and the numbers of a tensor, or of the samples of a batch.
RECORDED = {
    "t": ("i32", None, [1, 2, 3]), "f[...,0]": ("f32", "H", [1.5, 3]), "f[0]": ("f32", "W", [1.5, 2]),
    "t[1:]": ("i32", None, [2, 3]), "t+1": ("i32", None, [2, 3, 4]), "t+1.5": ("f32", None, [2.5, 3.5, 4.5]),
    "1-t": ("i32", None, [0, -1, -2]), "t/2": ("f32", None, [0.5, 1, 1.5]), "t//2": ("i32", None, [0, 1, 1]),
    "t==2": ("bool", None, [False, True, False]), "-t": ("i32", None, [-1, -2, -3]), "~t": ("i32", None, [-2, -3, -4]),
    "abs(-t)": ("i32", None, [1, 2, 3]), "t%2": ("i32", None, [1, 0, 1]), "t<<1": ("i32", None, [2, 4, 6]),
    "ndd.tensor([-7.5, 7])%3": ("f32", None, [-1.5, 1]), "ndd.tensor([-7, 7])%-3": ("i32", None, [-1, 1]),
    "3%ndd.tensor([2, -2])": ("i32", None, [1, 1]), "ndd.tensor([-8])>>1": ("i32", None, [-4]),
    "b": ("i32", None, [[1, 2], [3, 4]]), "b.select(0)": ("i32", None, [1, 2]), "b.slice[0]": ("i32", None, [1, 3]),
    "b.slice[...,1]": ("i32", None, [2, 4]), "b.tensors[1]": ("i32", None, [3, 4]),
    "b+t[0]": ("i32", None, [[2, 3], [4, 5]]), "b+[1, 2]": ("i32", None, [[2, 4], [4, 6]]),
    "b*b": ("i32", None, [[1, 4], [9, 16]]), "ndd.cast(t, dtype=ndd.float32)": ("f32", None, [1, 2, 3]),
    "ndd.cast(t, dtype=types.FLOAT)": ("f32", None, [1, 2, 3]), "ndd.tensor(b)": ("i32", None, [[1, 2], [3, 4]]),
    "ndd.as_tensor(u, pad=True)": ("u8", "NHW", [[[1] * 3] * 2, [[1] * 3, [0] * 3]]),
    "ndd.tensor(np.float64([1]))": ("f64", None, [1]), "ndd.tensor(True)": ("bool", None, True),
    "ndd.tensor([1, 2], dtype=ndd.float32)": ("f32", None, [1, 2]), "ndd.reductions.sum(t)": ("i64", None, 6),
    "ndd.cat(t, t)": ("i32", None, [1, 2, 3, 1, 2, 3]), "ndd.math.max(t, 2)": ("i32", None, [2, 2, 3]),
    "ndd.pad(u)": ("u8", "HW", [[[1] * 3] * 2, [[1] * 3, [0] * 3]]), "ndd.Batch.broadcast(3, 2)": ("i32", None, [3, 3]),
    "ndd.transforms.translation(offset=b)": ("f32", "**", [[[1, 0, 1], [0, 1, 2]], [[1, 0, 3], [0, 1, 4]]]),
    "ndd.zeros(shape=[2], batch_size=2)": ("i32", None, [[0, 0], [0, 0]]),
    "ndd.slice(ndd.tensor([1, 2, 3, 4]), 1, 2, axes=[0])": ("i32", None, [2, 3]),
    "ndd.batch([], dtype=ndd.int32)": ("i32", None, []), "ndd.random.uniform(values=[7.0])": ("f32", None, 7),
    "ndd.permute_batch(b, indices=ndd.as_batch([1, 0]))": ("i32", None, [[3, 4], [1, 2]]),
    "ndd.brightness(ndd.as_batch([np.full((1, 1, 3), 8, np.uint8)] * 2, layout='HWC'), "
    "brightness=ndd.as_batch([1.0, 0.5]))": ("u8", "HWC", [[[[8] * 3]], [[[4] * 3]]]),
}
ERRORS = {"b[0]": TypeError, "len(b)": TypeError, "hash(t)": TypeError, "int(t[0])": TypeError,
          "ndd.resize(t, foo=3)": TypeError, "ndd.batch([])": ValueError, "ndd.batch(3)": TypeError,
          "ndd.batch([1, [1]])": TypeError, "ndd.tensor(u)": ValueError, "ndd.tensor(None)": ValueError,
          "ndd.tensor([1 << 40])": OverflowError, "t+b": RuntimeError, "ndd.dtype('int32')": ValueError,
          "ndd.nothing": AttributeError, "ndd.random.uniform(rng=3)": ValueError, "ndd.optical_flow(t)":
          NotImplementedError, "ndd.Device('tpu')": ValueError, "ndd.tensor(['a'])": TypeError,
          "ndd.random.RNG(state='x')": ValueError, "ndd.random.RNG(1).seed": AttributeError,
          "ndd.add": AttributeError, "b + ndd.batch([1])": ValueError, "ndd.set_num_threads(0)": ValueError}


@each("expression", RECORDED)
def test_as_dali(expression):
    kind, layout, numbers = RECORDED[expression]
    made = eval(expression, VALUES)
    arrays = [np.asarray(one) for one in made] if isinstance(made, ndd.Batch) else np.asarray(made)
    assert (made.dtype.name, made.layout) == (kind, layout)
    assert [one.tolist() for one in arrays] == numbers if isinstance(arrays, list) else arrays.tolist() == numbers


@each("expression", ERRORS)
def test_errors(expression):
    with pytest.raises(ERRORS[expression]):
        eval(expression, VALUES)


def test_texts_and_types():
    assert repr(VALUES["f"]) == ('Tensor(\n    [[1.5 2. ]\n     [3.  4. ]],\n    dtype=f32,\n    layout="HW",\n'
                                 '    device="cpu",\n    shape=(2, 2))')
    assert repr(ndd.as_batch([1, 3])) == ('Batch(\n    [1, 3],\n    dtype=i32,\n    device="cpu",\n    num_samples=2,\n'
                                          "    shape=[(), ()])")
    assert repr(ndd.float32) == "DType(kind=Kind.float, bits=32, exponent_bits=8, significand_bits=23)"
    assert ndd.dtype(types.INT32) == ndd.int32 == ndd.dtype(np.int32) and ndd.type_id(ndd.int32) == types.INT32
    assert (ndd.bfloat16.exponent_bits, ndd.uint8.bytes, ndd.bool.bits) == (8, 1, 8)
    assert str(VALUES["t"].device) == "cpu" and ndd.EvalMode.current() is ndd.EvalMode.eager
    with ndd.EvalMode.sync_full, ndd.EvalContext(num_threads=2):
        assert ndd.EvalMode.current() is ndd.EvalMode.sync_full and ndd.get_num_threads() == 2
        assert (VALUES["b"] + 1).shape == [(2,), (2,)]
    context, before = ndd.EvalContext(num_threads=7), ndd.get_num_threads()
    with context, context:
        assert ndd.get_num_threads() == 7
    assert ndd.get_num_threads() == before


def test_random_numbers_follow_their_rng():
    ndd.random.set_seed(3)
    first = np.asarray(ndd.random.uniform(shape=4))
    ndd.random.set_seed(3)
    assert first.tolist() == np.asarray(ndd.random.uniform(shape=4)).tolist()
    one = ndd.random.RNG(5)
    one()
    other = one.clone()
    made = [ndd.as_tensor(ndd.random.normal(batch_size=3, shape=2, rng=rng)).array for rng in (one, other)]
    assert np.array_equal(*made) and len(np.unique(made[0])) == 6 and one() == other()
    one, other = ndd.random.RNG(5), ndd.random.RNG(5)
    numbers = [one() for _ in range(9)]
    other.advance(7)
    assert [other(), other()] == numbers[7:] and len(set(numbers)) == 9
    other.set_state(f"5:{10 ** 18}")  # as quick as any other
    assert other() == ndd.random.RNG(state=f"5:{10 ** 18}")() != numbers[0]


@pytest.fixture
def folder(tmp_path):
    """Return a folder of pictures in two classes."""
    image = pytest.importorskip("PIL.Image")
    for name in "ab":
        (tmp_path / name).mkdir()
        for number in range(3):
            image.fromarray(np.full((4, 5, 3), 10 * number, np.uint8)).save(tmp_path / name / f"{number}.png")
    return tmp_path


def test_epochs_of_readers(folder):
    reader = ndd.readers.File(file_root=str(folder))
    assert [[label.item() for label in labels] for _ in range(2) for _, labels in reader.next_epoch(batch_size=4)] == [
        [0, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 0, 1]]
    with pytest.raises(RuntimeError, match="Cannot mix"):
        reader.next_epoch()
    reader = ndd.readers.File(file_root=str(folder), num_shards=4, shard_id=1)
    assert [[label.item() for _, label in reader.next_epoch()] for _ in range(3)] == [[0, 0], [1], [1, 1]]
    assert reader.get_metadata()["epoch_size"] == 6
    reader = ndd.readers.File(file_root=str(folder))
    asked, context = [], ndd.EvalContext(num_threads=3)
    for _ in reader.next_epoch(batch_size=3, ctx=context):
        asked.append(ndd.get_num_threads())
    assert asked == [ndd.get_num_threads()] * 2 and context.num_threads == 3
    assert len([thread for thread in threading.enumerate() if thread.name.startswith("dali at once")]) >= 3
    reader = ndd.readers.File(file_root=str(folder), random_shuffle=True, seed=7, enable_checkpointing=True)
    next(iter(reader.next_epoch(batch_size=2)))
    state = reader.get_state()
    rest = [label.item() for _, labels in reader.next_epoch(batch_size=2) for label in labels]
    again = ndd.readers.File(file_root=str(folder), random_shuffle=True, seed=7)
    again.set_state(state)
    assert [label.item() for _, labels in again.next_epoch(batch_size=2) for label in labels] == rest


def test_a_loop_over_pictures(folder):
    for files, labels in ndd.readers.File(file_root=str(folder)).next_epoch(batch_size=3):
        images = ndd.crop_mirror_normalize(ndd.resize(ndd.decoders.image(files), size=[6, 7]), mirror=1)
        assert images.shape == [(3, 6, 7)] * 3 and images.layout == "CHW"
    image = ndd.imread(folder / "a" / "1.png")
    assert (image.shape, image.layout, image.array.max()) == ((4, 5, 3), "HWC", 10)
    assert ndd.imread([str(folder / "b" / "2.png")] * 2).shape == [(4, 5, 3)] * 2
