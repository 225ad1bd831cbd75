"""Sentiment of short sentences: TextVectorization, an embedding, pooling over time; strings in, probabilities out."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(3)
GOOD = ["a wonderful film", "I loved every minute", "great acting and a moving story", "brilliant, simply brilliant",
        "the best movie this year", "charming and funny", "a joy to watch", "superb direction"]
BAD = ["a terrible film", "I hated every minute", "wooden acting and a dull story", "awful, simply awful",
       "the worst movie this year", "boring and flat", "a pain to watch", "poor direction"]
texts = np.array([text for pair in zip(GOOD, BAD) for text in pair] * 4)
labels = np.array([1, 0] * len(GOOD) * 4)

vectorize = layers.TextVectorization(max_tokens=64, output_sequence_length=8)
vectorize.adapt(texts)
print("vocabulary", vectorize.get_vocabulary()[:8])
print("tokens", vectorize(texts[:2]).numpy().tolist())

dataset = tf.data.Dataset.from_tensor_slices((texts, labels)).batch(16)
dataset = dataset.map(lambda text, label: (vectorize(text), label)).cache().prefetch(tf.data.AUTOTUNE)

model = keras.Sequential([
    layers.Embedding(64, 16, mask_zero=True),
    layers.GlobalAveragePooling1D(),
    layers.Dense(16, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(keras.optimizers.SGD(1.0), "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")])
history = model.fit(dataset, epochs=12, verbose=0)
for epoch in (0, 5, 11):
    print(f"epoch {epoch} loss {history.history['loss'][epoch]:.4f} auc {history.history['auc'][epoch]:.4f}")
for text in ("a wonderful story", "a terrible story", "simply the best", "dull and boring"):
    print(f"{text}: {model(vectorize(tf.constant([text])))[0, 0]:.3f}")
