"""Keras's programs where there is a GPU: models, trainings and files are on it unasked, and give the CPU's numbers."""
import numpy as np
import pytest

import dragon.vm.keras as keras
import dragon.vm.tensorflow as tf

GPU, CPU = (f"/job:localhost/replica:0/task:0/device:{kind}:0" for kind in ("GPU", "CPU"))
layers = keras.layers


def samples(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def dense():
    return keras.Sequential([keras.Input((6,)), layers.Dense(8, activation="relu"), layers.BatchNormalization(),
                             layers.Dense(3, activation="softmax")])


def convolutional():
    inputs = keras.Input((8, 8, 2))
    x = layers.Conv2D(4, 3, padding="same", activation="relu")(inputs)
    x = layers.MaxPooling2D()(x)
    x = layers.add([x, layers.Conv2D(4, 1)(x)])
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(3, activation="softmax")(x))


class Own(keras.Model):
    """A model of one's own class."""

    def __init__(self):
        super().__init__()
        self.first, self.last = layers.Dense(5, activation="tanh"), layers.Dense(3, activation="softmax")

    def call(self, inputs):
        return self.last(self.first(inputs) + tf.cast(tf.shape(inputs)[1], tf.float32))


def recurrent():
    return keras.Sequential([keras.Input((5,), dtype="int32"), layers.Embedding(7, 4), layers.LSTM(4, seed=1),
                             layers.Dense(3, activation="softmax")])


DATA = {dense: samples(12, 6), convolutional: samples(12, 8, 8, 2), Own: samples(12, 6),
        recurrent: np.random.default_rng(1).integers(0, 7, (12, 5)).astype("int32")}
LABELS = np.arange(12) % 3


def fit(make, on, as_dataset=False, optimizer="adam", **how):
    """Return what a training on a device gives: losses, scores, predictions, and where everything was."""
    keras.utils.set_random_seed(7)
    x = DATA[make]
    with tf.device(on):
        model = make()
        model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"], **how)
        data = (x, LABELS) if not as_dataset else (tf.data.Dataset.from_tensor_slices((x, LABELS)).batch(4),)
        history = model.fit(*data, batch_size=None if as_dataset else 4, epochs=2, verbose=0, shuffle=False)
        scores = model.evaluate(x, LABELS, batch_size=4, verbose=0)
        places = {v.device for v in [*model.variables, *model.optimizer.variables] if "float" in v.dtype}
        return np.r_[history.history["loss"], scores], model.predict(x, verbose=0), places, model


def as_the_cpu(make, rtol=1e-3, **how):
    wanted, wanted_answers, places, _ = fit(make, "CPU:0", **how)
    assert {str(place) for place in places} == {CPU}
    found, answers, places, model = fit(make, None, **how)
    assert {str(place) for place in places} == {GPU}
    np.testing.assert_allclose(found, wanted, rtol=rtol)
    np.testing.assert_allclose(answers, wanted_answers, rtol=rtol, atol=rtol)
    return model


@pytest.mark.parametrize("make", DATA)
def test_fit(make):
    as_the_cpu(make)


@pytest.mark.parametrize("how", [{"run_eagerly": True}, {"as_dataset": True}, {"jit_compile": True},
                                 {"steps_per_execution": 2}])
def test_ways_of_fitting(how):
    as_the_cpu(dense, **how)


@pytest.mark.parametrize("name", ["SGD", "RMSprop", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl",
                                  "Lion", "Lamb", "Adafactor"])
def test_optimizers(name):
    with tf.device("CPU:0"):
        host = keras.Variable([1.0, 2.0])
        keras.optimizers.get(name).apply([tf.constant([0.5, -0.5])], [host])
    here = keras.Variable([1.0, 2.0])
    optimizer = keras.optimizers.get(name)
    optimizer.apply([tf.constant([0.5, -0.5])], [here])
    assert here.device == GPU and host.device == CPU
    np.testing.assert_allclose(here.numpy(), host.numpy(), rtol=1e-5)


def test_mixed_precision():
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        found, answers, places, model = fit(dense, None)
        assert {str(place) for place in places} == {GPU} and model.layers[0].compute_dtype == "float16"
        wanted, wanted_answers, _, _ = fit(dense, "CPU:0")
    finally:
        keras.mixed_precision.set_global_policy("float32")
    np.testing.assert_allclose(found[:-1], wanted[:-1], rtol=2e-2)  # the last one counts what is nearly even, too
    np.testing.assert_allclose(answers, wanted_answers, rtol=5e-2, atol=5e-2)


def test_validation_callbacks_and_weights_of_samples(tmp_path):
    x, seen = DATA[dense], []
    keras.utils.set_random_seed(1)
    model = dense()
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
    best = keras.callbacks.ModelCheckpoint(str(tmp_path / "best.keras"), save_best_only=True)
    history = model.fit(x, LABELS, sample_weight=np.ones(12), validation_split=0.25, epochs=3, verbose=0, batch_size=4,
                        callbacks=[best, keras.callbacks.EarlyStopping(patience=3), keras.callbacks.ReduceLROnPlateau(),
                                   keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(logs))])
    assert len(history.history["val_loss"]) == 3 and all(isinstance(seen[0][name], float) for name in seen[0])
    again = keras.models.load_model(tmp_path / "best.keras")
    assert {str(v.device) for v in again.trainable_variables} == {GPU}


@pytest.mark.parametrize("form", ["model.keras", "model.h5"])
def test_files(form, tmp_path):
    model = as_the_cpu(dense)
    x = DATA[dense]
    model.save(tmp_path / form)
    with tf.device("CPU:0"):
        host = keras.models.load_model(tmp_path / form)
        np.testing.assert_allclose(host.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-4, atol=1e-5)
        assert {str(v.device) for v in host.trainable_variables} == {CPU}
        host.save_weights(tmp_path / "other.weights.h5")
    again = keras.models.load_model(tmp_path / form)
    again.load_weights(tmp_path / "other.weights.h5")
    assert {str(v.device) for v in again.trainable_variables} == {GPU}
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-4, atol=1e-5)
    again.fit(x, LABELS, verbose=0)


def test_export(tmp_path):
    model = dense()
    model.export(str(tmp_path / "there"), verbose=False)
    found = tf.saved_model.load(str(tmp_path / "there")).serve(tf.constant(DATA[dense]))
    assert found.device == GPU
    np.testing.assert_allclose(found.numpy(), model.predict(DATA[dense], verbose=0), rtol=1e-4, atol=1e-5)


def test_metrics():
    true, score = np.array([0, 1, 1, 0, 1]), np.array([0.1, 0.8, 0.4, 0.6, 0.9], "float32")
    for metric in (keras.metrics.AUC(), keras.metrics.Precision(), keras.metrics.Recall(), keras.metrics.F1Score(),
                   keras.metrics.BinaryAccuracy(), keras.metrics.MeanSquaredError(), keras.metrics.MeanIoU(2)):
        shape = (-1, 1) if isinstance(metric, keras.metrics.F1Score) else (-1,)
        args = true.reshape(shape), (score > 0.5 if isinstance(metric, keras.metrics.MeanIoU) else score).reshape(shape)
        with tf.device("CPU:0"):
            host = type(metric).from_config(metric.get_config())
            wanted = np.asarray(host(*args))
        np.testing.assert_allclose(np.asarray(metric(*args)), wanted, rtol=1e-5, err_msg=metric.name)


def test_a_loop_of_ones_own():
    def train():
        keras.utils.set_random_seed(2)
        model, optimizer = dense(), keras.optimizers.SGD(0.1, momentum=0.9)
        loss_of, mean = keras.losses.SparseCategoricalCrossentropy(), keras.metrics.Mean()

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = loss_of(y, model(x, training=True))
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            mean.update_state(loss)
        for x, y in tf.data.Dataset.from_tensor_slices((DATA[dense], LABELS)).batch(4).repeat(2):
            step(x, y)
        return float(mean.result()), model.get_weights(), model.trainable_variables[0].device
    with tf.device("CPU:0"):
        wanted, host_weights, place = train()
        assert place == CPU
    found, weights, place = train()
    assert place == GPU
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    for one, other in zip(weights, host_weights):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_operators_and_random_numbers():
    x = samples(3, 4)
    found = keras.ops.softmax(keras.ops.matmul(x, x.T))
    assert found.device == GPU and keras.ops.zeros((2,)).device == GPU
    assert keras.random.normal((2,), seed=1).device == GPU
    with tf.device("CPU:0"):
        np.testing.assert_allclose(keras.ops.softmax(keras.ops.matmul(x, x.T)), found, rtol=1e-4, atol=1e-6)
        host = keras.random.uniform((4,), seed=3).numpy()
    np.testing.assert_allclose(keras.random.uniform((4,), seed=3), host, rtol=1e-5)
    with keras.device("cpu:0"):
        assert keras.ops.ones((2,)).device == CPU
    assert keras.distribution.list_devices()[0] == "gpu:0"


def test_layers_that_draw():
    layer = layers.Dropout(0.5, seed=1)
    found = layer(np.ones((4, 8), "float32"), training=True)
    assert found.device == GPU
    with tf.device("CPU:0"):
        np.testing.assert_allclose(layers.Dropout(0.5, seed=1)(np.ones((4, 8), "float32"), training=True), found)
    for layer in (layers.GaussianNoise(0.1), layers.RandomFlip(), layers.RandomRotation(0.1), layers.Rescaling(2.0)):
        assert layer(samples(2, 6, 6, 3), training=True).device == GPU if not isinstance(layer, layers.Rescaling) else (
            layer(samples(2, 6, 6, 3)).device == GPU)


def test_strategies():
    with tf.distribute.MirroredStrategy().scope():
        model = dense()
        model.compile("sgd", "sparse_categorical_crossentropy")
    losses = model.fit(DATA[dense], LABELS, epochs=2, verbose=0).history["loss"]
    assert len(losses) == 2 and model.trainable_variables[0].device == GPU
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        model = dense()
        model.compile("sgd", "sparse_categorical_crossentropy")
    model.fit(DATA[dense], LABELS, verbose=0)
    assert model.trainable_variables[0].device == CPU


@pytest.mark.parametrize("eagerly", [False, True])
def test_variables_of_the_host_stay_there(eagerly):
    keras.utils.set_random_seed(1)
    with tf.device("CPU:0"):
        model = dense()
    model.compile("adam", "sparse_categorical_crossentropy", run_eagerly=eagerly)
    model.fit(DATA[dense], LABELS, epochs=2, verbose=0)
    assert {str(v.device) for v in model.trainable_variables} == {CPU}
    assert np.isfinite(model.predict(DATA[dense], verbose=0)).all()


def test_a_step_by_hand():
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((6,)), layers.Dense(3, kernel_initializer="ones")])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    x, y = DATA[dense], np.ones((12, 3), "float32")
    model.fit(x, y, batch_size=12, verbose=0)
    kernel = np.ones((6, 3)) - 0.1 * 2 / 36 * x.T @ (x @ np.ones((6, 3)) - y)
    np.testing.assert_allclose(model.get_weights()[0], kernel, rtol=1e-4)
