"""Word vectors by skip-grams with negative samples: dot products of embeddings, a subclassed model, raw tensors."""
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(23)
TEXT = ("the cat sat on the mat . the dog sat on the rug . a cat and a dog met on the mat . "
        "the king spoke to the queen . the queen spoke to the king . a king and a queen sat on the throne . ") * 6
words = TEXT.split()
names, ids = np.unique(words, return_inverse=True)
generator = np.random.default_rng(5)
pairs, labels = [], []
for place, center in enumerate(ids):
    for other in ids[max(place - 2, 0):place + 3]:
        pairs += [(center, other), (center, generator.integers(len(names)))]
        labels += [1.0, 0.0]
pairs, labels = np.array(pairs), np.array(labels, "float32")


class SkipGram(keras.Model):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.center = keras.layers.Embedding(vocabulary, width, name="center")
        self.context = keras.layers.Embedding(vocabulary, width, name="context")

    def call(self, pair):
        return tf.einsum("bd,bd->b", self.center(pair[:, 0]), self.context(pair[:, 1]))


model = SkipGram(len(names), 16)
model.compile(keras.optimizers.Adagrad(0.5), keras.losses.BinaryCrossentropy(from_logits=True))
dataset = tf.data.Dataset.from_tensor_slices((pairs, labels)).batch(128, drop_remainder=True)
history = model.fit(dataset, epochs=4, verbose=0)
print("loss", " ".join(f"{loss:.4f}" for loss in history.history["loss"]))
vectors = tf.math.l2_normalize(model.center.embeddings.value, axis=1)
similar = tf.matmul(vectors, vectors, transpose_b=True)
values, indices = tf.math.top_k(similar, k=2)
print("most like itself", bool(tf.reduce_all(indices[:, 0] == tf.range(len(names)))))
print("shape", similar.shape, f"trace {tf.linalg.trace(similar):.2f}")
