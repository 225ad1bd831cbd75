"""`tf.compat.v1` as programs of TensorFlow 2 use it, beside the genuine one."""
import inspect

import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine
from harness.subresults import each

v1 = ours.compat.v1
RNG = np.random.RandomState(0)
X, Y = RNG.randn(3, 4).astype("float32"), RNG.rand(3, 4).astype("float32")
IMAGE = RNG.rand(1, 5, 4, 3).astype("float32")


def arrays(value):
    """Return the arrays of a result."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    return [np.asarray(part.numpy() if hasattr(part, "numpy") else part) for part in parts]


CALLS = {
    "reduce_sum": lambda v: v.reduce_sum(X, reduction_indices=[1], keep_dims=True),
    "argmax": lambda v: v.argmax(X, dimension=1),
    "squeeze": lambda v: v.squeeze([[1, 2]], squeeze_dims=[0]),
    "expand_dims": lambda v: v.expand_dims([1, 2], dim=1),
    "where": lambda v: v.where([True, False, True], X, Y),
    "gather": lambda v: v.gather(X, [2, 0], axis=0),
    "shape": lambda v: v.shape(X, out_type=v.int64),
    "div": lambda v: v.div([-7, 7], 2),
    "to_int32": lambda v: v.to_int32(X * 3),
    "sparse_to_dense": lambda v: v.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [5, 6]),
    "string_split": lambda v: v.string_split(["a b", "c"]).values,
    "clip_by_average_norm": lambda v: v.clip_by_average_norm(X, 0.01),
    "count_nonzero": lambda v: v.count_nonzero([[0, 1], [1, 1]], axis=1),
    "batch_gather": lambda v: v.batch_gather([[1, 2], [3, 4]], [[1], [0]]),
    "setdiff1d": lambda v: v.setdiff1d([3, 1, 2, 1], [1]),
    "nn.softmax": lambda v: v.nn.softmax(X, dim=0),
    "nn.conv2d": lambda v: v.nn.conv2d(IMAGE, filter=np.ones((2, 2, 3, 1), "float32"), strides=[1, 1, 1, 1],
                                       padding="SAME"),
    "nn.max_pool": lambda v: v.nn.max_pool(value=IMAGE, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"),
    "nn.moments": lambda v: v.nn.moments(X, [0], keep_dims=True),
    "nn.dropout": lambda v: v.nn.dropout(X, keep_prob=1.0),
    "nn.softmax_cross_entropy_with_logits_v2": lambda v: v.nn.softmax_cross_entropy_with_logits_v2(Y, X),
    "nn.fused_batch_norm": lambda v: v.nn.fused_batch_norm(IMAGE, [1.0, 2.0, 3.0], [0.0, 0.0, 1.0])[:3],
    "image.resize": lambda v: v.image.resize_images(IMAGE, [3, 6]),
    "image.resize_aligned": lambda v: v.image.resize_bilinear(IMAGE, [3, 6], align_corners=True),
    "image.resize_nearest": lambda v: v.image.resize_nearest_neighbor(IMAGE, [3, 6]),
    "losses.mean_squared_error": lambda v: v.losses.mean_squared_error(Y, X),
    "losses.weighted": lambda v: v.losses.absolute_difference(Y, X, weights=[[1.0], [0.0], [2.0]]),
    "losses.mean": lambda v: v.losses.huber_loss(Y, X, delta=0.5, reduction=v.losses.Reduction.MEAN),
    "losses.none": lambda v: v.losses.log_loss(Y, Y, reduction="none"),
    "losses.hinge": lambda v: v.losses.hinge_loss(Y > 0.5, X),
    "losses.cosine": lambda v: v.losses.cosine_distance(Y, X, axis=1),
    "losses.pairwise": lambda v: v.losses.mean_pairwise_squared_error(Y, X, weights=[[1.0], [0.0], [2.0]]),
    "losses.sigmoid": lambda v: v.losses.sigmoid_cross_entropy(Y, X, label_smoothing=0.1),
    "losses.softmax": lambda v: v.losses.softmax_cross_entropy(Y, X, label_smoothing=0.1),
    "losses.sparse": lambda v: v.losses.sparse_softmax_cross_entropy([[1], [0], [3]], X, weights=[[1.0], [0.0], [2.0]]),
    "train.exponential_decay": lambda v: v.train.exponential_decay(0.1, 7, 5, 0.5, staircase=True)(),
    "train.polynomial_decay": lambda v: v.train.polynomial_decay(0.1, 13, 10, cycle=True)(),
    "train.cosine_decay": lambda v: v.train.cosine_decay(0.1, 3, 10, alpha=0.1)(),
    "train.cosine_decay_restarts": lambda v: v.train.cosine_decay_restarts(0.1, 25, 10, m_mul=0.5)(),
    "train.linear_cosine_decay": lambda v: v.train.linear_cosine_decay(0.1, 3, 10)(),
    "train.natural_exp_decay": lambda v: v.train.natural_exp_decay(0.1, 3, 10, 0.5)(),
    "train.inverse_time_decay": lambda v: v.train.inverse_time_decay(0.1, 3, 10, 0.5)(),
    "train.piecewise_constant": lambda v: [v.train.piecewise_constant(at, [1, 5], [1.0, 2.0, 3.0])() for at in (1, 9)],
}


@each("name", CALLS)
def test_as_genuine(name):
    mine, theirs = arrays(CALLS[name](v1)), arrays(CALLS[name](genuine.tf.compat.v1))
    for one, other in zip(mine, theirs, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        assert (one == other).all() if one.dtype.kind in "OS" else np.allclose(one, other, atol=1e-5)


OPTIMIZERS = {
    "GradientDescentOptimizer": {"learning_rate": 0.1},
    "MomentumOptimizer": {"learning_rate": 0.1, "momentum": 0.9, "use_nesterov": True},
    "AdagradOptimizer": {"learning_rate": 0.1},
    "AdadeltaOptimizer": {"learning_rate": 0.5},
    "AdamOptimizer": {"learning_rate": 0.1},
    "RMSPropOptimizer": {"learning_rate": 0.1, "momentum": 0.5, "centered": True},
    "FtrlOptimizer": {"learning_rate": 0.1, "l1_regularization_strength": 0.01, "l2_regularization_strength": 0.1},
    "ProximalGradientDescentOptimizer": {"learning_rate": 0.1, "l1_regularization_strength": 0.1},
    "ProximalAdagradOptimizer": {"learning_rate": 0.1, "l2_regularization_strength": 0.1},
}


def train(tf, name, sparse):
    """Return what a variable and the slots are after some steps."""
    settings = OPTIMIZERS[name]
    optimizer = getattr(tf.compat.v1.train, name)(**settings)
    x = tf.Variable([[1.0, -2.0], [0.5, 3.0], [2.0, 1.0]])
    for step in range(3):
        grad = tf.constant([[0.1, -0.2], [0.3, 0.1], [0.2, -0.4]]) * float(step + 1)
        if sparse:
            grad = tf.IndexedSlices(grad[:2], tf.constant([2, 2]), tf.constant([3, 2]))
        optimizer.apply_gradients([(grad, x)])
    return [x.numpy(), *(optimizer.get_slot(x, slot).numpy() for slot in optimizer.get_slot_names())]


@each("sparse", [False, True])
@each("name", OPTIMIZERS)
def test_optimizers(name, sparse):
    for one, other in zip(train(ours, name, sparse), train(genuine.tf, name, sparse), strict=True):
        assert np.allclose(one, other, atol=1e-6)


def test_signatures_keep_the_words():
    for path in ("reduce_mean", "argmin", "nn.conv2d", "nn.max_pool", "squeeze", "transpose", "while_loop"):
        mine, theirs = v1, genuine.tf.compat.v1
        for part in path.split("."):
            mine, theirs = getattr(mine, part), getattr(theirs, part)
        assert list(inspect.signature(mine).parameters) == list(inspect.signature(theirs).parameters), path


def test_savers_exchange_files(tmp_path):
    a, b = ours.Variable([1.0, 2.0]), ours.Variable(3)
    saver = v1.train.Saver({"a": a, "b": b}, max_to_keep=2)
    paths = [saver.save(None, str(tmp_path / "model"), global_step=step) for step in range(3)]
    assert saver.last_checkpoints == paths[1:] and not v1.train.checkpoint_exists(paths[0])
    other = genuine.tf.Variable([0.0, 0.0])
    genuine.tf.compat.v1.train.Saver({"a": other}).restore(None, paths[-1])
    assert other.numpy().tolist() == [1.0, 2.0]
    b.assign(0)
    saver.restore(None, ours.train.latest_checkpoint(str(tmp_path)))
    assert int(b) == 3
    with pytest.raises(ours.errors.NotFoundError, match="Key z not found"):
        v1.train.Saver({"z": b}).restore(None, paths[-1])


def test_variables_and_scopes():
    with v1.variable_scope("outer", initializer=ours.ones_initializer()):
        with v1.variable_scope("inner"):
            made = v1.get_variable("w", [2])
    assert made.name == "outer/inner/w:0" and made.numpy().tolist() == [1.0, 1.0]
    assert v1.scatter_update(made, [1], [5.0]).numpy().tolist() == [1.0, 5.0]
    step = v1.train.get_or_create_global_step()
    v1.train.GradientDescentOptimizer(0.5).minimize(lambda: made[0] * 2.0, global_step=step, var_list=[made])
    assert made.numpy()[0] == 0.0 and int(step) == 1


def test_sessions_are_made_and_do_not_run():
    config = v1.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    session = v1.Session(config=config)
    with pytest.raises(RuntimeError, match="The Session graph is empty"):
        session.run([])
    with pytest.raises(RuntimeError, match="tf.compat.v1.placeholder: .* use tf.keras.Input"):
        v1.placeholder(ours.float32)
    with pytest.raises(RuntimeError, match="disable_v2_behavior"):
        v1.disable_v2_behavior()
    with pytest.raises(AttributeError, match="use tf.keras.layers"):
        v1.layers.dense


def test_wrong_words():
    with pytest.raises(ValueError, match="both 'reduction_indices'"):
        v1.reduce_sum(X, axis=0, reduction_indices=0)
    with pytest.raises(TypeError, match="tf.compat.v1.argmax"):
        v1.argmax(X, axes=0)
    with pytest.raises(ValueError, match="Invalid Reduction Key"):
        v1.losses.mean_squared_error(Y, X, reduction="most")
