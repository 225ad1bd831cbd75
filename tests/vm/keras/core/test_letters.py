"""Wrong arguments are answered by an error that says so, not by what broke inside; users' own errors stay theirs."""
import numpy as np
import pytest

import dragon.vm.tensorflow as tf
from harness.subresults import each

keras = tf.keras
X = np.ones((2, 3), "float32")


class Box:
    """An object whose array is none."""

    def __array__(self, dtype=None, copy=None):
        return 3


WRONG = {
    "a policy of a number": lambda: keras.dtype_policies.AWQDTypePolicy(-1.5),
    "a policy of a configuration": lambda: keras.metrics.Accuracy(dtype={"class_name": "x", "config": {}}),
    "a graph of an array": lambda: keras.Function(1, X),
    "devices of a list": lambda: keras.distribution.list_devices(["cpu"]),
    "a layout without a mesh": lambda: keras.distribution.TensorLayout((None,), device_mesh=(1,)),
    "rules of text": lambda: keras.distribution.set_distribution("none"),
    "a distribution of numbers": lambda: keras.initializers.VarianceScaling(distribution=X),
    "a mask of a number": lambda: keras.layers.Softmax()(X, mask=-1.0),
    "a list for one input": lambda: keras.layers.AveragePooling2D(2)([np.ones((2, 4, 4, 3), "float32")]),
    "no axes to pool": lambda: keras.layers.AdaptiveAveragePooling1D(3)(np.float32(1.0)),
    "a build with a dict": lambda: keras.layers.Minimum().build({"a": 1}),
    "layers of text": lambda: keras.layers.Pipeline("same"),
    "interpolation by a tensor": lambda: keras.layers.UpSampling2D(interpolation=X),
    "an equation of sizes": lambda: keras.layers.EinsumDense((3,), 2),
    "axes that are not there": lambda: keras.layers.Dot(7)([X, X]),
    "a metric named by a number": lambda: keras.metrics.Accuracy(name=2**40),
    "a loss named by a list": lambda: keras.losses.MeanSquaredError(name=[1]),
    "a score of nothing": lambda: keras.metrics.F1Score().result(),
    "the dtype of a number": lambda: keras.ops.stop_gradient("text"),
    "blocks of none": lambda: keras.ops.nn.space_to_depth(np.ones((1, 4, 4, 1), "float32"), 0),
    "an optimizer of nothing": lambda: keras.optimizers.deserialize({}),
    "an optimizer within an array": lambda: keras.mixed_precision.LossScaleOptimizer(X),
    "a quantizer of numbers": lambda: keras.quantizers.Int8QuantizationConfig(weight_quantizer=X),
    "features of a list": lambda: keras.utils.FeatureSpace([X]),
    "the name of text": lambda: keras.saving.get_registered_name("text"),
    "callbacks of numbers": lambda: keras.callbacks.CallbackList([1]),
    "weights of a number": lambda: keras.layers.Embedding(3, 2, weights=-1.0)(np.array([1])),
    "logs of a number": lambda: keras.callbacks.CallbackList([]).on_test_begin(1),
    "windows of vectors": lambda: keras.layers.AdaptiveAveragePooling2D(3).call(tf.constant(X)),
    "boxes of numbers": lambda: keras.layers.CenterCrop(2, 2).transform_single_bounding_box(X, {}),
    "a quantizer without a range": lambda: keras.quantizers.Int4QuantizationConfig({}, None, None),
    "all bits there are": lambda: keras.quantizers.fake_quant_with_min_max_vars(X, 0, 1, num_bits=2**62),
    "a state of bytes": lambda: keras.optimizers.SGD().load_own_variables(b"bytes"),
    "axes beyond all": lambda: keras.ops.tensordot(X, X, 2**31),
    "fewer axes than none": lambda: keras.ops.tensordot(X, X, -1),
    "an array that is none": lambda: keras.constraints.NonNeg()(Box()),
    "a table of a function": lambda: tf.lookup.StaticHashTable(abs, 3),
    "the elements of a tensor": lambda: tf.data.Iterator(X),
    "how many in a tensor": lambda: tf.data.experimental.cardinality(tf.constant(X)),
    "features of a number": lambda: tf.io.parse_example(["a"], 3),
    "a mode of a number": lambda: tf.io.gfile.GFile("a", mode=1.5),
    "sparse tensors of text": lambda: tf.sparse.concat(0, "text"),
    "an axis of sparse tensors": lambda: tf.sparse.concat(5, [tf.sparse.eye(2)] * 2),
    "slices of a tensor": lambda: tf.sparse.mask(tf.constant(X), [0]),
    "a template of numbers": lambda: tf.strings.format(tf.constant(X), [X]),
    "a separator of numbers": lambda: tf.strings.join(["a", "b"], 3),
    "a generator of a number": lambda: tf.random.Generator(copy_from=-7),
    "a sound without channels": lambda: tf.audio.encode_wav(np.ones((3, 0), "float32"), 1),
    "primals of numbers": lambda: tf.autodiff.ForwardAccumulator(-7, 0.5),
}


@each("name", WRONG)
def test_wrong_arguments(name):
    with pytest.raises((TypeError, ValueError, NotImplementedError, tf.errors.OpError)) as caught:
        WRONG[name]()
    assert str(caught.value)


@pytest.mark.parametrize("error", (AttributeError, KeyError, ZeroDivisionError, StopIteration))
def test_errors_of_users(error):
    def raising(x):
        raise error("mine")

    class Raising(keras.layers.Layer):
        def call(self, x):
            raise error("mine")

    for call in (lambda: keras.ops.vectorized_map(raising, X), lambda: Raising()(X),
                 lambda: keras.ops.map(raising, X), lambda: keras.layers.Lambda(raising)(X)):
        with pytest.raises(error, match="mine"):
            call()


def test_a_name_that_a_user_asks_for_in_vain_stays_an_error_of_names():
    class Mine(keras.layers.Layer):
        def build(self, shape):
            self.w = keras.backend.NoSuchVariable(3)

        def call(self, x):
            return x

    with pytest.raises(AttributeError, match="'keras.backend' has no attribute 'NoSuchVariable'"):
        Mine()(X)
