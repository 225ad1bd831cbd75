"""Callbacks that watch, save and change the training, and going on from a saved model with its optimizer's state."""
import os
import tempfile

import keras
import numpy as np
from keras import callbacks, layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(12)
images, labels = load_digits(return_X_y=True)
images = images.astype("float32") / 16
folder = tempfile.mkdtemp()


def build():
    model = keras.Sequential([keras.Input((64,)), layers.Dense(32, activation="tanh"), layers.Dense(10)])
    model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    return model


class Report(callbacks.Callback):
    """Say what happens when."""

    def on_train_begin(self, logs=None):
        print("begin", self.params["epochs"], "epochs of", self.params["steps"], "steps")

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch} rate {float(self.model.optimizer.learning_rate):.4f} "
              + " ".join(f"{name} {value:.4f}" for name, value in sorted(logs.items()) if name != "learning_rate"))


model = build()
path = os.path.join(folder, "best.keras")
fit = {"batch_size": 100, "shuffle": False, "verbose": 0, "validation_data": (images[1500:], labels[1500:])}
model.fit(images[:1500], labels[:1500], epochs=4, **fit, callbacks=[
    Report(),
    callbacks.LearningRateScheduler(lambda epoch, rate: rate if epoch < 2 else rate / 2),
    callbacks.ModelCheckpoint(path, monitor="val_loss", save_best_only=True),
    callbacks.CSVLogger(os.path.join(folder, "log.csv")),
    callbacks.TerminateOnNaN(),
])
print(open(os.path.join(folder, "log.csv")).readline().strip())

restored = keras.models.load_model(path)
print("same predictions", bool(np.allclose(restored.predict(images[:9], verbose=0), model.predict(
    images[:9], verbose=0), atol=1e-5)))
print("steps so far", int(restored.optimizer.iterations))
restored.fit(images[:1500], labels[:1500], initial_epoch=4, epochs=6, **fit, callbacks=[
    Report(), callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=0, min_delta=10)])

stopper = callbacks.EarlyStopping(monitor="val_accuracy", min_delta=0.5, patience=1)
model = build()
history = model.fit(images[:1500], labels[:1500], epochs=6, callbacks=[stopper], **fit)
print("stopped after", len(history.epoch), "epochs")
backup = callbacks.BackupAndRestore(os.path.join(folder, "backup"))
again = build()
again.fit(images[:1500], labels[:1500], epochs=1, callbacks=[backup, Report()], **fit)
