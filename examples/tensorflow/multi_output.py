"""A subclassed model with two inputs and two outputs: losses and metrics by name, weights of losses and samples."""
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(17)


class TwoDigits(keras.Model):
    """Say the sum of two digits' labels, and whether they are the same."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.body = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dropout(0.1, seed=5),
                                      layers.Dense(24, activation="relu")])
        self.sum, self.same = layers.Dense(1), layers.Dense(1, activation="sigmoid")

    def call(self, inputs, training=False):
        a, b = self.body(inputs["a"], training=training), self.body(inputs["b"], training=training)
        joined = layers.concatenate([a + b, keras.ops.abs(a - b)])
        return {"sum": self.sum(joined), "same": self.same(joined)}


images, labels = load_digits(return_X_y=True)
images = images.astype("float32") / 16
order = np.random.default_rng(1).permutation(len(images))
x = {"a": images, "b": images[order]}
y = {"sum": (labels + labels[order]).astype("float32")[:, None],
     "same": (labels == labels[order]).astype("float32")[:, None]}
model = TwoDigits()
model.compile("adam", loss={"sum": "mse", "same": "binary_crossentropy"}, loss_weights={"sum": 0.1, "same": 1.0},
              metrics={"sum": ["mae"], "same": [keras.metrics.BinaryAccuracy(name="accuracy")]})
weights = {"sum": np.ones(len(images), "float32"), "same": 1 + 4 * y["same"][:, 0]}
history = model.fit(x, y, sample_weight=weights, batch_size=128, epochs=3, shuffle=False, verbose=0)
for epoch in range(3):
    print(" ".join(f"{name} {values[epoch]:.3f}" for name, values in history.history.items()))
results = model.evaluate(x, y, batch_size=256, verbose=0, return_dict=True)
print("evaluation", sorted(results), f"{results['loss']:.3f}")
outputs = model.predict({key: value[:3] for key, value in x.items()}, verbose=0)
print({name: value.shape for name, value in sorted(outputs.items())})
