"""MirroredStrategy over devices of different memories; the losses are genuine Keras's on two virtual CPUs."""
import numpy as np
import pytest

from dragon.vm import keras, tensorflow as tf

d = tf.distribute
RNG = np.random.default_rng(0)
X = RNG.normal(size=(37, 5)).astype("float32")
Y = (X.sum(1, keepdims=True) > 0).astype("float32")
WEIGHTS = [RNG.normal(size=shape).astype("float32") * 0.3 for shape in ((5, 8), (8,), (8, 1), (1,))]
PAIRS = (["/gpu:0", "/cpu:0"], ["/cpu:0", "/gpu:0"])


def gpus():
    """Return pairs of GPUs, where there are several."""
    return [["/gpu:0", "/gpu:1"]] if len(tf.config.list_logical_devices("GPU")) > 1 else []


@pytest.mark.parametrize("names", PAIRS)
def test_replicas_run_on_their_devices(names):
    for names in (names, *gpus()):
        strategy = d.MirroredStrategy(names)
        kinds = [name.strip("/").upper() for name in names]
        with strategy.scope():
            v = tf.Variable([1.0, 2.0])
            count = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ,
                                aggregation=tf.VariableAggregation.SUM)

        def step():
            replica = d.get_replica_context()
            with tf.GradientTape() as tape:
                y = v * v * (tf.cast(replica.replica_id_in_sync_group, tf.float32) + 1)
                total = replica.all_reduce("sum", y)
            count.assign_add(1.0)
            everything = replica.all_gather(y[None], 0)
            return [y.device, v.device, total.device, everything.device], total, everything, tape.gradient(total, v)
        for _ in range(2):
            places, total, everything, slope = map(strategy.experimental_local_results, strategy.run(step))
            assert [{place.rsplit("device:")[1] for place in own} for own in places] == [{kind} for kind in kinds]
            assert all(part.numpy().tolist() == [3, 12] for part in total)
            assert all(part.numpy().tolist() == [[1, 4], [2, 8]] for part in everything)
            assert [part.numpy().tolist() for part in slope] == [[4, 8], [8, 16]]
        assert float(count) == 4 and v.device.endswith(kinds[0])
        assert [part.device.rsplit(":", 2)[-2:] for part in strategy.experimental_local_results(v)] == [
            kind.split(":") for kind in kinds]
        v.assign([3.0, 4.0])  # the other device's copy follows
        assert [part.numpy().tolist() for part in strategy.experimental_local_results(strategy.run(lambda: v + 0))] == [
            [3, 4]] * 2
        assert strategy.gather(strategy.run(lambda: v[None] + 0), 0).shape == (2, 2)
        assert strategy.reduce("mean", strategy.run(lambda: v * 2), axis=None).numpy().tolist() == [6, 8]


@pytest.mark.parametrize("names", PAIRS)
@pytest.mark.parametrize("norm, loss, evaluated", [
    (False, [0.43982, 0.23466, 0.17957], [0.14241, 0.94595, 0.99702]),
    (True, [0.4326, 0.41654, 0.36834], [0.34775, 0.86486, 0.96726])])
def test_fit(names, norm, loss, evaluated):
    layers = keras.layers
    with d.MirroredStrategy(names).scope():
        first = layers.Dense(8, activation="tanh")
        model = keras.Sequential([keras.Input((5,)), first, *([layers.BatchNormalization()] if norm else []),
                                  layers.Dense(1, activation="sigmoid")])
        first.set_weights(WEIGHTS[:2])
        model.layers[-1].set_weights(WEIGHTS[2:])
        model.compile(keras.optimizers.SGD(0.5), "binary_crossentropy",
                      metrics=["accuracy", keras.metrics.AUC(name="auc")])
    history = model.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0).history
    assert np.allclose(history["loss"], loss, atol=1.5e-5)
    assert np.allclose(model.evaluate(X, Y, batch_size=8, verbose=0), evaluated, atol=1.5e-5)
    assert model.predict(X[:11], batch_size=4, verbose=0).shape == (11, 1)


def test_one_device_and_variables_in_one_place():
    strategy = d.OneDeviceStrategy("/gpu:0")
    assert strategy.run(lambda: tf.ones(2).device).endswith("GPU:0")
    strategy = d.experimental.CentralStorageStrategy(["/gpu:0"], "/cpu:0")
    with strategy.scope():
        v = tf.Variable(1.0)
    assert v.device.endswith("CPU:0") and strategy.extended.parameter_devices == ("/cpu:0",)
    assert float(strategy.run(lambda: v + 1)) == 2
