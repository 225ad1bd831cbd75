"""A multilayer perceptron on scikit-learn's digits: Sequential, compile, fit, evaluate, predict."""
import keras
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(7)
images, labels = load_digits(return_X_y=True)
images = images.astype("float32") / 16
train, test = slice(0, 1500), slice(1500, None)

model = keras.Sequential([
    keras.Input((64,)),
    layers.Dense(64, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(32, activation="relu"),
    layers.Dense(10, activation="softmax"),
])
model.summary()
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(images[train], labels[train], batch_size=64, epochs=5, validation_split=0.1, shuffle=False,
                    verbose=0)
for epoch, (loss, accuracy) in enumerate(zip(history.history["loss"], history.history["val_accuracy"])):
    print(f"epoch {epoch} loss {loss:.4f} val_accuracy {accuracy:.4f}")
loss, accuracy = model.evaluate(images[test], labels[test], verbose=0)
print(f"test loss {loss:.4f} accuracy {accuracy:.4f}")
print("predicted", model.predict(images[test][:10], verbose=0).argmax(axis=1), "true", labels[test][:10])
