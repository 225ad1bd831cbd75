"""Values, dtypes and gradients of right calls where another rule than TensorFlow's lies near, beside genuine ones."""
import numpy as np

from dragon.vm import keras
from dragon.vm import tensorflow as ours
from harness import genuine
from harness.subresults import each

A, B = np.float32([[1, 2, 0, 3]]), np.float32([1, 1, -0.0, 4])
LABELS, LOGITS = np.float32([[1, 2, 3], [0, 0.5, 0]]), np.float32([[0.5, -1, 2], [3, 0, -2]])
NOT_NUMBER = np.float32([np.nan, 1, -2, 3])
MATRIX = np.array([[2.3, 9.0], [-0.08, 2.4]])
EMPTY, ROWS = np.zeros((2, 0), "float32"), np.float32([1, 2, 3, 4, 5, 6])
RAGGED = "tf.RaggedTensor.from_row_lengths({}, [2, 0, 3, 1])"
X = RAGGED.format("x")
PROGRAMS = [
    # Of two that are equal the first takes the gradient; of what is not a number the second.
    *((f"{name}(x, y)", A, B) for name in ("tf.maximum", "tf.minimum", "tf.keras.ops.maximum", "tf.keras.ops.minimum")),
    ("tf.maximum(x, 1.0)", A), ("tf.minimum(1.0, x)", A), ("tf.minimum(x, y)", NOT_NUMBER, B),
    ("tf.minimum(y, x)", NOT_NUMBER, B), ("tf.clip_by_value(x, 1.0, 3.0)", A), ("tf.clip_by_value(x, y, 0.5)", A, B),
    ("tf.clip_by_value(x, 1.0, 3.0)", NOT_NUMBER), ("tf.keras.ops.clip(x, 1, 3)", A),
    ("tf.experimental.numpy.clip(x, 1, 3)", A), ("tf.experimental.numpy.maximum(x, y)", A, B),
    # Labels whose sums are not one.
    *((f"tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=y, axis={axis})", LABELS, LOGITS)
      for axis in (0, -1)),
    *((f"tf.keras.ops.categorical_crossentropy(x, y, from_logits={logits})", LABELS, abs(LOGITS) + 1)
      for logits in (True, False)),
    # The lower triangle alone is read, and has a gradient of its own or half of both.
    ("tf.linalg.cholesky(x)", MATRIX), ("tf.linalg.logdet(x)", MATRIX), ("tf.linalg.eigvalsh(x)", MATRIX),
    ("tf.linalg.eigvalsh(x)", MATRIX * (1 + 0.5j)), ("tf.linalg.eigh(x)[0]", np.stack([MATRIX, MATRIX.T])),
    ("tf.linalg.lstsq(tf.stop_gradient(x), tf.stop_gradient(y), l2_regularizer=0.5, fast=False)", MATRIX,
     MATRIX[:, :1]),
    ("tf.linalg.lstsq(x, y, l2_regularizer=0.5)", MATRIX, MATRIX[:, :1]),
    *((f"tf.math.cumulative_logsumexp(tf.cast(x, tf.{dtype}), -1, exclusive=True, reverse={back})", A)
      for dtype in ("float16", "float32", "float64") for back in (True, False)),
    ("tf.sparse.to_dense(tf.sparse.from_dense([[0.0, 2.0], [1.0, 0.0]]), default_value=x)", np.float32(2)),
    ("tf.math.segment_max(tf.cast(x, tf.bfloat16), [0])", A),
    # Of nothing.
    ("tf.math.unsorted_segment_mean(x, [0, 1], 4) + 0.0 * tf.reduce_sum(x)", EMPTY),
    ("tf.boolean_mask(x, [True, False])", EMPTY), ("tf.math.segment_sum(x, [0, 0]) + 0.0 * tf.reduce_sum(x)", EMPTY),
    *((f"tf.signal.{name}(tf.cast(x, tf.complex64))", EMPTY) for name in ("fft", "ifft", "fft2d")),
    *((f"tf.signal.{name}(tf.stop_gradient(x))", EMPTY) for name in ("rfft", "rfft2d", "dct", "idct")),
    ("tf.signal.overlap_and_add(x, 1) + 0.0 * tf.reduce_sum(x)", np.zeros((0, 3), "float32")),
    ("tf.RaggedTensor.from_tensor(x, padding=1.0)", EMPTY),
    # Ragged ones.
    (f"tf.math.add_n([{X}, {X}])", ROWS), *((f"tf.split({X}, {sizes})[0]", ROWS) for sizes in (2, [1, 3])),
    (f"tf.split({X}, 1, axis=1)[0]", ROWS),
    *((f"tf.split({U}, [1, 0, 2], axis={axis})[2]", ROWS) for U, axis in (
        ("tf.RaggedTensor.from_uniform_row_length(x, 3)", -1),
        ("tf.RaggedTensor.from_row_lengths(tf.reshape(x, [2, 3]), [2, 0])", 2))),
    (f"tf.split(tf.RaggedTensor.from_uniform_row_length({X}, 2), [1, 1], axis=1)[1]", ROWS),
    (f"tf.one_hot(tf.cast({X}, tf.int32), 3)", ROWS), (f"tf.squeeze(tf.expand_dims({X}, 1), 1)", ROWS),
    (f"tf.squeeze(tf.expand_dims({X}, 2), [-1])", ROWS), (f"tf.squeeze(tf.expand_dims({X}, 0), [0])", ROWS),
    ("tf.ragged.stack([x, x[:2]])", ROWS), (f"tf.ragged.stack([{X}, {X}])", ROWS),
    *((f"tf.ragged.stack_dynamic_partitions(x, tf.constant([0, 0, 1, 1, 1, 0], tf.{dtype}), 3)", ROWS)
      for dtype in ("int32", "int64")),
    *((f"tf.reduce_mean(tf.cast({RAGGED.format('x[:6]')}, tf.{dtype}), axis={axis})", ROWS)
      for dtype in ("int8", "int16", "int32", "uint8") for axis in (0, 1, None)),
    *((f"tf.reduce_{name}({X}, axis=[0, 1], keepdims={keeps})", ROWS)
      for name in ("mean", "sum", "max", "prod") for keeps in (True, False)),
    (f"tf.reduce_mean(tf.cast({X}, tf.int32), axis=[-1, 0])", ROWS),
    # Strings.
    *((f"tf.strings.reduce_join(tf.constant([], tf.string, shape={shape}), {axis}, {keeps})", ROWS)
      for shape in ([0], [0, 3], [2, 0]) for axis in (None, 0, -1) for keeps in (True, False)),
    *((f"tf.strings.split([b'a,b', b' b  c ', b' b ba a', b''], {mark}, {most})", ROWS)
      for mark in (None, "' '", "'b'") for most in (-1, 0, 1, 2)),
    *((f"tf.strings.format('<{{}}>', tf.cast(tf.constant([0.299247533, 1e-9, 1e3, 1/3], tf.float64), tf.{dtype}), "
       "summarize=4)", ROWS) for dtype in ("float16", "float32", "float64")),
    ("tf.strings.format('{}', tf.reshape(tf.range(36), [3, 4, 3]), summarize=1)", ROWS),
    ("tf.strings.unsorted_segment_join(['', '', 'a', 'b', ''], [0, 0, 0, 1, 1], 2, separator='+')", ROWS),
    *((f"tf.strings.regex_replace([b'\\xc3\\x84\\xc3\\xb6 1a', b'\\xe2\\x82\\xac'], '{pattern}', 'x')", ROWS)
      for pattern in ("^.", "[äö]+", "[^a]", "\\\\w")),
    ("tf.strings.regex_full_match([b'\\xc3\\x84', b'aa'], '.')", ROWS),
]


def arrays_of(tf, value):
    """Return the arrays of a result."""
    if isinstance(value, tf.RaggedTensor):
        return [*arrays_of(tf, value.flat_values), *(splits.numpy() for splits in value.nested_row_splits)]
    if value.dtype == tf.bfloat16:
        return [tf.cast(value, tf.float32).numpy()]
    return [np.asarray(value.numpy())]


def run(tf, keras, program):
    """Return the arrays of a program's result, and of its gradients."""
    text, *arrays = program
    tensors = dict(zip("xy", map(tf.constant, arrays)))
    with tf.GradientTape() as tape:
        tape.watch(list(tensors.values()))
        found = eval(text.replace("tf.keras.", "keras."), {"tf": tf, "keras": keras, **tensors})
    target = found.flat_values if isinstance(found, tf.RaggedTensor) else found
    grads = [None] * len(arrays)
    if target.dtype.is_floating or target.dtype.is_complex:
        weights = tf.cast(tf.constant(np.cos(np.arange(np.prod(target.shape))).reshape(target.shape)), target.dtype)
        grads = tape.gradient(target, list(tensors.values()), weights)
    return arrays_of(tf, found), [np.zeros_like(x) if grad is None else tf.convert_to_tensor(grad).numpy()
                                  for grad, x in zip(grads, arrays)]


@each("program", PROGRAMS, ids=lambda program: program[0])
def test_values_and_gradients(program):
    theirs, mine = run(genuine.tf, genuine.keras, program), run(ours, keras, program)
    for one, other in zip(theirs, mine):
        assert [(x.shape, x.dtype) for x in other] == [(x.shape, x.dtype) for x in one]
        for wanted, found in zip(one, other):
            if wanted.dtype.kind in "OS":
                assert found.tolist() == wanted.tolist()
            else:
                np.testing.assert_allclose(found, wanted, rtol=1e-2 if "float16" in program[0] else 1e-5, atol=1e-6)


def test_gradients_of_functions_are_those_of_eager_calls():
    x, y = ours.constant(A[0]), ours.constant(B)

    def compute(x, y):
        return ours.maximum(x, y) * 2 + ours.clip_by_value(x, 0.0, 1.0)
    function = ours.function(compute)
    function(x, y)
    for _ in range(3):
        for call in (compute, function):
            with ours.GradientTape() as tape:
                tape.watch([x, y])
                found = call(x, y)
            grads = tape.gradient(found, [x, y])
            assert [grad.numpy().tolist() for grad in grads] == [[3, 2, 3, 0], [0, 0, 0, 2]]
