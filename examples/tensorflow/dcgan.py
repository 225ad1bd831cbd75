"""A deep convolutional GAN on digits: two networks, two tapes, one `tf.function`."""
import keras
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(4)
images = load_digits().images[..., None].astype("float32") / 8 - 1
NOISE, BATCH = 16, 128

generator = keras.Sequential([
    keras.Input((NOISE,)),
    layers.Dense(2 * 2 * 32, use_bias=False),
    layers.BatchNormalization(),
    layers.LeakyReLU(negative_slope=0.2),
    layers.Reshape((2, 2, 32)),
    layers.Conv2DTranspose(16, 3, strides=2, padding="same", use_bias=False),
    layers.BatchNormalization(),
    layers.LeakyReLU(negative_slope=0.2),
    layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="tanh"),
], name="generator")
discriminator = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(16, 3, strides=2, padding="same"),
    layers.LeakyReLU(negative_slope=0.2),
    layers.Dropout(0.3, seed=1),
    layers.Conv2D(32, 3, strides=2, padding="same"),
    layers.LeakyReLU(negative_slope=0.2),
    layers.Flatten(),
    layers.Dense(1),
], name="discriminator")

cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)
discriminator_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)


@tf.function
def train_step(real, noise):
    with tf.GradientTape() as generator_tape, tf.GradientTape() as discriminator_tape:
        fake = generator(noise, training=True)
        real_output = discriminator(real, training=True)
        fake_output = discriminator(fake, training=True)
        generator_loss = cross_entropy(tf.ones_like(fake_output), fake_output)
        discriminator_loss = (cross_entropy(tf.ones_like(real_output), real_output)
                              + cross_entropy(tf.zeros_like(fake_output), fake_output))
    gradients = generator_tape.gradient(generator_loss, generator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables))
    gradients = discriminator_tape.gradient(discriminator_loss, discriminator.trainable_variables)
    discriminator_optimizer.apply_gradients(zip(gradients, discriminator.trainable_variables))
    return generator_loss, discriminator_loss


dataset = tf.data.Dataset.from_tensor_slices(images).batch(BATCH, drop_remainder=True)
step = 0
for epoch in range(2):
    for real in dataset:
        noise = tf.random.stateless_normal([BATCH, NOISE], seed=[7, step])
        generator_loss, discriminator_loss = train_step(real, noise)
        step += 1
    print(f"epoch {epoch} generator {generator_loss:.3f} discriminator {discriminator_loss:.3f}")
samples = generator(tf.random.stateless_normal([4, NOISE], seed=[1, 2]), training=False)
print(samples.shape, f"{tf.reduce_mean(samples):.2f}")
