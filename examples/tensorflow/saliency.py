"""What a network looks at: gradients by its input, integrated gradients, activations of inner layers."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(31)
images, labels = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8, 1).astype("float32") / 16
model = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(8, 3, activation="relu", name="conv"),
                          layers.AveragePooling2D(2, name="pool"), layers.Flatten(), layers.Dense(10, name="logits")])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(images, labels, batch_size=64, epochs=2, shuffle=False, verbose=0)
print("loss", " ".join(f"{loss:.3f}" for loss in history.history["loss"]))

x = tf.constant(images[:4])
with tf.GradientTape() as tape:
    tape.watch(x)
    chosen = tf.gather(model(x), labels[:4], axis=1, batch_dims=1)
saliency = tf.reduce_max(tf.abs(tape.gradient(chosen, x)), axis=-1)
print("saliency", saliency.shape, " ".join(f"{value:.3f}" for value in tf.reduce_mean(saliency, axis=[1, 2])))

inner = keras.Model(model.inputs, [model.get_layer("conv").output, model.outputs[0]])
with tf.GradientTape() as tape:
    activations, logits = inner(x)
    top = tf.reduce_max(logits, axis=1)
weights = tf.reduce_mean(tape.gradient(top, activations), axis=(1, 2), keepdims=True)
heat = tf.nn.relu(tf.reduce_sum(weights * activations, axis=-1))
print("heat", heat.shape, f"{tf.reduce_mean(heat):.4f}")


@tf.function
def gradients_at(scaled):
    with tf.GradientTape() as tape:
        tape.watch(scaled)
        chosen = model(scaled)[:, 3]
    return tape.gradient(chosen, scaled)


steps = tf.linspace(0.0, 1.0, 21)[:, None, None, None]
path = gradients_at(steps * x[:1])
integrated = tf.reduce_mean((path[:-1] + path[1:]) / 2, axis=0) * x[0]
difference = model(x[:1])[0, 3] - model(tf.zeros_like(x[:1]))[0, 3]
print(f"completeness {tf.reduce_sum(integrated) - difference:.3f}", np.round(float(difference), 2) != 0)
