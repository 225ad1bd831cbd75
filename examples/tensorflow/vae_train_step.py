"""A variational autoencoder with its own train_step: losses by hand, metrics that Keras tracks."""
import keras
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_digits

keras.utils.set_random_seed(2)


class Sampling(layers.Layer):
    """Draw z from its mean and log variance."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        mean, log_variance = inputs
        epsilon = keras.random.normal(shape=ops.shape(mean), seed=self.seed_generator)
        return mean + ops.exp(0.5 * log_variance) * epsilon


class VAE(keras.Model):
    def __init__(self, latent=3, **kwargs):
        super().__init__(**kwargs)
        self.hidden = layers.Dense(48, activation="relu")
        self.mean = layers.Dense(latent, name="mean")
        self.log_variance = layers.Dense(latent, name="log_variance")
        self.sampling = Sampling()
        self.decoder = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dense(64, activation="sigmoid")])
        self.total = keras.metrics.Mean(name="loss")
        self.divergence = keras.metrics.Mean(name="divergence")

    @property
    def metrics(self):
        return [self.total, self.divergence]

    def call(self, x):
        hidden = self.hidden(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        return self.decoder(self.sampling((mean, log_variance))), mean, log_variance

    def train_step(self, data):
        with tf.GradientTape() as tape:
            restored, mean, log_variance = self(data)
            error = ops.mean(ops.sum(keras.losses.binary_crossentropy(data[..., None], restored[..., None]), axis=1))
            divergence = -0.5 * (1 + log_variance - ops.square(mean) - ops.exp(log_variance))
            divergence = ops.mean(ops.sum(divergence, axis=1))
            loss = error + divergence
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
        self.total.update_state(loss)
        self.divergence.update_state(divergence)
        return {metric.name: metric.result() for metric in self.metrics}


data = load_digits().data.astype("float32") / 16
model = VAE()
model.compile(optimizer=keras.optimizers.Adam(5e-3))
history = model.fit(data, batch_size=256, epochs=4, shuffle=False, verbose=0)
for epoch in range(4):
    print(f"epoch {epoch} loss {history.history['loss'][epoch]:.3f} "
          f"divergence {history.history['divergence'][epoch]:.4f}")
print(f"generated mean {float(ops.mean(model.decoder(ops.zeros((1, 3))))):.4f}")
