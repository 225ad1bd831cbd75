"""A denoising autoencoder of digits: models as layers of other models, encoder and decoder used on their own."""
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(11)
images = load_digits().images[..., None].astype("float32") / 16
noisy = images + 0.2 * np.random.default_rng(0).normal(size=images.shape).astype("float32")

image = keras.Input((8, 8, 1))
x = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(image)
x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(x)
code = layers.Dense(8, name="code")(layers.Flatten()(x))
encoder = keras.Model(image, code, name="encoder")

latent = keras.Input((8,))
x = layers.Dense(2 * 2 * 32, activation="relu")(latent)
x = layers.Reshape((2, 2, 32))(x)
x = layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu")(x)
x = layers.UpSampling2D()(x)
decoder = keras.Model(latent, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(x), name="decoder")

autoencoder = keras.Model(image, decoder(encoder(image)), name="autoencoder")
autoencoder.summary(expand_nested=True)
autoencoder.compile("rmsprop", "mse")
history = autoencoder.fit(noisy, images, batch_size=128, epochs=4, shuffle=False, verbose=0)
print("loss", " ".join(f"{loss:.4f}" for loss in history.history["loss"]))
codes = encoder.predict(images[:100], verbose=0)
print("codes", codes.shape, f"{np.abs(codes).mean():.2f}")
print("restored", decoder.predict(codes, verbose=0).shape)
