"""A small transformer that sorts: multi-head attention, embeddings of positions, custom layers with configs."""
import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(9)
LENGTH, VOCABULARY, WIDTH = 8, 10, 32


@keras.saving.register_keras_serializable(package="examples")
class PositionEmbedding(layers.Layer):
    """Token embeddings plus those of places."""

    def __init__(self, length, vocabulary, width, **kwargs):
        super().__init__(**kwargs)
        self.length, self.vocabulary, self.width = length, vocabulary, width
        self.tokens = layers.Embedding(vocabulary, width)
        self.places = layers.Embedding(length, width)

    def call(self, x):
        return self.tokens(x) + self.places(ops.arange(self.length))

    def get_config(self):
        return {**super().get_config(), "length": self.length, "vocabulary": self.vocabulary, "width": self.width}


@keras.saving.register_keras_serializable(package="examples")
class Block(layers.Layer):
    """Attention and a feed-forward part, each with a residual connection and normalised before."""

    def __init__(self, width, heads, **kwargs):
        super().__init__(**kwargs)
        self.width, self.heads = width, heads
        self.attention = layers.MultiHeadAttention(heads, width // heads)
        self.forward = keras.Sequential([layers.Dense(2 * width, activation="gelu"), layers.Dense(width)])
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]

    def call(self, x):
        normed = self.norms[0](x)
        x = x + self.attention(normed, normed)
        return x + self.forward(self.norms[1](x))

    def get_config(self):
        return {**super().get_config(), "width": self.width, "heads": self.heads}


tokens = np.random.default_rng(1).integers(0, VOCABULARY, size=(2000, LENGTH))
inputs = keras.Input((LENGTH,), dtype="int32")
x = PositionEmbedding(LENGTH, VOCABULARY, WIDTH)(inputs)
for _ in range(2):
    x = Block(WIDTH, 4)(x)
model = keras.Model(inputs, layers.Dense(VOCABULARY)(x))
schedule = keras.optimizers.schedules.CosineDecay(0.01, 80, warmup_target=0.1, warmup_steps=10)
model.compile(keras.optimizers.SGD(schedule, momentum=0.9, weight_decay=1e-5),
              keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(tokens, np.sort(tokens, axis=1), batch_size=100, epochs=4, shuffle=False, verbose=0)
print("parameters", model.count_params())
print("loss", " ".join(f"{loss:.3f}" for loss in history.history["loss"]))
clone = keras.Model.from_config(model.get_config())
clone.set_weights(model.get_weights())
print("clone agrees", bool(np.allclose(clone(tokens[:3]), model(tokens[:3]), atol=1e-5)))
