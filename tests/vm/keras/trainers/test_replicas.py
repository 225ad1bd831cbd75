"""`fit` with several replicas: the losses that genuine Keras has with MirroredStrategy on two virtual CPUs."""
import numpy as np
import pytest

from dragon.vm import keras, tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(37, 5)).astype("float32")
Y = (X.sum(1, keepdims=True) > 0).astype("float32")
WEIGHTS = [RNG.normal(size=shape).astype("float32") * 0.3 for shape in ((5, 8), (8,), (8, 1), (1,))]


@pytest.fixture
def two():
    """Return a strategy of two replicas."""
    cut = tf.config.LogicalDeviceConfiguration
    tf.config.set_logical_device_configuration(CPU, [cut(), cut()])
    yield tf.distribute.MirroredStrategy()
    tf.config.set_logical_device_configuration(CPU, [cut()])


def make(optimizer=None, norm=False, regularizer=None):
    """Return a compiled model of two layers, which begins with the same weights."""
    layers = keras.layers
    first = layers.Dense(8, activation="tanh", kernel_regularizer=regularizer)
    model = keras.Sequential([keras.Input((5,)), first, *([layers.BatchNormalization()] if norm else []),
                              layers.Dense(1, activation="sigmoid")])
    first.set_weights(WEIGHTS[:2])
    model.layers[-1].set_weights(WEIGHTS[2:])
    model.compile(optimizer or keras.optimizers.SGD(0.5), "binary_crossentropy",
                  metrics=["accuracy", keras.metrics.AUC(name="auc")])
    return model


SAID = {  # loss, accuracy and val_loss of three epochs, and what `evaluate` returns
    "sgd": (lambda: make(), [0.43982, 0.23466, 0.17957], [0.83784, 0.94595, 0.94595], [0.34516, 0.28916, 0.25268],
            [0.14241, 0.94595, 0.99702]),
    "norm": (lambda: make(norm=True), [0.4326, 0.41654, 0.36834], [0.86486, 0.75676, 0.78378],
             [0.47136, 0.37292, 0.34236], [0.34775, 0.86486, 0.96726]),
}


@pytest.mark.parametrize("name", SAID)
def test_losses_are_those_of_genuine_keras(two, name):
    model, loss, accuracy, val_loss, evaluated = SAID[name]
    with two.scope():
        model = model()
    history = model.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0,
                        validation_data=(X[:10], Y[:10])).history
    assert model.distribute_strategy is two
    for found, expected in ((history["loss"], loss), (history["accuracy"], accuracy), (history["val_loss"], val_loss),
                            (model.evaluate(X, Y, batch_size=8, verbose=0), evaluated)):
        assert np.allclose(found, expected, atol=1.5e-5), (found, expected)
    assert model.predict(X[:11], batch_size=4, verbose=0).shape == (11, 1)
    assert int(model.optimizer.iterations) == 15


@pytest.mark.parametrize("optimizer", [
    lambda: keras.optimizers.Adam(0.05), lambda: keras.optimizers.AdamW(0.05, use_ema=True, ema_momentum=0.5),
    lambda: keras.optimizers.RMSprop(0.01, momentum=0.5), lambda: keras.optimizers.Nadam(0.05),
    lambda: keras.optimizers.SGD(0.5, gradient_accumulation_steps=2)])
def test_even_batches_train_as_one_replica(two, optimizer):
    data = {"batch_size": 8, "epochs": 2, "shuffle": False, "verbose": 0}
    alone = make(optimizer(), regularizer="l2")
    expected = alone.fit(X[:32], Y[:32], **data).history
    with two.scope():
        model = make(optimizer(), regularizer="l2")
    found = model.fit(X[:32], Y[:32], **data).history
    assert np.allclose(found["loss"], expected["loss"], atol=1e-5)
    for one, other in zip(model.get_weights(), alone.get_weights()):
        assert np.allclose(one, other, atol=2e-5)


def test_batch_statistics_of_all_replicas(two):
    layer, x = keras.layers.BatchNormalization(momentum=0.5), X[:8]
    expected = layer(x, training=True).numpy()
    with two.scope():
        spread = keras.layers.BatchNormalization(momentum=0.5, synchronized=True)
        spread.build((None, 5))
    parts = two.experimental_distribute_values_from_function(
        lambda context: tf.constant(x[:3] if context.replica_id_in_sync_group == 0 else x[3:]))

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = spread(x, training=True)
            loss = tf.reduce_sum(y ** 3)
        return y, tape.gradient(loss, x)
    found, slopes = two.run(gradient, (parts,))
    assert np.allclose(two.gather(found, 0), expected, atol=1e-5)
    assert np.allclose(spread.moving_variance, layer.moving_variance, atol=1e-5)
    whole = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(whole)
        loss = tf.reduce_sum(keras.layers.BatchNormalization()(whole, training=True) ** 3)
    assert np.allclose(two.gather(slopes, 0), tape.gradient(loss, whole), atol=1e-4)


def test_clipping_is_each_replica_s_own(two):
    with two.scope():
        model = make(keras.optimizers.SGD(0.5, momentum=0.9, clipnorm=0.01))
    loss = model.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0).history["loss"]
    assert np.allclose(loss, [0.58939, 0.48044, 0.3495], atol=1.5e-5)


def test_datasets_and_loops_of_users(two):
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)
    spread = two.experimental_distribute_dataset(data)
    with two.scope():
        model = make()
    with pytest.warns(UserWarning, match="shuffle=True"):
        assert np.allclose(model.fit(spread, verbose=0).history["loss"], [0.43982], atol=1.5e-5)
    with two.scope():
        model, optimizer = make(), keras.optimizers.SGD(0.5)
        accuracy, losses = keras.metrics.BinaryAccuracy(), keras.losses.BinaryCrossentropy(reduction="none")

    def step(batch):
        x, y = batch
        with tf.GradientTape() as tape:
            said = model(x, training=True)
            loss = tf.nn.compute_average_loss(losses(y, said), global_batch_size=8)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        accuracy.update_state(y, said)
        return loss

    @tf.function
    def train(batch):
        return two.reduce(tf.distribute.ReduceOp.SUM, two.run(step, args=(batch,)), axis=None)
    for expected in ((2.03415, 0.83784), (1.12527, 0.94595)):
        total = sum(float(train(batch)) for batch in spread)
        assert np.allclose((total, float(accuracy.result())), expected, atol=1.5e-5)
        accuracy.reset_state()


def test_mixed_precision_and_steps_of_users(two):
    data = {"batch_size": 8, "epochs": 3, "shuffle": False, "verbose": 0}
    x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
    layers = keras.layers
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        with two.scope():
            model = keras.Sequential([
                keras.Input((4,)), layers.Dense(3, "tanh", kernel_initializer="ones"),
                layers.Dense(1, kernel_initializer="ones", dtype="float32")])
            model.compile(keras.optimizers.SGD(0.05), "mse")
        assert np.allclose(model.fit(x, x.sum(1), **data).history["loss"], [0.710, 0.543, 0.500], atol=2e-3)
    finally:
        keras.mixed_precision.set_global_policy("float32")

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(1, kernel_initializer="ones")
            self.mean = keras.metrics.Mean(name="mine")

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            weights = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
            self.mean.update_state(loss)
            return {"mine": self.mean.result()}
    with two.scope():
        model = Own()
        model.compile(keras.optimizers.Adam(0.05), "mse")
    history = model.fit(x, x.sum(1, keepdims=True) * 2, **data).history
    assert np.allclose(history["mine"], [1.70615, 1.08346, 0.63302], atol=1.5e-5)
