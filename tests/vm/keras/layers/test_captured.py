"""Layers inside captured functions: one graph serves batches of all sizes, and does what eager calls do."""
import dragon
import numpy as np
from harness.keras_layer import array, guest, near, random_inputs
from harness.subresults import each

ROWS = [
    ("Dense", {"units": 3, "activation": "gelu", "activity_regularizer": "l2"}, (2, 4)),
    ("EinsumDense", {"equation": "abc,cd->abd", "output_shape": [None, 3], "bias_axes": "d"}, (2, 5, 4)),
    ("Embedding", {"input_dim": 4, "output_dim": 3}, np.array([[0, 3], [1, 2]], "int32")),
    ("Conv1D", {"filters": 3, "kernel_size": 3, "padding": "causal"}, (2, 6, 2)),
    ("Conv2D", {"filters": 3, "kernel_size": 3, "padding": "same", "strides": 2, "activation": "relu"}, (2, 7, 8, 2)),
    ("Conv2DTranspose", {"filters": 3, "kernel_size": 3, "strides": 2, "padding": "same"}, (2, 3, 4, 2)),
    ("DepthwiseConv2D", {"kernel_size": 3, "depth_multiplier": 2}, (2, 5, 5, 2)),
    ("SeparableConv2D", {"filters": 3, "kernel_size": 3}, (2, 5, 5, 2)),
    ("MaxPooling2D", {"pool_size": 3, "strides": 2, "padding": "same"}, (2, 6, 7, 2)),
    ("AveragePooling2D", {"pool_size": 3, "strides": 2, "padding": "same"}, (2, 6, 7, 2)),
    ("GlobalMaxPooling2D", {}, (2, 6, 7, 2)),
    ("AdaptiveAveragePooling2D", {"output_size": 2}, (2, 5, 7, 2)),
    ("BatchNormalization", {}, (2, 3, 4, 2)),
    ("BatchNormalization", {"renorm": True}, (3, 4)),
    ("LayerNormalization", {}, (2, 3, 4)),
    ("GroupNormalization", {"groups": 2}, (2, 3, 4)),
    ("Dropout", {"rate": 0.5, "seed": 1}, (4, 5)),
    ("GaussianNoise", {"stddev": 0.5, "seed": 1}, (4, 5)),
    ("PReLU", {}, (2, 4)),
    ("Softmax", {}, (2, 4)),
    ("Flatten", {}, (2, 3, 4)),
    ("Reshape", {"target_shape": (-1, 2)}, (2, 3, 4)),
    ("RepeatVector", {"n": 3}, (2, 4)),
    ("UpSampling2D", {"size": 2}, (2, 3, 4, 2)),
    ("ZeroPadding2D", {"padding": 1}, (2, 3, 4, 2)),
    ("Cropping2D", {"cropping": 1}, (2, 4, 5, 2)),
    ("Masking", {}, (2, 3, 4)),
]


def batch_of(inputs, size):
    """Return inputs like the given ones in a batch of another size."""
    if isinstance(inputs, tuple):
        return random_inputs((size, *inputs[1:]), seed=size)
    return np.resize(inputs, (size, *inputs.shape[1:]))


def step_of(layer, tf, ops):
    """Return a function that calls a layer in training, and returns outputs and gradients."""
    more = {"training": True} if layer._call_has_training_arg else {}

    def step(x):
        with tf.GradientTape() as tape:
            made = layer(x, **more)
            total = ops.sum(ops.square(ops.cast(made, "float32"))) + sum(layer.losses)
        return made, tape.gradient(total, layer.trainable_variables)
    return step


@each("name, config, inputs", ROWS)
def test_captured_layers(name, config, inputs):
    """Outputs, gradients, and the weights and seeds that calls change."""
    from dragon.vm.keras.core import capturing
    capturing.register()
    keras, tf = guest("keras"), guest("tensorflow")
    layers = [getattr(keras.layers, name)(**config) for _ in range(2)]
    for layer in layers:
        layer(tf.convert_to_tensor(batch_of(inputs, 2)))
    layers[1].set_weights([array(weight) for weight in layers[0].weights])
    eager, other = (step_of(layer, tf, keras.ops) for layer in layers)
    captured = dragon.function(other)
    for size in (2, 5, 3, 5):
        x = tf.convert_to_tensor(batch_of(inputs, size))
        (made, found), (wanted, expected) = captured(x), eager(x)
        near([array(made)], [array(wanted)], f"outputs of {size}")
        near([array(g) for g in found], [array(g) for g in expected], f"gradients of {size}")
        near(*([array(weight) for weight in layer.weights] for layer in layers), f"weights after {size}")
    assert captured.fallback is None, captured.explain()
    assert len(captured.variants) == 1, captured.explain()
