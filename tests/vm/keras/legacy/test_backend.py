"""What `tf.keras.backend` has of old, beside genuine Keras's: every function, with its arguments."""
import numpy as np
import pytest
import tensorflow as genuine

from dragon.vm import tensorflow as dragon
from harness.subresults import each

DRAW = np.random.RandomState(0)
A, B, M = (DRAW.normal(size=shape).astype("float32") for shape in ((2, 3, 4), (2, 4, 5), (2, 5)))
P = np.exp(M) / np.exp(M).sum(1, keepdims=True)
IMAGE, VOLUME = DRAW.rand(2, 6, 6, 3).astype("float32"), DRAW.rand(1, 4, 4, 4, 2).astype("float32")
KERNEL, POINTS = DRAW.rand(3, 3, 3, 2).astype("float32"), DRAW.rand(1, 1, 6, 2).astype("float32")
YES, ONE, LABELS = (P > 0.2).astype("float32"), np.eye(5, dtype="float32")[:2], np.array([[1, 2, 0], [0, 1, 1]])
MASK = np.array([[True, False, True], [False, True, False]])
STEPS = np.abs(np.sin(np.arange(40.0))).astype("float32").reshape(2, 5, 4)
STEPS /= STEPS.sum(-1, keepdims=True)


def step(x, states):
    return x + states[0] * (states[1] if len(states) > 1 else 1.0), [x + states[0]]


def written(K, write):
    variable = K.variable([1.0, 2.0])
    write(variable)
    return variable


# What is called, with K for the module and `t` for what makes tensors.
CALLS = {
    **{name: lambda K, t, name=name: getattr(K, name)(t(A)) for name in """abs cos exp round sigmoid sign sin softplus
       softsign square tanh sqrt hard_sigmoid elu relu softmax l2_normalize max min mean prod std sum var argmax argmin
       cumsum cumprod flatten batch_flatten expand_dims int_shape ndim dtype count_params ones_like zeros_like shape
       transpose cast_to_floatx get_value eval is_sparse stop_gradient to_dense""".split()},
    **{name: lambda K, t, name=name: getattr(K, name)(t(A), t(A * A)) for name in """equal greater greater_equal less
       less_equal maximum minimum not_equal""".split()},
    **{f"{name} over axes": lambda K, t, name=name: getattr(K, name)(t(A), axis=(0, 2), keepdims=True)
       for name in "max min mean prod std sum var".split()},
    "all, any": lambda K, t: [K.all(t(A > 0), axis=1), K.any(t(A > 0))], "mean of truth": lambda K, t: K.mean(t(A > 0)),
    "log, pow": lambda K, t: [K.log(t(A * A + 1)), K.pow(t(A), 2)], "cast": lambda K, t: K.cast(t(A), "int32"),
    "clip": lambda K, t: [K.clip(t(A), 0, 0.5), K.clip(t(A), 0.5, 0.2), K.clip(t(A), None, 0.1)],
    "elu of alpha": lambda K, t: K.elu(t(A), 0.3), "softmax of axes": lambda K, t: K.softmax(t(A), axis=(1, 2)),
    "relu": lambda K, t: [K.relu(t(A), 0.1, 0.5, 0.2), K.relu(t(A), max_value=6), K.relu(t(A), 0.2)],
    "arange": lambda K, t: [K.arange(5), K.arange(-3), K.arange(1, 6, 2, "float32")],
    "batch_dot": lambda K, t: [K.batch_dot(t(A), t(B)), K.batch_dot(t(M), t(M), 1), K.batch_dot(t(A), t(A), axes=2),
                               K.batch_dot(t(A), t(M[:, :4]), axes=(2, 1)), K.batch_dot(t(A), t(A), axes=(1, 1))],
    "dot": lambda K, t: [K.dot(t(A), t(B[0])), K.dot(t(A[0]), t(B[0])), K.dot(t(A), t(B))],
    "concatenate, stack": lambda K, t: [K.concatenate([t(A), t(A)]), K.stack([t(A), t(A)], 1)],
    "gather, one_hot": lambda K, t: [K.gather(t(A), t([1, 0])), K.one_hot(t([1, 0]), 3)],
    "shapes": lambda K, t: [K.permute_dimensions(t(A), (2, 0, 1)), K.reshape(t(A), (6, 4)), K.reverse(t(A), 1),
                            K.squeeze(t(A[:1]), 0), K.tile(t(A), (1, 2, 1)), K.tile(t(A[0, 0]), 2)],
    "repeat": lambda K, t: [K.repeat(t(M), 3), K.repeat_elements(t(A), 2, 1)],
    "binary_crossentropy": lambda K, t: [K.binary_crossentropy(t(YES), t(P)), K.binary_crossentropy(t(YES), t(M), True),
                                         K.binary_focal_crossentropy(t(YES), t(M), True, from_logits=True)],
    "categorical_crossentropy": lambda K, t: [K.categorical_crossentropy(t(ONE), t(P)),
                                              K.categorical_crossentropy(t(ONE), t(M), from_logits=True),
                                              K.categorical_focal_crossentropy(t(ONE), t(P))],
    "sparse_categorical_crossentropy": lambda K, t: [
        K.sparse_categorical_crossentropy(t([1, 2]), t(P)), K.sparse_categorical_crossentropy(t(LABELS), t(A), True),
        K.sparse_categorical_crossentropy(t(LABELS), t(A), True, ignore_class=1)],
    "conv1d": lambda K, t: K.conv1d(t(A), t(B[:, :, :2]), padding="causal", dilation_rate=2),
    "conv2d": lambda K, t: K.conv2d(t(IMAGE), t(KERNEL), (2, 2), "same"),
    "conv3d": lambda K, t: K.conv3d(t(VOLUME), t(np.ones((2, 2, 2, 2, 1), "float32"))),
    "depthwise_conv2d": lambda K, t: K.depthwise_conv2d(t(IMAGE), t(KERNEL)),
    "separable_conv2d": lambda K, t: K.separable_conv2d(t(IMAGE), t(KERNEL), t(POINTS)),
    "pools": lambda K, t: [K.pool2d(t(IMAGE), (2, 2), (2, 2)), K.pool2d(t(IMAGE), (3, 3), (1, 1), "same", None, "avg"),
                           K.pool3d(t(VOLUME), (2, 2, 2), (2, 2, 2), pool_mode="avg")],
    "bias_add": lambda K, t: [K.bias_add(t(A), t(A[0, 0])), K.bias_add(t(A), t(A[0])),
                              K.bias_add(t(IMAGE), t(IMAGE[0, 0, :, 0]), "channels_first")],
    "batch_normalization": lambda K, t: K.batch_normalization(t(A), 0.5, 2.0, 1.0, 3.0),
    "padding": lambda K, t: [K.temporal_padding(t(A), (2, 1)), K.spatial_2d_padding(t(IMAGE)),
                             K.spatial_3d_padding(t(VOLUME), ((0, 1), (2, 0), (1, 1)))],
    "resizing": lambda K, t: [K.resize_images(t(IMAGE), 2, 3, "channels_last"),
                              K.resize_images(t(IMAGE), 2, 2, "channels_last", "bilinear"),
                              K.resize_volumes(t(VOLUME), 1, 2, 3, "channels_last")],
    "variables": lambda K, t: [K.eye(3), K.ones((2, 2)), K.zeros((2,), "int32"), K.constant(3, shape=(2, 2))],
    "writes": lambda K, t: [
        K.update_add(K.variable([1.0, 2.0]), [1.0, 1.0]), K.update_sub(K.variable([1.0, 2.0]), [1.0, 1.0]),
        K.update(K.variable([1.0, 2.0]), [7.0, 7.0]), written(K, lambda x: K.set_value(x, [5, 6])),
        written(K, lambda x: K.moving_average_update(x, t([3.0, 3.0]), 0.9)),
        K.batch_get_value([written(K, lambda x: K.batch_set_value([(x, [5, 6])]))])],
    "switch": lambda K, t: [K.switch(t(True), lambda: t(A), lambda: t(A * 2)),
                            K.switch(t(A[:, :1, 0] > 0), t(A[:, :, 0]), t(A[:, :, 1]))],
    "folds": lambda K, t: [K.map_fn(lambda x: x * 2, t(A)), K.foldl(lambda x, y: x * 0.5 + y, t(A)),
                           K.foldr(lambda x, y: x * 0.5 + y, t(A), t(A[0]))],
    "rnn": lambda K, t: [
        K.rnn(step, t(A), [t(A[:, 0])]), K.rnn(step, t(A), [t(A[:, 0])], mask=t(MASK), go_backwards=True),
        K.rnn(step, t(A), [t(A[:, 0])], constants=[t(2.0)], return_all_outputs=False),
        K.rnn(step, t(A), [t(A[:, 0])], mask=t(MASK), zero_output_for_mask=True),
        K.rnn(step, t(A), [t(A[0])], time_major=True)],
    "in_top_k": lambda K, t: K.in_top_k(t(M), t([1, 2]), 2),
    "ctc": lambda K, t: [K.ctc_batch_cost(t([[1, 2], [0, 1]]), t(STEPS), t([[5], [4]]), t([[2], [1]])),
                         K.ctc_decode(t(STEPS), t([5, 4]))],
    "shapes of draws": lambda K, t: [tuple(x.shape) for x in (
        K.random_uniform((3, 2)), K.random_normal((3,), seed=1), K.random_bernoulli((3,), 0.5),
        K.truncated_normal((3,)), K.dropout(t(A), 0.5, seed=1), K.random_normal_variable((2,), 0.0, 1.0),
        K.random_uniform_variable((2,), 0.0, 1.0))],
}


def plain(value):
    """Return a result as arrays."""
    if isinstance(value, (list, tuple, map)):
        return [plain(item) for item in value]
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def assert_same(mine, theirs):
    if isinstance(mine, list):
        assert len(mine) == len(theirs)
        for one, other in zip(mine, theirs):
            assert_same(one, other)
    else:
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        if mine.dtype.kind in "fc":
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(mine, theirs)


@each("name", CALLS)
def test_results_are_those_of_genuine_keras(name):
    assert_same(*(plain(CALLS[name](side.keras.backend, side.constant)) for side in (dragon, genuine)))


@each("call", [
    lambda K, t: K.batch_dot(t(M[0]), t(M)),
    lambda K, t: K.batch_dot(t(A), t(B), axes=(1, 1)), lambda K, t: K.batch_dot(t(A), t(B), axes=0),
    lambda K, t: K.bias_add(t(A), t(IMAGE)), lambda K, t: K.conv2d(t(IMAGE), t(KERNEL), padding="odd"),
    lambda K, t: K.pool2d(t(IMAGE), (2,)), lambda K, t: K.pool2d(t(IMAGE), (2, 2), pool_mode="odd"),
    lambda K, t: K.softmax(t(A[0, 0])), lambda K, t: K.repeat(t(A), 2), lambda K, t: K.temporal_padding(t(A), (1,)),
    lambda K, t: K.spatial_2d_padding(t(IMAGE), ((1, 1),)),
    lambda K, t: K.conv2d(t(IMAGE), t(KERNEL), data_format="odd"),
    lambda K, t: K.switch(t(A > 0), t(A[0]), t(A[0]))])
def test_what_does_not_fit_is_a_value_error(call):
    for side in (dragon, genuine):
        with pytest.raises(ValueError):
            call(side.keras.backend, side.constant)


def test_gradients_are_those_of_tapes():
    for side in (dragon, genuine):
        with pytest.raises(RuntimeError):
            side.keras.backend.gradients(side.constant(1.0), [side.constant(1.0)])


def test_sparse_tensors_become_dense():
    for side in (dragon, genuine):
        sparse = side.sparse.from_dense(MASK.astype("float32"))
        assert side.keras.backend.is_sparse(sparse)
        np.testing.assert_array_equal(side.keras.backend.to_dense(sparse), MASK)
