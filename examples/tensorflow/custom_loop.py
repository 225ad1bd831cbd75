"""A training loop by hand: GradientTape, an optimizer, metrics, `tf.data`, `tf.function`, gradient clipping."""
import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

tf.random.set_seed(0)
keras.utils.set_random_seed(0)
images, labels = load_digits(return_X_y=True)
images = (images / 16).astype(np.float32)
train = tf.data.Dataset.from_tensor_slices((images[:1500], labels[:1500])).batch(100)
test = tf.data.Dataset.from_tensor_slices((images[1500:], labels[1500:])).batch(100)

model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(10)])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
schedule = keras.optimizers.schedules.ExponentialDecay(1e-2, decay_steps=15, decay_rate=0.9)
optimizer = keras.optimizers.RMSprop(schedule)
train_loss, accuracy = keras.metrics.Mean(), keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss.update_state(loss)
    accuracy.update_state(y, logits)
    return norm


@tf.function
def test_step(x, y):
    accuracy.update_state(y, model(x, training=False))


for epoch in range(4):
    for x, y in train:
        norm = train_step(x, y)
    print(f"epoch {epoch} loss {train_loss.result():.4f} accuracy {accuracy.result():.4f} norm {norm:.3f} "
          f"rate {float(optimizer.learning_rate):.5f}")
    train_loss.reset_state()
    accuracy.reset_state()
    for x, y in test:
        test_step(x, y)
    print(f"  test accuracy {accuracy.result():.4f}")
    accuracy.reset_state()
print("steps", int(optimizer.iterations))
