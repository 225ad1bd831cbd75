"""Servers and workers in processes of their own, which TF_CONFIG tells of each other, and which are killed."""
import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from harness.ranks import find_port

SERVE = '''
from dragon.vm import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
assert resolver.task_type in ("worker", "ps")
tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id,
                     protocol=resolver.rpc_layer or "grpc").join()
'''
CHIEF = '''
import json, os, subprocess, sys
import numpy as np
import dragon.vm
from dragon.vm import keras, tensorflow as tf
d = tf.distribute
cluster = json.loads(os.environ["TF_CONFIG"])["cluster"]

def start(kind, index):
    config = json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})
    return subprocess.Popen([sys.executable, "serve.py"], env={**os.environ, "TF_CONFIG": config})

others = {(kind, index): start(kind, index) for kind in ("worker", "ps") for index in range(len(cluster[kind]))}
try:
    strategy = d.ParameterServerStrategy(d.cluster_resolver.TFConfigClusterResolver())
    coordinator = d.coordinator.ClusterCoordinator(strategy)
    BODY
finally:
    for other in others.values():
        other.kill()
        other.wait()
'''


@pytest.fixture
def chief(tmp_path):
    """Return what runs a program as the chief of some workers and one server or more."""
    def run(body, workers=1, servers=1):
        tmp_path.joinpath("serve.py").write_text(SERVE)
        body = textwrap.indent(textwrap.dedent(body), "    ").strip()
        tmp_path.joinpath("chief.py").write_text(CHIEF.replace("BODY", body))
        cluster = {"worker": [f"localhost:{find_port()}" for _ in range(workers)], "chief": ["localhost:1"],
                   "ps": [f"localhost:{find_port()}" for _ in range(servers)]}
        config = json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}})
        made = subprocess.Popen([sys.executable, "chief.py"], cwd=tmp_path, env={**os.environ, "TF_CONFIG": config},
                                stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            said = made.communicate(timeout=100)[1]
        finally:
            try:
                os.killpg(made.pid, signal.SIGKILL)  # whoever is left of them all
            except ProcessLookupError:
                pass
        assert made.returncode == 0, said[-3000:]
    return run


def test_a_worker_that_is_killed(chief):
    chief('''
    with strategy.scope():
        count = tf.Variable(0)

    @tf.function
    def count_one(x):
        count.assign_add(1)
        return x * 2

    def late():
        import time
        while not os.path.exists("go"):
            time.sleep(0.01)
        yield 7

    @tf.function
    def wait(batches):
        count.assign_add(1)
        return next(batches)

    data = tf.data.Dataset.from_generator(late, output_signature=tf.TensorSpec([], tf.int32))
    batches = iter(coordinator.create_per_worker_dataset(data))
    assert coordinator.schedule(count_one, (1,)).fetch() == 2
    import time
    slow = coordinator.schedule(wait, (batches,))
    time.sleep(0.5)
    others["worker", 0].kill()  # in the middle of its function
    others["worker", 0].wait()
    open("go", "w").close()
    results = [coordinator.schedule(count_one, (number,)) for number in range(10)]
    others["worker", 0] = start("worker", 0)  # which gets the function once more, and those that wait
    coordinator.join()
    assert slow.fetch() == 7 and coordinator.fetch(results) == [2 * number for number in range(10)]
    assert int(count) == 12, int(count)
    ''')


def test_training_goes_on_and_a_server_that_is_killed(chief):
    chief('''
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.last = keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)

        def call(self, x):
            return self.last(self.first(x))

    x = np.random.default_rng(0).normal(size=(64, 5)).astype("f4")
    y = x.sum(1, keepdims=True)
    with strategy.scope():
        model = Net()
        optimizer, mean = keras.optimizers.Adam(0.02), keras.metrics.Mean()

    def data(context):
        return tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a, b * 0.5)).shuffle(64).repeat().batch(16)

    @tf.function
    def step(batches):
        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x) - y) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            mean.update_state(loss)
            return loss
        losses = strategy.run(replica, args=next(batches))
        return strategy.reduce(d.ReduceOp.SUM, losses, axis=None)

    batches = iter(coordinator.create_per_worker_dataset(lambda: strategy.distribute_datasets_from_function(data)))
    found = []
    for epoch in range(4):
        mean.reset_state()
        for number in range(15):
            last = coordinator.schedule(step, args=(batches,))
            if (epoch, number) == (1, 8):
                others["worker", 1].kill()
        coordinator.join()
        found.append(float(mean.result()))
    assert found[3] < 0.2 * found[0], found
    assert 60 <= int(optimizer.iterations) <= 61 and len(model.weights) == 4
    others["ps", 1].kill()
    others["ps", 1].wait()
    try:
        for _ in range(3):
            coordinator.schedule(step, args=(batches,))
        coordinator.join()
    except tf.errors.UnavailableError as error:
        assert "/job:ps/replica:0/task:1 at localhost" in str(error), error
    else:
        raise AssertionError("no error")
    ''', 2, 2)
