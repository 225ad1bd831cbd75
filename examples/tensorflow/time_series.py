"""Forecasting a noisy wave: windows from one long series, a convolution, a GRU, early stopping."""
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(6)
time = np.arange(1200, dtype="float32")
series = np.sin(time / 10) + 0.5 * np.sin(time / 3) + 0.05 * np.random.default_rng(2).normal(size=time.shape)
series = series.astype("float32")[:, None]


def windows(values):
    """Return a dataset of 24 values each, and the value 4 steps after their end."""
    return keras.utils.timeseries_dataset_from_array(values[:-27], values[27:, 0], sequence_length=24, batch_size=64)


train, valid = windows(series[:900]), windows(series[900:])
for x, y in train.take(1):
    print("batch", x.shape, y.shape)

model = keras.Sequential([
    keras.Input((24, 1)),
    layers.Conv1D(16, 3, padding="causal", activation="relu"),
    layers.GRU(24, return_sequences=True),
    layers.GRU(12),
    layers.Dense(1),
])
model.compile(keras.optimizers.Adam(5e-3), keras.losses.Huber(), metrics=["mae"])
stop = keras.callbacks.EarlyStopping(patience=2, restore_best_weights=True)
history = model.fit(train, validation_data=valid, epochs=5, callbacks=[stop], verbose=0)
for epoch in range(len(history.epoch)):
    print(" ".join(f"{name} {values[epoch]:.4f}" for name, values in history.history.items()))
print("forecast", model.predict(valid, verbose=0).shape)
