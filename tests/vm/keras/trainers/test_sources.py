"""`fit` on data of all kinds: the same history as from arrays, and as genuine Keras's."""
import warnings

import numpy
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as tf
from harness import genuine
from harness.keras_models import assert_alike, compile_twins, make_mlp, make_twins, random
from harness.subresults import each

X, Y = random(40, 5), numpy.random.RandomState(1).randint(0, 3, 40)
WEIGHTS = random(40, seed=2)
OPTIONS = dict(loss="sparse_categorical_crossentropy", metrics=["accuracy"], weighted_metrics=["accuracy"])


def dataset(keras, tf, *arrays):
    """Return batches of 16 as a dataset."""
    return tf.data.Dataset.from_tensor_slices(arrays).batch(16)


def unknown(keras, tf, *arrays):
    """Return a dataset that does not know how many batches it has."""
    return dataset(keras, tf, *arrays).filter(lambda *parts: True)


def generator(keras, tf, *arrays):
    """Return a generator that never ends."""
    def batches():
        while True:
            for start in range(0, 40, 16):
                yield tuple(array[start:start + 16] for array in arrays)
    return batches()


def py_dataset(keras, tf, *arrays):
    """Return an object with batches by number."""
    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return tuple(array[16 * index:16 * index + 16] for array in arrays)

    return Batches(workers=2)


def loader(keras, tf, *arrays):
    """Return a loader of PyTorch's."""
    torch = pytest.importorskip("torch")
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*map(torch.from_numpy, arrays)), batch_size=16)


def fit(module, tf_module, model, source, arrays, **options):
    """Return a history."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = source(module, tf_module, *arrays)
        return model.fit(data, epochs=3, verbose=0, shuffle=False, **options).history


@each("arrays", [(X, Y), (X, Y, WEIGHTS)], ids=["targets", "weights"])
@each("source", [dataset, unknown, generator, py_dataset, loader], ids=lambda made: made.__name__)
@pytest.mark.long("genuine Keras trains as well, and traces each model")
def test_history_from_all_sources(source, arrays):
    twins = make_twins(make_mlp)
    compile_twins(twins, **OPTIONS)
    options = {"steps_per_epoch": 3} if source is generator else {}
    ours = fit(keras, tf, twins[0], source, arrays, **options)
    theirs = fit(genuine.keras, genuine.tf, twins[1], source, arrays, **options)
    assert_alike(ours, theirs)
    assert twins[0].train_function.function.fallback is None


def test_class_weights_with_a_dataset():
    twins = make_twins(make_mlp)
    compile_twins(twins, **OPTIONS)
    options = {"class_weight": {0: 3.0, 2: 0.5}}
    assert_alike(fit(keras, tf, twins[0], dataset, (X, Y), **options),
                 fit(genuine.keras, genuine.tf, twins[1], dataset, (X, Y), **options))


def test_evaluate_and_predict_on_datasets():
    twins = make_twins(make_mlp)
    compile_twins(twins, **OPTIONS)
    scores, outputs = [], []
    for model, module, tf_module in zip(twins, (keras, genuine.keras), (tf, genuine.tf)):
        data = dataset(module, tf_module, X, Y)
        model.fit(data, epochs=1, verbose=0, validation_data=data, validation_steps=2)
        scores.append(model.evaluate(data, verbose=0, return_dict=True))
        outputs.append([model.predict(data, verbose=0), model.predict(data, steps=2, verbose=0)])
    assert_alike(*scores)
    assert_alike(*outputs)


def test_inputs_by_name():
    def make(keras):
        a, b = keras.layers.Input((5,), name="a"), keras.layers.Input((5,), name="b")
        return keras.Model({"a": a, "b": b}, keras.layers.Dense(3, activation="softmax")(a * 2 + b))

    twins = make_twins(make)
    compile_twins(twins, **OPTIONS)
    data = {"a": X, "b": X + 1}
    assert_alike(*(model.fit(data, Y, epochs=2, shuffle=False, verbose=0).history for model in twins))
    assert_alike(*(model.predict(data, verbose=0) for model in twins))


def test_a_bar_without_an_end(capsys):
    model = make_twins(make_mlp)[0]
    model.compile("sgd", "sparse_categorical_crossentropy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(unknown(keras, tf, X, Y), epochs=2)
    lines = capsys.readouterr().out.split("\n")
    assert "1/Unknown" in lines[1] and "\x1b[1m3/3\x1b[0m" in lines[3]


def test_what_an_interrupted_source_leaves():
    model = make_twins(make_mlp)[0]
    model.compile("sgd", "sparse_categorical_crossentropy")
    with pytest.warns(UserWarning, match="ran out of data"):
        history = model.fit(dataset(keras, tf, X, Y), epochs=2, steps_per_epoch=2, verbose=0)
    assert len(history.history["loss"]) == 2


def test_strings_are_inputs():
    texts, y = numpy.array(["a b c", "b c", "c d a", "d"] * 5), numpy.arange(20) % 2
    words = keras.layers.TextVectorization(output_sequence_length=4)
    words.adapt(texts)
    model = keras.Sequential([keras.layers.Input((), dtype="string"), words, keras.layers.Embedding(10, 4),
                              keras.layers.Flatten(), keras.layers.Dense(1, activation="sigmoid")])
    model.compile("sgd", "binary_crossentropy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        history = model.fit(texts, y, epochs=2, batch_size=8, validation_split=0.2, verbose=0).history
        outputs = [model.predict(x, verbose=0) for x in (texts, texts.astype(object), tf.constant(texts))]
    assert len(history["val_loss"]) == 2
    assert_alike(outputs[1:], [outputs[0]] * 2)


def test_workers_that_draw_numbers_do_not_disturb_captures():
    class Drawing(keras.utils.PyDataset):
        def __len__(self):
            return 20

        def __getitem__(self, index):
            for _ in range(20):
                numpy.random.rand(100, 50)
            return numpy.random.rand(16, 5).astype("float32"), numpy.random.randint(0, 3, 16)

    model = make_twins(make_mlp)[0]
    model.compile("sgd", "sparse_categorical_crossentropy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(Drawing(workers=3), epochs=1, verbose=0)
    assert model.train_function.function.variants and model.train_function.function.fallback is None
