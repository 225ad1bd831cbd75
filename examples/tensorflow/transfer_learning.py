"""Transfer from a saved file: freeze a trained body, train a new head, thaw it, train on at a lower rate."""
import os
import tempfile

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(21)
images, labels = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8, 1).astype("float32") / 16
low, high = labels < 5, labels >= 5
path = os.path.join(tempfile.mkdtemp(), "body.keras")

body = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(16, 3, activation="relu", name="conv_1"),
    layers.BatchNormalization(name="norm"),
    layers.Conv2D(16, 3, activation="relu", name="conv_2"),
    layers.GlobalAveragePooling2D(name="pool"),
], name="body")
source = keras.Sequential([body, layers.Dense(5)])
source.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = source.fit(images[low], labels[low], batch_size=64, epochs=3, shuffle=False, verbose=0)
print("source", " ".join(f"{loss:.4f}" for loss in history.history["loss"]))
body.save(path)

body = keras.models.load_model(path)
body.trainable = False
inputs = keras.Input((8, 8, 1))
outputs = layers.Dense(5, name="head")(body(inputs, training=False))
model = keras.Model(inputs, outputs)
print("trainable", len(model.trainable_weights), "frozen", len(model.non_trainable_weights))
before = [np.array(weight) for weight in body.get_weights()]
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(1e-2), loss, metrics=["accuracy"])
history = model.fit(images[high], labels[high] - 5, batch_size=64, epochs=3, shuffle=False, verbose=0)
print("head", " ".join(f"{loss:.4f}" for loss in history.history["loss"]))
print("body unchanged", all(np.array_equal(a, b) for a, b in zip(before, body.get_weights())))

body.trainable = True
for layer in body.layers[:2]:
    layer.trainable = False
model.compile(keras.optimizers.Adam(1e-3), loss, metrics=["accuracy"])
print("trainable", [weight.path for weight in model.trainable_weights])
history = model.fit(images[high], labels[high] - 5, batch_size=64, epochs=2, shuffle=False, verbose=0)
print("fine", " ".join(f"{loss:.4f}" for loss in history.history["loss"]))
model.save_weights(path.replace(".keras", ".weights.h5"))
model.load_weights(path.replace(".keras", ".weights.h5"))
print("evaluation", " ".join(f"{value:.4f}" for value in model.evaluate(images[high], labels[high] - 5, verbose=0)))
