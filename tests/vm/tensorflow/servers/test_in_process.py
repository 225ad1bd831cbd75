"""Servers and workers of this process; the numbers are those of genuine TensorFlow with the same program."""
import numpy as np
import pytest

from dragon.vm import keras, tensorflow as tf

d = tf.distribute
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5)).astype("f4")
Y = (X.sum(1, keepdims=True) > 0).astype("f4")
W, V = RNG.normal(size=(5, 4)).astype("f4"), RNG.normal(size=(4, 1)).astype("f4")


@pytest.fixture
def cluster():
    """Return what makes strategies, each over servers of its own."""
    made = []

    def make(workers=1, partitioner=None):
        servers = tf.test.create_local_cluster(workers, 2)
        made.extend([*servers[0], *servers[1]])
        spec = {job: [server.target.removeprefix("grpc://") for server in found]
                for job, found in zip(("worker", "ps"), servers)}
        resolver = d.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(spec), rpc_layer="grpc")
        return d.ParameterServerStrategy(resolver, partitioner)
    yield make
    for server in made:
        if server._service is not None:
            server._stop()


def test_a_loop_of_one_s_own(cluster, tmp_path):
    strategy = cluster(1, d.experimental.partitioners.FixedShardsPartitioner(2))
    coordinator = d.coordinator.ClusterCoordinator(strategy)
    assert d.experimental.coordinator.ClusterCoordinator(strategy) is coordinator and coordinator.strategy is strategy
    with strategy.scope():
        w, b, v = tf.Variable(W, name="w"), tf.Variable(tf.zeros(4), name="b"), tf.Variable(V, name="v")
        steps = tf.Variable(0, dtype=tf.int64, trainable=False)
    assert [(tuple(part.shape), part.name, part.device) for part in w.variables] == [
        ((3, 4), "w/part_0:0", "/job:ps/replica:0/task:0/device:CPU:0"),
        ((2, 4), "w/part_1:0", "/job:ps/replica:0/task:1/device:CPU:0")]
    contexts = []

    def data(context):
        contexts.append((context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync))
        return tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)
    batches = iter(coordinator.create_per_worker_dataset(lambda: strategy.distribute_datasets_from_function(data)))
    assert batches.element_spec[0].shape.as_list() == [None, 5] and set(contexts) == {(1, 0, 1)}
    with pytest.raises(NotImplementedError, match="are given their worker's own"):
        next(batches)

    @tf.function
    def step(batches):
        x, y = next(batches)

        def replica(x, y):
            with tf.GradientTape() as tape:
                p = tf.tanh(x @ w + b) @ v
                loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, p))
            return loss, tape.gradient(loss, [w, b, v])
        loss, grads = strategy.run(replica, (x, y))
        for variable, grad in zip((w, b, v), grads):
            variable.assign_sub(0.5 * grad)
        steps.assign_add(1)
        return loss
    results = [coordinator.schedule(step, args=(batches,)) for _ in range(5)]
    coordinator.join()
    assert coordinator.done() and int(steps) == 5
    assert np.allclose(coordinator.fetch({"a": results})["a"], [1.1198822, 1.1146219, 0.4748231, 0.5045075, 0.62225664],
                       atol=1e-6)
    assert np.allclose(w.numpy()[0], [-0.6499562, -0.63431257, -1.5609571, 0.7007571], atol=1e-6)
    last = coordinator.schedule(step, args=(batches,))
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        coordinator.join()
    with pytest.raises(tf.errors.OutOfRangeError):
        last.fetch()
    path = tf.train.Checkpoint(w=w, b=b).save(str(tmp_path / "c"))
    assert [(name, shape) for name, shape in tf.train.list_variables(path) if "/" in name][:3:2] == [
        ("b/.ATTRIBUTES/VARIABLE_VALUE", [4]), ("w/.ATTRIBUTES/VARIABLE_VALUE", [5, 4])]
    before = w.numpy()
    w.assign(tf.zeros((5, 4)))
    w.variables[1].assign(tf.ones((2, 4)))
    assert w.numpy().sum() == 8
    tf.train.Checkpoint(w=w, b=b).restore(path)
    assert (w.numpy() == before).all()
    other = cluster(1, d.experimental.partitioners.FixedShardsPartitioner(3))  # other parts
    with other.scope():
        w2 = tf.Variable(tf.zeros((5, 4)))
    tf.train.Checkpoint(w=w2).restore(path)

    @tf.function
    def total():
        return tf.reduce_sum(w2, 1)
    assert len(w2.variables) == 3
    assert np.allclose(d.coordinator.ClusterCoordinator(other).schedule(total).fetch(), before.sum(1), atol=1e-6)


def test_no_write_is_lost(cluster):
    strategy = cluster(3)
    coordinator = strategy.coordinator
    with strategy.scope():
        count, large = tf.Variable(0), tf.Variable(tf.zeros((9000, 4)))
        assigned = tf.Variable(0.0)

    @tf.function
    def add(row):
        count.assign_add(1)
        large.scatter_nd_add([[row]], tf.ones((1, 4)))
        assigned.assign(5.0)
        return d.coordinator.experimental_get_current_worker_index()
    results = [coordinator.schedule(add, (tf.constant(number % 3),)) for number in range(60)]
    coordinator.join()
    assert int(count) == 60 and float(assigned) == 5
    assert large.numpy().sum() == 240 and large.numpy()[:3, 0].tolist() == [20, 20, 20]
    assert set(coordinator.fetch(results)) <= {0, 1, 2}
    count.assign(100)
    results = [coordinator.schedule(add, kwargs={"row": 0}) for _ in range(2)]
    coordinator.join()
    assert int(count) == 102


def test_errors_cancel_what_waits(cluster):
    coordinator = cluster(2).coordinator

    @tf.function
    def bad():
        raise ValueError("of the user")

    @tf.function
    def good(x):
        return x + 1
    with pytest.raises(ValueError, match="of the user"):
        results = [coordinator.schedule(bad)]
        while True:
            results.append(coordinator.schedule(good, (1,)))
    with pytest.raises(ValueError, match="of the user"):
        results[0].fetch()
    for result in results[1:]:
        try:
            assert result.fetch() == 2
        except tf.errors.CancelledError:
            pass
    assert coordinator.fetch(coordinator.schedule(good.get_concrete_function(tf.TensorSpec([], tf.int32)),
                                                  (tf.constant(3),))) == 4
    for wrong in (3, lambda: 1):
        with pytest.raises(TypeError, match="only accepts a"):
            coordinator.schedule(wrong)
    with pytest.raises(RuntimeError, match="within a tf.function being executed on a worker"):
        d.coordinator.experimental_get_current_worker_index()
    with pytest.raises(ValueError, match="supported to work with"):
        d.coordinator.ClusterCoordinator(d.get_strategy())


def test_variables_that_workers_would_make(cluster):
    strategy = cluster(1)

    @tf.function
    def make(x):
        if float(x) > 0:  # looks at a number, so that nobody knows beforehand
            pass
        return tf.Variable(x) + 1
    with pytest.raises(RuntimeError, match="makes the variable .* on a worker"):
        strategy.coordinator.schedule(make, (tf.constant(1.0),)).fetch()


@pytest.mark.parametrize("is_built", [True, False])
def test_fit_with_one_worker_is_fit_without(cluster, is_built):
    def make():
        keras.utils.set_random_seed(3)
        layers = keras.layers
        model = keras.Sequential([*([keras.Input((5,))] if is_built else []), layers.Dense(8, activation="tanh"),
                                  layers.BatchNormalization(), layers.Dropout(0.2), layers.Dense(1, "sigmoid")])
        model.compile(keras.optimizers.Adam(0.05), "binary_crossentropy", metrics=["accuracy"])
        return model
    data = {"batch_size": 8, "epochs": 2, "shuffle": False, "verbose": 0, "validation_data": (X[:9], Y[:9])}
    alone = make()
    expected = alone.fit(X, Y, **data).history
    strategy = cluster(1, d.experimental.partitioners.MinSizePartitioner(16, 2))
    with strategy.scope():
        model = make()
    found = model.fit(X, Y, **data).history
    for name, values in expected.items():
        assert np.allclose(found[name], values, atol=1e-6), name
    for one, other in zip(model.get_weights(), alone.get_weights()):
        assert np.allclose(one, other, atol=1e-6)
    assert model.predict(X, verbose=0).shape == (40, 1)


def test_fit_of_datasets(cluster):
    strategy = cluster(2)
    with strategy.scope():
        model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1, "sigmoid")])
        model.compile(keras.optimizers.SGD(0.5), "binary_crossentropy")
    data = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(40).repeat().batch(8)
    creator = keras.utils.experimental.DatasetCreator(lambda context: data)
    for source in (data, creator):
        with pytest.raises(ValueError, match="`steps_per_epoch` must be specified"):
            model.fit(source, verbose=0)
        loss = model.fit(source, epochs=3, steps_per_epoch=6, verbose=0).history["loss"]
        assert len(loss) == 3 and loss[-1] < loss[0]
    assert int(model.optimizer.iterations) == 36
    for wrong in (lambda: keras.utils.experimental.DatasetCreator(3),
                  lambda: keras.utils.experimental.DatasetCreator(lambda: 3)()):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("is_built", [True, False])
def test_evaluations_by_workers_have_the_numbers_of_one_process(cluster, workers, is_built, monkeypatch):
    def make():
        keras.utils.set_random_seed(3)
        layers = keras.layers
        model = keras.Sequential([*([keras.Input((5,))] if is_built else []), layers.Dense(8, activation="tanh"),
                                  layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(1, "sigmoid")])
        model.compile("sgd", "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")])
        return model
    alone, weights, strategy, sent = make(), np.linspace(0.5, 2, 40), cluster(workers), []
    with strategy.scope():
        model = make()
    kind, schedule = type(strategy.coordinator), type(strategy.coordinator).schedule
    monkeypatch.setattr(kind, "schedule", lambda *args: sent.append(args) or schedule(*args))
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(7)
    for _ in range(2):  # metrics begin anew
        for words in (dict(x=X, y=Y, batch_size=7), dict(x=X, y=Y, sample_weight=weights, batch_size=7),
                      dict(x=data), dict(x=data, steps=3)):
            expected, found = (one.evaluate(**words, verbose=0) for one in (alone, model))
            assert np.allclose(expected, found, atol=1e-6), words
    told = model.evaluate(X, Y, batch_size=8, verbose=0, return_dict=True)
    assert sorted(told) == ["accuracy", "auc", "loss"] and len(sent) == 2 * (6 + 6 + 6 + 3) + 5
    for one, other in zip(model.get_weights(), alone.get_weights()):
        assert np.array_equal(one, other)


def test_evaluations_of_workers_own_datasets(cluster):
    def make():
        model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1, "sigmoid", kernel_initializer="ones")])
        model.compile(keras.optimizers.SGD(0.0), "binary_crossentropy")
        return model
    with cluster(1).scope():
        model = make()
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)
    creator = keras.utils.experimental.DatasetCreator(lambda context: data)
    expected = make().evaluate(X, Y, batch_size=8, verbose=0)
    for _ in range(2):  # each time from the beginning
        assert model.evaluate(creator, steps=5, verbose=0) == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="`steps` must be specified"):
        model.evaluate(creator, verbose=0)
    history = model.fit(X, Y, epochs=3, validation_data=creator, validation_steps=5, verbose=0).history
    assert history["val_loss"] == pytest.approx([expected] * 3, rel=1e-6)
    with pytest.raises(ValueError, match="`validation_steps` must be specified"):
        model.fit(X, Y, validation_data=creator, verbose=0)


def test_an_evaluation_that_fails_on_a_worker(cluster):
    class Model(keras.Model):
        """Fails where it is evaluated with negative numbers."""

        def call(self, x):
            return tf.debugging.assert_non_negative(x, "too low") or x
    with cluster(2).scope():
        model = Model()
        model.compile(loss="mse", run_eagerly=True)
    with pytest.raises(Exception, match="too low"):
        model.evaluate(-np.ones((40, 2), "f4"), np.ones((40, 2), "f4"), verbose=0)
    assert model.evaluate(np.ones((40, 2), "f4"), np.zeros((40, 2), "f4"), verbose=0) == 1


def test_clusters_that_are_none(monkeypatch):
    def told(cluster, kind="chief"):
        return d.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(cluster), task_type=kind, task_id=0)
    good = {"worker": ["localhost:1"], "ps": ["localhost:2"]}
    for cluster, kind, text in (({}, None, "must be non-empty"), ({"worker": ["a:1"]}, None, "at least one ps"),
                                ({"ps": ["a:1"]}, None, "at least one worker"),
                                ({**good, "chief": ["a:3", "a:4"]}, "chief", "at most one 'chief'"),
                                ({**good, "cook": ["a:1"]}, "chief", r"\['cook'\]"),
                                (good, "cook", "Unrecognized task_type"), (good, "worker", "expected the chief")):
        with pytest.raises(ValueError, match=text):
            d.ParameterServerStrategy(told(cluster, kind))
    for args, text in ((({"a": ["x:1"], "b": ["x:2"]},), "no job_name"), (({"a": ["x:1", "x:2"]},), "no task_index"),
                       (({"a": ["nowhere"]}, "a", 0), "expected a host and a port")):
        with pytest.raises(ValueError, match=text):
            d.Server(*args)
    server = d.Server.create_local_server(start=False)
    assert server.server_def.job_name == "local" and server.target.startswith("grpc://localhost:")
