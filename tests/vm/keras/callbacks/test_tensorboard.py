"""TensorBoard's files, read by genuine TensorFlow."""
import gzip
import json

import numpy
import pytest

from dragon.vm import keras
from harness import genuine
from harness.keras_models import make_mlp, random

X, Y = random(40, 5), numpy.random.RandomState(1).randint(0, 3, 40)


def fit(folder, module=keras, epochs=2, **options):
    """Train for some epochs; return the model."""
    model = make_mlp(module)
    model.compile(module.optimizers.SGD(0.5), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(X, Y, batch_size=16, epochs=epochs, verbose=0, validation_split=0.2,
              callbacks=[module.callbacks.TensorBoard(folder, **options)])
    return model


def read(folder):
    """Return {(tag, step): (value, plugin)} of all files in a folder."""
    tf, found = genuine.tf, {}
    for path in sorted(folder.glob("events*")):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                found[value.tag, event.step] = tf.make_ndarray(value.tensor), value.metadata.plugin_data.plugin_name
    return found


def test_metrics_of_epochs(tmp_path):
    model = fit(tmp_path)
    train, validation, history = read(tmp_path / "train"), read(tmp_path / "validation"), model.history.history
    for epoch in range(2):
        for name in ("loss", "accuracy"):
            numpy.testing.assert_allclose(train[f"epoch_{name}", epoch][0], history[name][epoch], rtol=1e-6)
            value = validation[f"epoch_{name}", epoch][0]
            numpy.testing.assert_allclose(value, history[f"val_{name}"][epoch], rtol=1e-6)
        assert train["epoch_learning_rate", epoch] == (0.5, "scalars")
        assert ("evaluation_loss_vs_iterations", 2 * epoch + 2) in validation
    text, plugin = train["keras", 0]
    assert plugin == "graph_keras_model" and json.loads(text.item())["class_name"] == "Sequential"


def test_batches_weights_and_speed(tmp_path):
    fit(tmp_path, update_freq="batch", histogram_freq=1, write_images=True, write_steps_per_second=True,
        write_graph=False)
    train = read(tmp_path / "train")
    assert [step for tag, step in train if tag == "batch_loss"] == [1, 2, 3, 4]
    assert [step for tag, step in train if tag == "batch_steps_per_second"] == [1, 2, 3, 4]
    assert "keras" not in {tag for tag, _ in train}
    tags = {tag for tag, _ in train}
    assert "epoch_steps_per_second" in tags and any(tag.endswith("kernel/image") for tag in tags)
    table = next(value for (tag, _), (value, _) in train.items() if tag.endswith("kernel/histogram"))
    assert table.shape[1] == 3 and table[:, 2].sum() == 40


def test_profile_and_embeddings(tmp_path):
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Embedding(9, 4, name="words"),
                              keras.layers.Flatten(), keras.layers.Dense(3, activation="softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    board = keras.callbacks.TensorBoard(tmp_path, profile_batch="2,3", embeddings_freq=1,
                                        embeddings_metadata={"words": "words.tsv"})
    model.fit(numpy.ones((40, 3), "int32"), Y, batch_size=8, epochs=1, verbose=0, callbacks=[board])
    trace, = (tmp_path / "train" / "plugins" / "profile").glob("*/*.trace.json.gz")
    assert json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    assert 'metadata_path: "words.tsv"' in (tmp_path / "projector_config.pbtxt").read_text()
    assert (tmp_path / "train" / "keras_embedding.ckpt-0.weights.h5").exists()


def test_unknown_embeddings(tmp_path):
    with pytest.raises(ValueError, match="Received: \\['strange'\\]"):
        fit(tmp_path, embeddings_freq=1, embeddings_metadata={"strange": "x"})
