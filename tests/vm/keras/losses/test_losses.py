"""Losses against genuine Keras: values under every reduction, weights and masks, gradients, configurations, errors."""
import inspect

import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon import _C
from dragon.vm.keras import losses, metrics
from dragon.vm.keras.core.convert import convert_to_tensor

RNG = np.random.default_rng(0)
CHANCES = RNG.random((4, 5), np.float32) + 0.05
CHANCES /= CHANCES.sum(-1, keepdims=True)
LOGITS = RNG.normal(size=(4, 5)).astype("float32")
CHOSEN = np.eye(5, dtype="float32")[[0, 3, 2, 2]]
NUMBERS = np.array([0, 3, 2, 2])
POSITIVE = RNG.random((4, 5), np.float32) * 3
WEIGHTS = RNG.random(4, np.float32)
LABELS = np.array([[1, 2], [3, 0], [2, 2], [1, 4]])
FRAMES = RNG.normal(size=(4, 6, 5)).astype("float32")
UNIT = LOGITS / np.linalg.norm(LOGITS, axis=-1, keepdims=True)

# class, arguments, targets, predictions
ROWS = [
    ("MeanSquaredError", {}, POSITIVE, LOGITS),
    ("MeanAbsoluteError", {}, POSITIVE, LOGITS),
    ("MeanAbsolutePercentageError", {}, POSITIVE, LOGITS),
    ("MeanSquaredLogarithmicError", {}, POSITIVE, CHANCES),
    ("Huber", {}, POSITIVE, LOGITS),
    ("Huber", {"delta": 0.4}, POSITIVE, LOGITS),
    ("LogCosh", {}, POSITIVE, LOGITS),
    ("KLDivergence", {}, CHOSEN, CHANCES),
    ("Poisson", {}, POSITIVE, CHANCES),
    ("Hinge", {}, CHOSEN, LOGITS),
    ("Hinge", {}, CHOSEN * 2 - 1, LOGITS),
    ("SquaredHinge", {}, CHOSEN, LOGITS),
    ("CategoricalHinge", {}, CHOSEN, LOGITS),
    ("CosineSimilarity", {}, POSITIVE, LOGITS),
    ("CosineSimilarity", {"axis": 0}, POSITIVE, LOGITS),
    ("BinaryCrossentropy", {}, CHOSEN, CHANCES),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, CHOSEN, LOGITS),
    ("BinaryFocalCrossentropy", {"apply_class_balancing": True, "alpha": 0.3, "gamma": 1.5}, CHOSEN, CHANCES),
    ("BinaryFocalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, CHOSEN, LOGITS),
    ("CategoricalCrossentropy", {}, CHOSEN, CHANCES),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, CHOSEN, LOGITS),
    ("CategoricalCrossentropy", {"from_logits": True, "axis": 0}, POSITIVE / POSITIVE.sum(0), LOGITS),
    ("CategoricalFocalCrossentropy", {"alpha": 0.3, "gamma": 1.5}, CHOSEN, CHANCES),
    ("CategoricalFocalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, CHOSEN, LOGITS),
    ("SparseCategoricalCrossentropy", {}, NUMBERS, CHANCES),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, NUMBERS[:, None], LOGITS),
    ("SparseCategoricalCrossentropy", {"from_logits": True, "ignore_class": 2}, NUMBERS, LOGITS),
    ("CategoricalGeneralizedCrossEntropy", {"q": 0.7}, NUMBERS, CHANCES),
    ("Dice", {}, CHOSEN, CHANCES),
    ("Dice", {"axis": -1}, CHOSEN, CHANCES),
    ("Tversky", {"alpha": 0.3, "beta": 0.7, "axis": -1}, CHOSEN, CHANCES),
    ("Circle", {}, NUMBERS, UNIT),
    ("Circle", {"gamma": 8.0, "margin": 0.2, "remove_diagonal": False}, NUMBERS, UNIT),
    ("CTC", {}, LABELS, FRAMES),
]
IDS = [f"{name}-{index}" for index, (name, *_) in enumerate(ROWS)]


def compare(ours, theirs, rtol=2e-5, atol=2e-6):
    """Check that two tensors have the same shape and numbers."""
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=rtol, atol=atol)


@each("name, arguments, y_true, y_pred", ROWS, ids=IDS)
def test_values(name, arguments, y_true, y_pred):
    """All reductions, with and without weights."""
    for reduction in ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None):
        ours, theirs = (getattr(module, name)(reduction=reduction, **arguments)
                        for module in (losses, genuine.keras.losses))
        for weights in (None, WEIGHTS):
            if weights is not None and arguments.get("axis") == 0 and reduction in (None, "none"):
                continue  # values of classes, not of samples
            try:
                expected = theirs(y_true, y_pred, sample_weight=weights)
            except Exception:  # genuine weights do not fit these values
                continue
            compare(ours(y_true, y_pred, sample_weight=weights), expected)


@each("name, arguments, y_true, y_pred", ROWS, ids=IDS)
def test_gradients(name, arguments, y_true, y_pred):
    """The gradient of the mean."""
    x = genuine.tf.constant(y_pred)
    with genuine.tf.GradientTape() as tape:
        tape.watch(x)
        expected = getattr(genuine.keras.losses, name)(**arguments)(y_true, x)
    expected = tape.gradient(expected, x)
    before = _C.set_grad_enabled(True)
    try:
        x = convert_to_tensor(y_pred.copy())
        x.requires_grad = True
        found, = _C.grad([getattr(losses, name)(**arguments)(y_true, x)], [x])
    finally:
        _C.set_grad_enabled(before)
    compare(found, expected, rtol=1e-4, atol=1e-5)


@each("name, arguments, y_true, y_pred", ROWS, ids=IDS)
def test_configurations(name, arguments, y_true, y_pred):
    """What is saved, and what is made of it again."""
    ours, theirs = (getattr(module, name)(name="mine", reduction="sum", **arguments)
                    for module in (losses, genuine.keras.losses))
    assert ours.get_config() == theirs.get_config()
    again = type(ours).from_config(ours.get_config())
    assert again.get_config() == ours.get_config()
    restored = losses.deserialize(losses.serialize(ours))
    assert type(restored) is type(ours) and restored.get_config() == ours.get_config()
    told = {key: value for key, value in genuine.keras.losses.serialize(theirs).items()}
    assert losses.serialize(ours) == told


def test_functions_by_name():
    """Every name that genuine Keras knows, in every spelling."""
    assert genuine.keras  # or the test is skipped
    from keras.src.losses import ALL_OBJECTS_DICT
    for name, thing in ALL_OBJECTS_DICT.items():
        if name in ("Loss", "LossFunctionWrapper"):
            continue
        ours = losses.get(name)
        assert (ours.__name__ if inspect.isfunction(thing) else type(ours).__name__) == thing.__name__
    assert losses.get(None) is None
    assert losses.get(losses.Hinge) .__class__ is losses.Hinge
    with pytest.raises(ValueError, match="nothing$"):
        losses.get("nothing")


def test_public_names():
    """All names of the namespace are there, those of Keras 2 that `tf.keras` has as well."""
    for module in (losses, metrics):
        old = getattr(genuine.tf.keras, module.__name__.rpartition(".")[2])
        for name in ("KLD", "MAE", "MAPE", "MSE", "MSLE", "kld", "logcosh", "mse", "kullback_leibler_divergence"):
            assert getattr(module, name).__name__ == getattr(old, name).__name__
        with pytest.raises(AttributeError, match="'nothing'"):
            module.nothing
    assert losses.Reduction.SUM == genuine.tf.keras.losses.Reduction.SUM
    missing = {name for name in dir(genuine.keras.losses) if not name.startswith("_")} - set(dir(losses))
    assert not missing


@pytest.mark.parametrize("weights", [None, WEIGHTS[:, None]], ids=["plain", "weighted"])
@pytest.mark.parametrize("reduction", ["sum_over_batch_size", "sum", "mean_with_sample_weight", "none"])
def test_masks(reduction, weights):
    """What a mask of predictions leaves out does not count."""
    mask = np.array([[True, False, True], [True, True, False], [False, False, False], [True, True, True]])
    y_true, y_pred = POSITIVE[:, :3, None], LOGITS[:, :3, None]
    results = []
    for module, convert in ((losses, convert_to_tensor), (genuine.keras.losses, genuine.tf.constant)):
        x = convert(y_pred)
        x._keras_mask = convert(mask)
        results.append(module.MeanSquaredError(reduction=reduction)(y_true, x, sample_weight=weights))
    compare(*results)


def test_ranks():
    """A last axis of size one is added or taken away."""
    for shapes in (((4,), (4, 1)), ((4, 1), (4,)), ((4, 5, 1), (4, 5)), ((4, 1, 1), (4, 1))):
        y_true, y_pred = (np.arange(np.prod(shape), dtype="float32").reshape(shape) / 7 for shape in shapes)
        compare(losses.MeanSquaredError(reduction="none")(y_true, 1 - y_pred),
                genuine.keras.losses.MeanSquaredError(reduction="none")(y_true, 1 - y_pred))


def test_integers():
    """Functions of integers compute with floats."""
    for name in ("mean_squared_error", "mean_absolute_error", "poisson", "hinge"):
        compare(getattr(losses, name)(np.ones((3, 4), "int32"), np.full((3, 4), 2)),
                getattr(genuine.keras.losses, name)(np.ones((3, 4), "float32"), np.full((3, 4), 2.0, "float32")))


def test_own_losses():
    """A subclass, a wrapped function, and a structure of predictions."""
    class Own(losses.Loss):
        def call(self, y_true, y_pred):
            return (y_true["a"] - y_pred["a"]) ** 2 + y_pred["b"]

    part = {"a": POSITIVE, "b": CHANCES}
    np.testing.assert_allclose(Own(reduction="sum")(part, {"a": LOGITS, "b": CHANCES}).numpy(),
                               ((POSITIVE - LOGITS) ** 2 + CHANCES).sum(), rtol=1e-5)
    assert Own().name.startswith("own")
    assert Own(name="x").get_config() == {"name": "x", "reduction": "sum_over_batch_size"}
    with pytest.raises(NotImplementedError):
        losses.Loss()(POSITIVE, LOGITS)


def test_dtypes():
    """What a loss computes in is its own."""
    loss = losses.MeanSquaredError(dtype="float16")
    assert loss.dtype == "float16"
    assert loss(POSITIVE, LOGITS).dtype == "float16"
    assert losses.MeanSquaredError(dtype="bfloat16")(POSITIVE, LOGITS).dtype == "bfloat16"


def test_logits_behind_a_probability():
    """A softmax or sigmoid that is still known is undone, as in genuine Keras."""
    from dragon.vm.keras import activations
    y_true, logits = CHOSEN, LOGITS * 40
    for name, activation in (("CategoricalCrossentropy", "softmax"), ("BinaryCrossentropy", "sigmoid")):
        ours = getattr(losses, name)()(y_true, getattr(activations, activation)(convert_to_tensor(logits)))
        keras = genuine.keras
        theirs = getattr(keras.losses, name)()(y_true, getattr(keras.activations, activation)(logits))
        compare(ours, theirs)


@pytest.mark.parametrize("call, told", [
    (lambda: losses.MeanSquaredError(reduction="most"), "reduction=most"),
    (lambda: losses.CategoricalGeneralizedCrossEntropy(q=2), "q=2"),
    (lambda: losses.categorical_crossentropy(CHOSEN, CHANCES, axis=True), "<class 'bool'>"),
    (lambda: losses.ctc(NUMBERS, FRAMES), r"y_true.shape=\(4,\)"),
    (lambda: losses.ctc(LABELS, LOGITS), r"y_pred.shape=\(4, 5\)"),
    (lambda: losses.get(3), "3"),
], ids=["reduction", "q", "axis", "labels", "frames", "identifier"])
def test_wrong_arguments(call, told):
    """Errors end in what was received."""
    with pytest.raises(ValueError, match=rf"{told}\.?$"):
        call()
