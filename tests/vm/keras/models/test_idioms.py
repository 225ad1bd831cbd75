"""What people write with layers and models, on both Kerases."""
import warnings

import numpy as np
from harness.keras_programs import check, weights_of
from harness.subresults import each

X = np.linspace(-1, 1, 12).reshape(4, 3).astype("float32")
Y = np.linspace(0, 1, 8).reshape(4, 2).astype("float32")


def both(keras):
    """Return the data as tensors."""
    return [keras.ops.convert_to_tensor(X), keras.ops.convert_to_tensor(Y)]


def listed(keras):
    """A layer of a list of inputs, built with a list of shapes."""
    class Bilinear(keras.layers.Layer):
        def build(self, input_shape):
            left, right = input_shape
            self.kernel = self.add_weight(shape=(left[-1], right[-1]), initializer="ones", name="kernel")
            self.seen = input_shape

        def call(self, inputs):
            left, right = inputs
            return keras.ops.sum(keras.ops.matmul(left, self.kernel) * right, axis=-1, keepdims=True)
    layer = Bilinear()
    graph = keras.Model([a := keras.Input((3,)), b := keras.Input((2,))], Bilinear()([a, b]))
    return [layer(both(keras)), [tuple(shape) for shape in layer.seen], graph(both(keras)), graph.output_shape]


def several(keras):
    """A layer that returns a dict and a tuple."""
    class Moments(keras.layers.Layer):
        def call(self, x):
            return {"mean": keras.ops.mean(x, axis=-1), "all": (x, keras.ops.var(x, axis=-1, keepdims=True))}
    x = keras.Input((3,))
    out = Moments()(x)
    model = keras.Model(x, {"a": out["mean"], "b": out["all"][1] + out["all"][0]})
    return [model(both(keras)[0]), sorted(out), [y.shape for y in model.outputs]]


def named_arguments(keras):
    """A model whose call takes several arguments, and layers called with names in a graph."""
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2, kernel_initializer="ones")

        def call(self, x, extra=None, training=False):
            y = self.dense(x)
            return y if extra is None else y + extra
    x, y = both(keras)
    net = Net()
    attention = keras.layers.Attention()
    a, b = keras.Input((4, 3)), keras.Input((5, 3))
    graph = keras.Model([a, b], attention([a, b], use_causal_mask=True))
    return [net(x), net(x, extra=y), net(x, y), graph.output_shape, graph([keras.ops.ones((1, 4, 3)),
                                                                           keras.ops.ones((1, 5, 3))])]


def configured(keras):
    """A registered model with arguments goes through its configuration."""
    @keras.saving.register_keras_serializable(package="idioms", name=f"Net{id(keras)}")
    class Net(keras.Model):
        def __init__(self, width, activation="relu", **kwargs):
            super().__init__(**kwargs)
            self.width, self.activation = width, keras.activations.get(activation)
            self.dense = keras.layers.Dense(width)

        def call(self, x):
            return self.activation(self.dense(x))

        def get_config(self):
            return {**super().get_config(), "width": self.width,
                    "activation": keras.activations.serialize(self.activation)}
    net = Net(3, "tanh", name="net")
    net(both(keras)[0])
    config = keras.saving.serialize_keras_object(net)
    again = keras.saving.deserialize_keras_object(config)
    again.set_weights(weights_of(net).get_weights())
    config["registered_name"] = "the same"
    return [config["config"], config["build_config"], again.built, again(both(keras)[0]), net(both(keras)[0])]


def stateless(keras):
    """Statistics of a norm are returned, not written."""
    model = weights_of(keras.Sequential([keras.Input((3,)), keras.layers.BatchNormalization(), keras.layers.Dense(2)]))
    out, state = model.stateless_call([v.value for v in model.trainable_variables],
                                      [v.value for v in model.non_trainable_variables], both(keras)[0], training=True)
    return [out, list(state), [v.numpy() for v in model.non_trainable_variables]]


def losses(keras):
    """Losses of regularizers and of layers within a graph."""
    class Add(keras.layers.Layer):
        def call(self, x):
            self.add_loss(keras.ops.mean(x ** 2))
            return x
    x = keras.Input((3,))
    model = keras.Model(x, keras.layers.Dense(2, kernel_initializer="ones", kernel_regularizer="l1")(Add()(x)))
    before = list(model.losses)
    model(both(keras)[0])
    first = list(model.losses)
    model(both(keras)[0] * 2)
    return [before, first, list(model.losses)]


def frozen(keras):
    """A frozen part keeps its numbers while the rest is trained, and its norms stand still."""
    base = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3), keras.layers.BatchNormalization()], name="base")
    model = weights_of(keras.Sequential([base, keras.layers.Dense(2)]))
    base.trainable = False
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(X, Y, epochs=2, batch_size=4, verbose=0, shuffle=False)
    return [model.get_weights(), len(model.trainable_weights), len(model.non_trainable_weights)]


def functions(keras):
    """Lambdas, operations and activations as layers."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Lambda(lambda x: x * 2.0),
                              keras.layers.Activation("tanh"), keras.layers.Reshape((3, 1)), keras.layers.Flatten()])
    return [model(both(keras)[0]), model.output_shape, [layer.name for layer in model.layers]]


def lists_in_lists(keras):
    """Lists of layers in lists of layers, and a graph of several inputs at the front."""
    inner = keras.Sequential([keras.layers.Dense(2, kernel_initializer="ones")], name="inner")
    outer = keras.Sequential([inner, keras.layers.Dense(1, kernel_initializer="ones")])
    first = outer(both(keras)[0])
    a, b = keras.Input((3,)), keras.Input((2,))
    front = keras.Model([a, b], keras.layers.Concatenate()([a, b]))
    whole = keras.Sequential([front, keras.layers.Dense(1, kernel_initializer="ones")])
    return [first, whole(both(keras)), [w.path for w in outer.weights], len(whole.weights)]


def reused(keras):
    """One layer in two models is one layer."""
    layer = keras.layers.Dense(2, kernel_initializer="zeros")
    one = keras.Sequential([keras.Input((3,)), layer])
    two = keras.Sequential([keras.Input((3,)), layer, keras.layers.Dense(1)])
    layer.kernel.assign(keras.ops.ones((3, 2)))
    return [one(both(keras)[0]), one.weights[0] is two.weights[0], layer.kernel.path]


def explicit(keras):
    """Weights made in `__init__`, `add_variable`, variables as attributes, `build` called by hand."""
    class Layer(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.a = self.add_weight(shape=(3,), initializer="ones", name="a")
            self.b = keras.Variable(keras.ops.zeros((3,)), name="b", trainable=False)
            self.c = self.add_weight((2, 2), "zeros", "float32", name="c")

        def call(self, x):
            return x * self.a + self.b
    layer = Layer()
    layer.build((None, 3))
    dense = keras.layers.Dense(4)
    dense.build((None, 3))
    return [layer(both(keras)[0]), [w.name for w in layer.weights], [w.path for w in layer.variables], dense.built,
            [w.path for w in dense.weights]]


def own_shapes(keras):
    """A layer that tells the shape of its outputs itself, and one that tells specs."""
    class Twice(keras.layers.Layer):
        def call(self, x):
            return keras.ops.concatenate([x, x], axis=-1)

        def compute_output_shape(self, input_shape):
            return (*input_shape[:-1], input_shape[-1] * 2)

    class Ids(keras.layers.Layer):
        def call(self, x):
            return keras.ops.cast(keras.ops.argmax(x, axis=-1), "int32")

        def compute_output_spec(self, x):
            return keras.KerasTensor(x.shape[:-1], dtype="int32")
    x = keras.Input((3,))
    y = Twice()(x)
    z = Ids()(y)
    return [y.shape, y.dtype, z.shape, z.dtype, keras.Model(x, [y, z])(both(keras)[0])]


def optional(keras):
    """An input that may be None."""
    class Add(keras.layers.Layer):
        def call(self, x, y=None):
            return x if y is None else x + y

        def compute_output_spec(self, x, y=None):
            return keras.KerasTensor(x.shape, dtype=x.dtype)
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b", optional=True)
    model = keras.Model([a, b], Add()(a, b))
    x = both(keras)[0]
    return [model([x, x]), model([x, None])]


def wrong_none(keras):
    """None for an input that is not optional."""
    model = keras.Model([a := keras.Input((3,)), b := keras.Input((3,))], a + b)
    return model([both(keras)[0], None])


def metrics(keras):
    """Metrics in layers and models are found."""
    class Layer(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.seen = keras.metrics.Mean(name="seen")

        def call(self, x):
            self.seen.update_state(x)
            return x

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner, self.total = Layer(), keras.metrics.Sum(name="total")

        def call(self, x):
            return self.inner(x)
    net = Net()
    net(both(keras)[0] + 2)
    return [[m.name for m in net.metrics], net.inner.seen.result(), len(net.metrics_variables), len(net.variables),
            len(net.weights)]


PROGRAMS = {program.__name__: program for program in (
    listed, several, named_arguments, configured, stateless, losses, frozen, functions, lists_in_lists, reused,
    explicit, own_shapes, optional, wrong_none, metrics)}


@each("name", PROGRAMS)
def test_idioms(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(PROGRAMS[name])
