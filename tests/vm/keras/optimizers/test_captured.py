"""Optimizers, losses and metrics within captured graphs: the same numbers as outside, nothing that ends a capture."""
import numpy as np

from dragon.core.capture.function import Function
from dragon.vm.keras import losses, metrics, optimizers
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.variable import Variable
from dragon.vm.keras.losses.wrapper import NamedLoss
from harness.subresults import each

RNG = np.random.default_rng(0)
START = [RNG.normal(size=shape).astype("float32") for shape in ((4, 3), (3,))]
STEPS = [[RNG.normal(size=value.shape).astype("float32") for value in START] for _ in range(6)]
STEPS[3][1] = np.full(3, np.inf, "float32")  # overflows: steps of scaled losses leave it out
SHARED = [
    {}, {"weight_decay": 0.1}, {"clipnorm": 0.5}, {"global_clipnorm": 0.5}, {"clipvalue": 0.3},
    {"use_ema": True, "ema_overwrite_frequency": 2}, {"loss_scale_factor": 4.0},
    {"gradient_accumulation_steps": 2}, {"gradient_accumulation_steps": 3, "weight_decay": 0.1, "use_ema": True}]
ROWS = [(name, {}) for name in ("SGD", "AdamW", "Adamax", "Nadam", "Lamb", "Lion", "Ftrl", "RMSprop", "Adagrad",
                                "Adadelta", "Adafactor", "Muon", "ScheduleFreeAdamW")]
ROWS += [("Adam", shared) for shared in SHARED] + [("SGD", {"momentum": 0.9, **shared}) for shared in SHARED[1:]]


def run(make, captured, steps):
    """Return the numbers of all variables after some steps."""
    variables = [Variable(value, name=f"v{index}") for index, value in enumerate(START)]
    optimizer = make()
    optimizer.build(variables)

    def step(*grads):
        optimizer.apply(list(grads), variables)
    if captured:
        step = Function(step, strict=True)
    for grads in steps:
        step(*(convert_to_tensor(gradient) for gradient in grads))
    if captured:
        assert step.fallback is None and len(step.variants) == 1, step.explain()
    return [variable.numpy() for variable in (*variables, *optimizer.variables)]


def compare(make, steps):
    """Check that captured steps do what others do."""
    with np.errstate(all="ignore"):
        for plain, captured in zip(run(make, False, steps), run(make, True, steps)):
            np.testing.assert_allclose(captured, plain, rtol=2e-5, atol=2e-6)


@each("name, arguments", ROWS, ids=[f"{name}-{index}" for index, (name, _) in enumerate(ROWS)])
def test_steps(name, arguments):
    """One graph for all steps."""
    schedule = optimizers.schedules.CosineDecay(0.1, 5)
    finite = STEPS[:3] + STEPS[4:]
    compare(lambda: getattr(optimizers, name)(0.1, **arguments), finite)
    compare(lambda: getattr(optimizers, name)(schedule, **arguments), finite)


def test_loss_scale():
    """Steps that overflow change nothing but the scale."""
    compare(lambda: optimizers.LossScaleOptimizer(optimizers.Adam(0.1), initial_scale=4.0, dynamic_growth_steps=2),
            STEPS)


class Own(optimizers.Optimizer):
    """An optimizer that writes its variables itself."""

    def update_step(self, gradient, variable, learning_rate):
        variable.assign(variable - gradient * learning_rate)


def test_own_optimizer():
    """A user's class that does not go by way of `assign`."""
    compare(lambda: Own(0.1, gradient_accumulation_steps=2), STEPS[:3])
    compare(lambda: optimizers.LossScaleOptimizer(Own(0.1), initial_scale=4.0, dynamic_growth_steps=2), STEPS)


def test_several():
    """Several optimizers in one graph."""
    compare(lambda: optimizers.MultiOptimizer(optimizers.OptimizerMap(
        optimizers.Adam(0.1), {"v1": optimizers.SGD(0.1)})), STEPS[:3])


def test_learning_rate():
    """A rate that is assigned between steps is seen by the graph."""
    variable = Variable(np.zeros(2, "float32"))
    optimizer = optimizers.SGD(1.0)
    step = Function(lambda gradient: optimizer.apply([gradient], [variable]), strict=True)
    gradient = convert_to_tensor(np.ones(2, "float32"))
    optimizer.build([variable])
    for rate in (1.0, 10.0, 100.0):
        optimizer.learning_rate = rate
        step(gradient)
    np.testing.assert_array_equal(variable.numpy(), [-111.0, -111.0])
    assert len(step.variants) == 1 and int(optimizer.iterations) == 3


METRICS = [
    ("Mean", {}), ("MeanSquaredError", {}), ("BinaryAccuracy", {}), ("AUC", {}), ("Precision", {}),
    ("Recall", {"thresholds": [0.2, 0.7]}), ("R2Score", {"num_regressors": 1}), ("F1Score", {"threshold": 0.5}),
    ("BinaryIoU", {}), ("CosineSimilarity", {}), ("RootMeanSquaredError", {}), ("TopKCategoricalAccuracy", {"k": 2}),
    ("SpecificityAtSensitivity", {"sensitivity": 0.5})]


@each("name, arguments", METRICS, ids=[name for name, _ in METRICS])
def test_metrics(name, arguments):
    """Batches of two sizes; the state goes on from one to the other."""
    results = []
    for captured in (False, True):
        rng = np.random.default_rng(1)
        metric = getattr(metrics, name)(**arguments)

        def step(y_true, y_pred):
            metric.update_state(*([y_pred] if name == "Mean" else [y_true, y_pred]))
            return metric.result()
        sizes = (6, 6, 4, 6, 4)
        batches = [((rng.random((size, 3)) > 0.5).astype("float32"), rng.random((size, 3)).astype("float32"))
                   for size in sizes]
        step(*map(convert_to_tensor, batches[0]))  # makes the variables
        if captured:
            step = Function(step, strict=True)
        results.append([step(*map(convert_to_tensor, batch)).numpy() for batch in batches])
        assert not captured or step.fallback is None, step.explain()
    np.testing.assert_allclose(*results, rtol=2e-5, atol=2e-6)


@each("name", [cls.__name__ for cls in NamedLoss.__subclasses__()])
def test_losses(name):
    """Losses of two sizes of batches."""
    rng = np.random.default_rng(1)
    loss = getattr(losses, name)()
    step = Function(loss, strict=True)
    for size in (4, 3, 4, 3):
        if name == "CTC":
            y_true, y_pred = np.array([[1, 2], [3, 0], [2, 2], [1, 1]])[:size], rng.normal(size=(size, 6, 5))
        elif name in ("SparseCategoricalCrossentropy", "CategoricalGeneralizedCrossEntropy", "Circle"):
            y_true, y_pred = np.array([0, 2, 1, 2])[:size], rng.random((size, 4))
        else:
            y_true, y_pred = np.eye(4, dtype="float32")[:size], rng.random((size, 4))
        y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred.astype("float32"))
        np.testing.assert_allclose(step(y_true, y_pred).numpy(), loss(y_true, y_pred).numpy(), rtol=2e-5, atol=2e-6)
    assert step.fallback is None, step.explain()
