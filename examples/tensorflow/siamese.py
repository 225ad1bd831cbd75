"""Digits that are alike: one network for two inputs, a contrastive loss, a Lambda layer, shared weights."""
import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits

keras.utils.set_random_seed(27)
images, labels = load_digits(return_X_y=True)
images = images.astype("float32") / 16
generator = np.random.default_rng(6)
first = generator.integers(len(images), size=2000)
second = generator.integers(len(images), size=2000)
for place in range(0, 2000, 2):  # every other pair is of one class
    second[place] = generator.choice(np.flatnonzero(labels == labels[first[place]]))
same = (labels[first] == labels[second]).astype("float32")

embed = keras.Sequential([keras.Input((64,)), layers.Dense(32, activation="relu"), layers.Dense(8),
                          layers.UnitNormalization()], name="embed")
left, right = keras.Input((64,), name="left"), keras.Input((64,), name="right")
distance = layers.Lambda(lambda pair: ops.sqrt(ops.sum(ops.square(pair[0] - pair[1]), axis=1, keepdims=True) + 1e-7),
                         output_shape=(1,))([embed(left), embed(right)])
model = keras.Model([left, right], distance)


def contrastive(y_true, y_pred, margin=1.0):
    """Pull equal pairs together, push others apart up to the margin."""
    return ops.mean(y_true * ops.square(y_pred) + (1 - y_true) * ops.square(ops.maximum(margin - y_pred, 0)))


model.compile(keras.optimizers.Adamax(1e-2), contrastive)
print("weights", len(model.trainable_weights), "parameters", model.count_params())
history = model.fit([images[first], images[second]], same[:, None], batch_size=100, epochs=4, shuffle=False, verbose=0)
print("loss", " ".join(f"{loss:.4f}" for loss in history.history["loss"]))
distances = model.predict([images[first], images[second]], verbose=0)[:, 0]
print(f"equal {distances[same == 1].mean():.2f} different {distances[same == 0].mean():.2f}")
