"""An encoder and a decoder with attention that learn to reverse numbers; teacher forcing, then greedy decoding."""
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(19)
LENGTH, SYMBOLS, START = 6, 10, 10
generator = np.random.default_rng(4)
source = generator.integers(0, SYMBOLS, size=(1500, LENGTH))
target = source[:, ::-1]
shifted = np.concatenate([np.full((len(source), 1), START), target[:, :-1]], axis=1)

encoder_input = keras.Input((LENGTH,), dtype="int32", name="source")
decoder_input = keras.Input((None,), dtype="int32", name="shifted")
embedding = layers.Embedding(SYMBOLS + 1, 24, name="symbols")
encoded, state = layers.GRU(48, return_sequences=True, return_state=True, name="encoder")(embedding(encoder_input))
decoded = layers.GRU(48, return_sequences=True, name="decoder")(embedding(decoder_input), initial_state=state)
context = layers.Attention(name="attention")([decoded, encoded])
outputs = layers.Dense(SYMBOLS, activation="softmax", name="symbol")(layers.Concatenate()([decoded, context]))
model = keras.Model([encoder_input, decoder_input], outputs)
model.compile(keras.optimizers.SGD(0.5, momentum=0.9), "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit({"source": source, "shifted": shifted}, target, batch_size=100, epochs=5, shuffle=False, verbose=0)
for epoch in range(5):
    print(f"epoch {epoch} loss {history.history['loss'][epoch]:.3f}")

tokens = np.full((3, 1), START)
for _ in range(LENGTH):
    probabilities = model.predict({"source": source[:3], "shifted": tokens}, verbose=0)
    tokens = np.concatenate([tokens, probabilities[:, -1:].argmax(-1)], axis=1)
print("decoded", tokens[:, 1:].shape, "in range", bool((tokens[:, 1:] < SYMBOLS).all()))
