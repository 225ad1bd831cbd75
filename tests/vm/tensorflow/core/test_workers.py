"""MultiWorkerMirroredStrategy in two processes, which TF_CONFIG tells of each other."""
import json
import signal

import pytest

from dragon.vm import tensorflow as tf
from harness.ranks import HEAD, Ranks, run_ranks

PROGRAM = HEAD + '''
import json, os
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": [f"127.0.0.1:{port + n}" for n in range(size)]},
                                      "task": {"type": "worker", "index": rank}})
import numpy as np
from dragon.vm import keras, tensorflow as tf
d = tf.distribute
strategy = d.MultiWorkerMirroredStrategy()

def parts(data):
    return [np.asarray(batch).tolist() for batch in data]
'''


def test_values_variables_and_data():
    run_ranks('''
    assert strategy.num_replicas_in_sync == 2 and strategy.extended._in_multi_worker_mode()
    assert strategy.extended.worker_devices == (f"/job:worker/replica:0/task:{rank}/device:CPU:0",)
    assert (strategy.cluster_resolver.task_type, strategy.cluster_resolver.task_id) == ("worker", rank)
    assert strategy.extended.should_checkpoint == (rank == 0)
    data = tf.data.Dataset.range(9)
    assert parts(strategy.experimental_distribute_dataset(data.batch(4))) == [
        [[0, 1], [4, 5], [8]], [[2, 3], [6, 7], []]][rank]
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    assert parts(strategy.experimental_distribute_dataset(data.batch(4).with_options(options))) == [
        [0, 1], [2, 3], [4, 5], [6, 7], [8]]
    def make(context):
        return data.shard(context.num_input_pipelines, context.input_pipeline_id).batch(
            context.get_per_replica_batch_size(4))
    assert parts(strategy.distribute_datasets_from_function(make)) == [
        [[0, 2], [4, 6], [8]], [[1, 3], [5, 7], []]][rank]

    def inside():
        context = d.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        return number, context.all_reduce("sum", number + 1), context.all_gather(tf.fill([2], number), 0)
    number, total, rows = strategy.run(inside)
    assert (float(number), float(total), rows.numpy().tolist()) == (rank, 3, [0, 0, 1, 1])
    assert float(strategy.reduce("sum", number, axis=None)) == 1
    assert strategy.gather(strategy.run(lambda: tf.range(1.0 + rank)), 0).numpy().tolist() == [0, 0, 1]
    mean = strategy.reduce("mean", strategy.run(lambda: tf.range(2.0 + rank) + rank), axis=0)
    assert abs(float(mean) - 1.4) < 1e-6
    with strategy.scope():
        first = tf.Variable(1.0 + rank)
        mean = tf.Variable(3.0, aggregation=tf.VariableAggregation.MEAN)
        added = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ,
                            aggregation=tf.VariableAggregation.SUM)
    strategy.run(lambda: [mean.assign(float(rank)), added.assign_add(1.0 + rank)])
    assert (float(first), float(mean), float(added)) == (1, 0.5, 3)
    added.assign(6.0)
    assert float(strategy.run(lambda: added.read_value())) == 3
    ''', 2, PROGRAM)


def test_training_has_the_losses_of_genuine_tensorflow():
    run_ranks('''
    rng = np.random.default_rng(0)
    x = rng.normal(size=(37, 5)).astype("float32")
    y = (x.sum(1, keepdims=True) > 0).astype("float32")
    weights = [rng.normal(size=shape).astype("float32") * 0.3 for shape in ((5, 8), (8,), (8, 1), (1,))]
    with strategy.scope():
        model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="tanh"),
                                  keras.layers.Dense(1, activation="sigmoid")])
        model.set_weights(weights)
        model.compile(keras.optimizers.Adam(0.05), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0).history
    assert np.allclose(history["loss"], [0.48493, 0.19537, 0.12276], atol=1.5e-5), history
    assert np.allclose(history["accuracy"], [0.81081, 0.97297, 0.97297], atol=1.5e-5), history
    assert np.allclose(model.evaluate(x, y, batch_size=8, verbose=0), [0.0956, 0.97297], atol=1.5e-5)
    ''', 2, PROGRAM)


def test_what_tf_config_must_say(monkeypatch):
    cluster = {"cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}, "task": {"type": "ps", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
    with pytest.raises(ValueError, match="expected one of the cluster's that train"):
        tf.distribute.MultiWorkerMirroredStrategy()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    assert (resolver.task_type, resolver.task_id, resolver.master()) == ("ps", 0, "grpc://c:1")
    assert resolver.cluster_spec().num_tasks("worker") == 1 and resolver.num_accelerators() == {}
    monkeypatch.setenv("TF_CONFIG", json.dumps({**cluster, "task": {"type": "evaluator", "index": 0}}))
    evaluator = tf.distribute.MultiWorkerMirroredStrategy()
    assert evaluator.num_replicas_in_sync == 1 and not evaluator.extended._in_multi_worker_mode()
    monkeypatch.setenv("TF_CONFIG", "{")
    with pytest.raises(ValueError, match="expected JSON"):
        tf.distribute.MultiWorkerMirroredStrategy()


def test_resolvers():
    kinds = tf.distribute.cluster_resolver
    one = kinds.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["a:1", "b:2"]}), "m:3", "worker", 1)
    two = kinds.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["b:2", "c:3"], "ps": ["d:4"]}))
    assert one.master() == "m:3" and one.master("worker", 0, "grpc") == "grpc://a:1"
    union = kinds.UnionResolver(one, two)
    assert union.cluster_spec().as_dict() == {"worker": ["a:1", "b:2", "c:3"], "ps": ["d:4"]}
    assert (union.task_type, union.task_id) == ("worker", 1)
    for wrong in (lambda: kinds.SimpleClusterResolver({}), lambda: kinds.UnionResolver(3)):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: kinds.UnionResolver(), lambda: kinds.UnionResolver(one, colour=1)):
        with pytest.raises(ValueError):
            wrong()


BACKUP = """
    import signal
    chance = np.random.default_rng(0)
    x = chance.normal(size=(32, 5)).astype("float32")
    y = x.sum(1, keepdims=True)
    keras.utils.set_random_seed(5 + rank)  # the first worker's weights are everybody's
    with strategy.scope():
        model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
        model.compile(keras.optimizers.Adam(0.05), "mse")
    if not KILLED:
        model.load_weights("FOLDER/first.weights.h5")
    elif rank == 0 and not os.path.exists("FOLDER/first.weights.h5"):
        model.save_weights("FOLDER/first.weights.h5")
    count = [0]

    def note(epoch, logs):
        count[0] += 1
        with open(f"FOLDER/losses-{rank}-KILLED", "a") as file:
            file.write(f"{epoch} {float(logs['loss']).hex()}\\n")

    def die(batch, logs):
        if rank == KILLED - 1 and count[0] == 2 and batch == 2:
            os.kill(os.getpid(), signal.SIGKILL)
    model.fit(x, y, batch_size=8, epochs=5, shuffle=False, verbose=0, callbacks=[
        keras.callbacks.LambdaCallback(on_epoch_end=note, on_train_batch_end=die),
        keras.callbacks.BackupAndRestore("FOLDER/backup" if rank == 0 else "FOLDER/elsewhere")])
"""


def test_a_training_whose_worker_is_killed_goes_on_with_the_losses_it_would_have_had(tmp_path):
    code = BACKUP.replace("FOLDER", str(tmp_path))
    for dead in (1, 0):  # in their third epoch after each beginning
        found = Ranks(code.replace("KILLED", str(dead + 1)), 2, PROGRAM).finish()
        assert found[dead][0] == -signal.SIGKILL and found[1 - dead][0] == 1, found
        assert f"rank {dead}" in found[1 - dead][2]
        assert json.loads((tmp_path / "backup" / "training_metadata.json").read_text())["epoch"] == 4 - 2 * dead
    run_ranks(code.replace("KILLED", "3"), 2, PROGRAM)
    run_ranks(code.replace("KILLED", "0"), 2, PROGRAM)
    for rank in range(2):
        killed = [line for dead in (2, 1, 3) for line in (tmp_path / f"losses-{rank}-{dead}").read_text().splitlines()]
        assert killed == (tmp_path / f"losses-{rank}-0").read_text().splitlines() and len(killed) == 5
    assert not (tmp_path / "backup").exists() and not (tmp_path / "elsewhere").exists()
