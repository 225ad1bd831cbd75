"""`tf.nn`: every function beside genuine TensorFlow's, with its gradient."""
import numpy as np
import pytest

import dragon.vm.tensorflow as mine
from harness import genuine
from harness.subresults import each

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 7, 6, 4)).astype("float32")
LINE, CUBE = RNG.standard_normal((2, 9, 4)).astype("float32"), RNG.standard_normal((1, 4, 5, 6, 2)).astype("float32")
F2, F1 = RNG.standard_normal((3, 3, 4, 5)).astype("float32"), RNG.standard_normal((3, 4, 5)).astype("float32")
F3, EACH = RNG.standard_normal((2, 3, 2, 2, 3)).astype("float32"), RNG.standard_normal((3, 3, 4, 2)).astype("float32")
MIX, BACK = RNG.standard_normal((1, 1, 8, 5)).astype("float32"), RNG.standard_normal((3, 3, 5, 4)).astype("float32")
FLAT, P = RNG.standard_normal((5, 6)).astype("float32"), RNG.random((5, 6)).astype("float32")
TABLE, TIMES = RNG.standard_normal((6, 3)).astype("float32"), RNG.standard_normal((5, 2, 4)).astype("float32")
IDS = np.array([[0, 5], [2, 2]])

# Name: (function of (tf, x), x).
CASES = {name: (lambda tf, x, name=name: getattr(tf.nn, name)(x), FLAT) for name in (
    "relu", "relu6", "crelu", "elu", "selu", "gelu", "silu", "swish", "leaky_relu", "sigmoid", "tanh", "softplus",
    "softsign", "softmax", "log_softmax", "l2_loss")}
CASES.update({
    "gelu by tanh": (lambda tf, x: tf.nn.gelu(x, approximate=True), FLAT),
    "silu of beta": (lambda tf, x: tf.nn.silu(x, 2.0), FLAT),
    "leaky_relu of alpha": (lambda tf, x: tf.nn.leaky_relu(x, alpha=0.4), FLAT),
    "softmax along 0": (lambda tf, x: tf.nn.softmax(x, axis=0), FLAT),
    "conv1d": (lambda tf, x: tf.nn.conv1d(x, F1, 2, "SAME"), LINE),
    "conv1d dilated": (lambda tf, x: tf.nn.conv1d(x, F1, 1, "VALID", dilations=2), LINE),
    "conv2d": (lambda tf, x: tf.nn.conv2d(x, F2, strides=[1, 2, 2, 1], padding="SAME"), X),
    "conv2d valid": (lambda tf, x: tf.nn.conv2d(x, F2, 1, "VALID"), X),
    "conv2d explicit": (lambda tf, x: tf.nn.conv2d(x, F2, 1, [[0, 0], [2, 1], [0, 3], [0, 0]]), X),
    "conv2d dilated": (lambda tf, x: tf.nn.conv2d(x, F2, 1, "SAME", dilations=[1, 2, 2, 1]), X),
    "conv3d": (lambda tf, x: tf.nn.conv3d(x, F3, [1, 1, 2, 1, 1], "SAME"), CUBE),
    "convolution": (lambda tf, x: tf.nn.convolution(x, F2, padding="SAME", strides=2), X),
    "depthwise": (lambda tf, x: tf.nn.depthwise_conv2d(x, EACH, [1, 2, 2, 1], "SAME"), X),
    "separable": (lambda tf, x: tf.nn.separable_conv2d(x, EACH, MIX, [1, 1, 1, 1], "VALID"), X),
    "transposed": (lambda tf, x: tf.nn.conv2d_transpose(x, BACK, [2, 14, 12, 5], 2, "SAME"), X),
    "transposed odd": (lambda tf, x: tf.nn.conv2d_transpose(x, BACK, [2, 13, 11, 5], 2, "SAME"), X),
    "transposed valid": (lambda tf, x: tf.nn.conv2d_transpose(x, BACK, [2, 9, 8, 5], 1, "VALID"), X),
    "max_pool": (lambda tf, x: tf.nn.max_pool(x, 2, 2, "SAME"), X),
    "max_pool2d": (lambda tf, x: tf.nn.max_pool2d(x, [1, 3, 2, 1], [1, 2, 1, 1], "VALID"), X),
    "max_pool1d": (lambda tf, x: tf.nn.max_pool1d(x, 3, 2, "SAME"), LINE),
    "avg_pool": (lambda tf, x: tf.nn.avg_pool(x, 3, 2, "SAME"), X),
    "avg_pool3d": (lambda tf, x: tf.nn.avg_pool3d(x, 2, 1, "VALID"), CUBE),
    "pool": (lambda tf, x: tf.nn.pool(x, [2, 2], "MAX", strides=[2, 2]), X),
    "softmax loss": (lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(
        labels=P / P.sum(1, keepdims=True), logits=x), FLAT),
    "sparse loss": (lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 5, 2, 2], logits=x),
                    FLAT),
    "sigmoid loss": (lambda tf, x: tf.nn.sigmoid_cross_entropy_with_logits(labels=P, logits=x), FLAT),
    "weighted loss": (lambda tf, x: tf.nn.weighted_cross_entropy_with_logits(P, x, 3.0), FLAT),
    "poisson loss": (lambda tf, x: tf.nn.log_poisson_loss(P * 4, x, compute_full_loss=True), FLAT),
    "average loss": (lambda tf, x: tf.nn.compute_average_loss(x, sample_weight=P, global_batch_size=8), FLAT),
    "ctc loss": (lambda tf, x: tf.nn.ctc_loss([[1, 2], [3, 0]], x, [2, 1], [5, 4], blank_index=0), TIMES),
    "moments": (lambda tf, x: tf.concat(tf.nn.moments(x, [0]), 0), FLAT),
    "weighted moments": (lambda tf, x: tf.concat(tf.nn.weighted_moments(x, [1], P), 0), FLAT),
    "batch norm": (lambda tf, x: tf.nn.batch_normalization(x, FLAT[0], P[0], P[1], P[2], 1e-3), FLAT),
    "l2_normalize": (lambda tf, x: tf.nn.l2_normalize(x, axis=1), FLAT),
    "l2_normalize all": (lambda tf, x: tf.nn.l2_normalize(x), FLAT),
    "lrn": (lambda tf, x: tf.nn.local_response_normalization(x, 2, 1.0, 0.3, 0.6), X),
    "embedding": (lambda tf, x: tf.nn.embedding_lookup(x, IDS), TABLE),
    "embedding bounded": (lambda tf, x: tf.nn.embedding_lookup(x, IDS, max_norm=1.0), TABLE),
    "bias_add": (lambda tf, x: tf.nn.bias_add(x, F1[0, :, 0]), X),
    "top_k": (lambda tf, x: tf.nn.top_k(x, 3).values, FLAT),
    "in_top_k": (lambda tf, x: tf.nn.in_top_k([0, 1, 5, 2, 2], x, 2), FLAT),
    "zero_fraction": (lambda tf, x: tf.nn.zero_fraction(tf.nn.relu(x)), FLAT),
    "space_to_depth": (lambda tf, x: tf.nn.space_to_depth(x[:, :6], 2), X),
    "depth_to_space": (lambda tf, x: tf.nn.depth_to_space(x, 2), X),
})
NOT_SMOOTH = {"embedding", "embedding bounded", "in_top_k", "zero_fraction"}


def evaluate(tf, name):
    """Return what a function gives, and the gradient of its weighted sum."""
    run, x = CASES[name]
    x = tf.constant(x)
    if name in NOT_SMOOTH:
        return run(tf, x).numpy(), None
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = run(tf, x)
        weights = np.cos(np.arange(np.prod(y.shape), dtype="float32")).reshape(tuple(y.shape))
        total = tf.reduce_sum(y * weights)
    return y.numpy(), tape.gradient(total, x).numpy()


@each("name", CASES)
def test_equals_tensorflow(name):
    (y, dx), (wanted, d_wanted) = evaluate(mine, name), evaluate(genuine.tf, name)
    assert y.dtype == wanted.dtype and y.shape == wanted.shape
    np.testing.assert_allclose(y, wanted, rtol=2e-5, atol=2e-5)
    if dx is not None:
        np.testing.assert_allclose(dx, d_wanted, rtol=1e-4, atol=1e-4)


def test_dropout():
    for tf in (mine, genuine.tf):
        tf.random.set_seed(3)
    np.testing.assert_array_equal(mine.nn.dropout(FLAT, 0.4).numpy(), genuine.tf.nn.dropout(FLAT, 0.4).numpy())
    noise = mine.nn.dropout(mine.ones((4, 5)), 0.5, noise_shape=[4, 1]).numpy()
    assert all(len(set(row)) == 1 for row in noise)


WRONG = {
    "rank": lambda tf: tf.nn.conv2d(tf.zeros((2, 3)), F2, 1, "SAME"),
    "padding": lambda tf: tf.nn.conv2d(tf.constant(X), F2, 1, "full"),
    "channels": lambda tf: tf.nn.conv2d(tf.zeros((1, 4, 4, 3)), F2, 1, "SAME"),
    "rate": lambda tf: tf.nn.dropout(tf.constant(FLAT), 1.5),
    "whole numbers": lambda tf: tf.nn.dropout(tf.constant([1, 2]), 0.5),
    "rank of a pool": lambda tf: tf.nn.max_pool(tf.constant(1.0), 2, 2, "SAME"),
    "rank of a transposed one": lambda tf: tf.nn.conv2d_transpose(tf.zeros((2, 3)), BACK, [1, 4, 4, 5], 2),
    "no table": lambda tf: tf.nn.embedding_lookup([], IDS),
    "scalar logits": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=1, logits=2.0),
    "layout": lambda tf: tf.nn.bias_add(tf.constant(FLAT), [1.0] * 6, 3),
    "no labels": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(logits=tf.constant(FLAT)),
}


@each("name", WRONG)
def test_wrong_arguments(name):
    # Genuine TensorFlow is not asked: on some of these it ends the process.
    with pytest.raises((ValueError, mine.errors.InvalidArgumentError)):
        WRONG[name](mine)


def test_missing_names_say_so():
    with pytest.raises(AttributeError, match="does not have it"):
        mine.io.decode_proto
