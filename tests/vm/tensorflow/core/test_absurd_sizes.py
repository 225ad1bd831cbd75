"""Sizes beyond any memory, counts beyond any patience: each call ends at once, by an error or a result that fits."""
import resource

import numpy as np
import pytest

import dragon.vm.tensorflow as tf

keras = tf.keras
ABSURD = (10**12, 2**63 - 1, 2**64, -2**63, 1e30, float("inf"))
X = np.ones((2, 3), "float32")
IMAGE = np.ones((1, 4, 4, 1), "float32")
CALLS = {
    "keras.ops.diff": lambda n: keras.ops.diff(X, n),
    "keras.quantizers.compute_float8_scale": lambda n: keras.quantizers.compute_float8_scale(1.0, 1.0, 448.0, n),
    "keras.ops.arange": lambda n: keras.ops.arange(n),
    "keras.ops.repeat": lambda n: keras.ops.repeat(X, n),
    "keras.ops.tile": lambda n: keras.ops.tile(X, n),
    "keras.ops.eye": lambda n: keras.ops.eye(n),
    "keras.ops.eye beside": lambda n: keras.ops.eye(3, 3, n),
    "keras.ops.tri": lambda n: keras.ops.tri(n),
    "keras.ops.one_hot": lambda n: keras.ops.one_hot([1], n),
    "keras.ops.linspace": lambda n: keras.ops.linspace(0, 1, n),
    "keras.ops.hanning": lambda n: keras.ops.hanning(n),
    "keras.ops.pad": lambda n: keras.ops.pad(X, n),
    "keras.ops.bincount": lambda n: keras.ops.bincount([1], minlength=n),
    "keras.ops.roll": lambda n: keras.ops.roll(X, n),
    "keras.ops.rot90": lambda n: keras.ops.rot90(X, n),
    "keras.ops.unfold": lambda n: keras.ops.unfold(np.ones((1, 1, 4, 4), "float32"), 2, padding=n),
    "keras.ops.array_split": lambda n: keras.ops.array_split(X, n),
    "keras.ops.top_k": lambda n: keras.ops.top_k(X, n),
    "keras.ops.diagflat": lambda n: keras.ops.diagflat(X[0], n),
    "keras.ops.multi_hot": lambda n: keras.ops.multi_hot([1], n),
    "keras.ops.max_pool": lambda n: keras.ops.max_pool(IMAGE, n, 1, "same"),
    "keras.metrics.AUC": lambda n: keras.metrics.AUC(num_thresholds=n),
    "keras.metrics.PrecisionAtRecall": lambda n: keras.metrics.PrecisionAtRecall(0.5, num_thresholds=n),
    "keras.metrics.MeanIoU": lambda n: keras.metrics.MeanIoU(n),
    "keras.layers.Dense": lambda n: keras.layers.Dense(n)(X),
    "keras.layers.UpSampling2D": lambda n: keras.layers.UpSampling2D(n)(IMAGE),
    "keras.layers.ZeroPadding2D": lambda n: keras.layers.ZeroPadding2D(n)(IMAGE),
    "keras.layers.CategoryEncoding": lambda n: keras.layers.CategoryEncoding(n)(np.array([1])),
    "keras.utils.to_categorical": lambda n: keras.utils.to_categorical([1], n),
    "keras.utils.pad_sequences": lambda n: keras.utils.pad_sequences([[1]], n),
    "tf.range": lambda n: tf.range(n),
    "tf.tile": lambda n: tf.tile(X, [n, n]),
    "tf.repeat": lambda n: tf.repeat(X, n),
    "tf.ragged.constant": lambda n: tf.ragged.constant([], ragged_rank=n),
    "tf.eye": lambda n: tf.eye(n),
    "tf.one_hot": lambda n: tf.one_hot([1], n),
    "tf.linspace": lambda n: tf.linspace(0.0, 1.0, n),
    "tf.sequence_mask": lambda n: tf.sequence_mask([1], n),
    "tf.pad": lambda n: tf.pad(X, [[n, 0], [0, 0]]),
    "tf.pad mirrored": lambda n: tf.pad(X, [[n, 0], [0, 0]], "REFLECT"),
    "tf.split": lambda n: tf.split(X, n),
    "tf.math.bincount": lambda n: tf.math.bincount([1], minlength=n),
    "tf.math.confusion_matrix": lambda n: tf.math.confusion_matrix([1], [1], n),
    "tf.math.unsorted_segment_sum": lambda n: tf.math.unsorted_segment_sum([1.0], [0], n),
    "tf.linalg.diag": lambda n: tf.linalg.diag(X[0], k=n),
    "tf.linalg.diag_part": lambda n: tf.linalg.diag_part(X, k=(-n, n)),
    "tf.image.resize": lambda n: tf.image.resize(IMAGE, (n, n)),
    "tf.image.pad_to_bounding_box": lambda n: tf.image.pad_to_bounding_box(IMAGE, 0, 0, n, n),
    "tf.nn.avg_pool2d": lambda n: tf.nn.avg_pool2d(IMAGE, n, 1, "SAME"),
    "tf.signal.frame": lambda n: tf.signal.frame(X, 2, 1, pad_end=True, pad_value=n),
    "tf.signal.hann_window": lambda n: tf.signal.hann_window(n),
    "tf.sparse.to_dense": lambda n: tf.sparse.to_dense(tf.SparseTensor([[0]], [1.0], [n])),
    "tf.sparse.split": lambda n: tf.sparse.split(tf.sparse.eye(3), n, 0),
    "tf.sparse.to_indicator": lambda n: tf.sparse.to_indicator(tf.SparseTensor([[0]], [1], [1]), n),
    "tf.ragged.range": lambda n: tf.ragged.range(n),
    "tf.RaggedTensor.to_tensor": lambda n: tf.ragged.constant([[1]]).to_tensor(shape=(n, n)),
    "tf.random.categorical": lambda n: tf.random.categorical(X, n),
    "tf.random.Generator.split": lambda n: tf.random.Generator.from_seed(1).split(n),
    "tf.TensorArray": lambda n: tf.TensorArray(tf.float32, n),
    "tf.TensorShape.with_rank": lambda n: tf.TensorShape(None).with_rank(n),
    "tf.strings.ngrams": lambda n: tf.strings.ngrams(["a", "b"], n),
}
REFUSALS = (ValueError, TypeError, IndexError, OverflowError, MemoryError, NotImplementedError, tf.errors.OpError)


@pytest.fixture(autouse=True)
def little_memory():
    """Bound what a call may take, for as long as a test runs."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + (4 << 30), limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.parametrize("size", ABSURD, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_absurd_sizes(name, size):
    try:
        found = CALLS[name](size)
    except REFUSALS as error:
        assert str(error) or type(error) is MemoryError  # Python says no word of its own lists
    else:
        sizes = getattr(found, "shape", ())
        assert np.prod([1 if one is None else one for one in sizes], dtype=float) < 10**9
