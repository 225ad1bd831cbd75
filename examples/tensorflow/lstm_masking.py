"""Sequences of different lengths: padding, masks, a bidirectional LSTM; the task is the parity of the ones."""
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(5)
generator = np.random.default_rng(0)
sequences = [generator.integers(1, 3, size=generator.integers(3, 9)).tolist() for _ in range(600)]
labels = np.array([sum(token == 2 for token in sequence) % 2 for sequence in sequences])
tokens = keras.utils.pad_sequences(sequences, maxlen=8, padding="post")
print(tokens[:3])

inputs = keras.Input((None,), dtype="int32")
x = layers.Embedding(3, 8, mask_zero=True)(inputs)
x = layers.Bidirectional(layers.LSTM(16, return_sequences=True))(x)
x = layers.LSTM(16)(x)
outputs = layers.Dense(1)(x)
model = keras.Model(inputs, outputs)
model.summary()
model.compile(keras.optimizers.Adam(1e-2), keras.losses.BinaryCrossentropy(from_logits=True),
              metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="accuracy")])
history = model.fit(tokens[:500], labels[:500], batch_size=50, epochs=6, shuffle=False, verbose=0)
print("loss", [round(value, 3) for value in history.history["loss"][:4]])
loss, accuracy = model.evaluate(tokens[500:], labels[500:], verbose=0)
print(f"good {accuracy > 0.45}")
print("padding changes nothing:", bool(np.allclose(model.predict(tokens[:4], verbose=0), model.predict(
    np.pad(tokens[:4], ((0, 0), (0, 3))), verbose=0), atol=1e-5)))
