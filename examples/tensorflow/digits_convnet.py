"""A convolutional network on 8 x 8 digits: the functional API, batch normalisation, a residual connection."""
import keras
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(1)
images, labels = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8, 1).astype("float32") / 16
labels = keras.utils.to_categorical(labels, 10)

inputs = keras.Input((8, 8, 1), name="image")
x = layers.Conv2D(16, 3, padding="same", use_bias=False)(inputs)
x = layers.BatchNormalization()(x)
x = layers.Activation("relu")(x)
shortcut = x
x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
x = layers.SeparableConv2D(16, 3, padding="same")(x)
x = layers.add([x, shortcut])
x = layers.MaxPooling2D()(x)
x = layers.Conv2D(32, 3, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-4))(x)
x = layers.GlobalAveragePooling2D()(x)
outputs = layers.Dense(10, activation="softmax", name="digit")(x)
model = keras.Model(inputs, outputs, name="convnet")
model.summary()

model.compile(keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True), "categorical_crossentropy",
              metrics=["accuracy", keras.metrics.TopKCategoricalAccuracy(3, name="top3")])
history = model.fit(images[:1200], labels[:1200], batch_size=100, epochs=3, shuffle=False, verbose=0,
                    validation_data=(images[1200:], labels[1200:]))
for epoch in range(3):
    print(" ".join(f"{name} {values[epoch]:.3f}" for name, values in history.history.items()))
