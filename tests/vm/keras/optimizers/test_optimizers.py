"""Optimizers against genuine Keras: variables and states over several steps, files' order, configurations, errors."""
import inspect

import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon.vm.keras import optimizers
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.scopes import name_scope
from dragon.vm.keras.core.variable import Variable

RNG = np.random.default_rng(0)
SHAPES = {"kernel": (4, 3), "bias": (3,), "embeddings": (5, 2), "cube": (2, 3, 2)}
START = {name: RNG.normal(size=shape).astype("float32") for name, shape in SHAPES.items()}
STEPS = [{name: RNG.normal(size=shape).astype("float32") for name, shape in SHAPES.items()} for _ in range(5)]

ROWS = [
    ("SGD", {}), ("SGD", {"momentum": 0.9}), ("SGD", {"momentum": 0.9, "nesterov": True, "learning_rate": 0.1}),
    ("Adam", {}), ("Adam", {"amsgrad": True, "learning_rate": 0.1}), ("Adam", {"beta_1": 0.5, "epsilon": 1e-3}),
    ("AdamW", {}), ("AdamW", {"weight_decay": 0.1, "learning_rate": 0.1}),
    ("Adamax", {"learning_rate": 0.1}), ("Nadam", {"learning_rate": 0.1}), ("Lamb", {"learning_rate": 0.1}),
    ("Lion", {"learning_rate": 0.1}), ("Ftrl", {"learning_rate": 0.1}),
    ("Ftrl", {"learning_rate": 0.1, "l1_regularization_strength": 0.01, "l2_regularization_strength": 0.02,
              "l2_shrinkage_regularization_strength": 0.03, "beta": 0.1, "learning_rate_power": -0.7}),
    ("RMSprop", {"learning_rate": 0.1}), ("RMSprop", {"learning_rate": 0.1, "momentum": 0.5, "centered": True}),
    ("Adagrad", {"learning_rate": 0.1}), ("Adadelta", {"learning_rate": 1.0}),
    ("Adafactor", {"learning_rate": 0.1}), ("Adafactor", {"learning_rate": 0.9, "relative_step": False}),
    ("Muon", {"learning_rate": 0.1}),
    ("Muon", {"learning_rate": 0.1, "nesterov": False, "rms_rate": None, "exclude_layers": ["kernel"],
              "exclude_embeddings": False, "adam_lr_ratio": 0.5}),
    ("ScheduleFreeAdamW", {}), ("ScheduleFreeAdamW", {"warmup_steps": 3, "learning_rate": 0.1}),
    ("Adam", {"clipnorm": 0.5}), ("SGD", {"clipvalue": 0.3}), ("SGD", {"global_clipnorm": 0.7}),
    ("Adam", {"weight_decay": 0.1}), ("SGD", {"loss_scale_factor": 8.0}),
    ("SGD", {"use_ema": True, "ema_momentum": 0.7}),
    ("Adam", {"use_ema": True, "ema_momentum": 0.7, "ema_overwrite_frequency": 2}),
    ("SGD", {"gradient_accumulation_steps": 2}),
    ("Adam", {"gradient_accumulation_steps": 2, "weight_decay": 0.1, "global_clipnorm": 0.5, "use_ema": True}),
]
IDS = [f"{name}-{index}" for index, (name, _) in enumerate(ROWS)]


def variables_of(made, scope):
    """Return variables of one side."""
    with scope("net"):
        return [made(START[name], name=name) for name in SHAPES]


def ours_and_theirs():
    """Return variables of both sides."""
    keras = genuine.keras
    return variables_of(Variable, name_scope), variables_of(keras.Variable, keras.name_scope)


def compare(ours, theirs, rtol=3e-5, atol=3e-6):
    """Check names, dtypes, order and numbers of variables."""
    assert [(v.name, v.path, v.dtype, tuple(v.shape)) for v in ours] == [
        (v.name, v.path, v.dtype, tuple(v.shape)) for v in theirs]
    for own, other in zip(ours, theirs):
        np.testing.assert_allclose(own.numpy(), other.numpy(), rtol=rtol, atol=atol, err_msg=own.path)


def told(optimizer):
    """Return variables whose names do not count instances of this process."""
    return [variable for variable in optimizer.variables if not variable.name.startswith("variable")]


def apply_all(optimizer, variables, convert, steps=STEPS):
    """Do all steps."""
    for step in steps:
        optimizer.apply_gradients([(convert(step[name]), variable) for name, variable in zip(SHAPES, variables)])


@each("name, arguments", ROWS, ids=IDS)
@pytest.mark.long("every optimizer trains with many options, beside genuine Keras")
def test_steps(name, arguments):
    """Variables and states after several steps."""
    ours, theirs = ours_and_theirs()
    own, other = (getattr(module, name)(name="it", **arguments) for module in (optimizers, genuine.keras.optimizers))
    for steps in (STEPS[:1], STEPS[1:]):
        apply_all(own, ours, convert_to_tensor, steps)
        apply_all(other, theirs, genuine.tf.constant, steps)
        compare(ours, theirs)
        compare(told(own), told(other))
        assert [tuple(v.shape) for v in own.variables] == [tuple(v.shape) for v in other.variables]
        for one, two in zip(own.variables, other.variables):
            assert one.dtype == two.dtype
            np.testing.assert_allclose(one.numpy(), two.numpy(), rtol=3e-5, atol=3e-6)
    assert int(own.iterations) == int(other.iterations)
    own.finalize_variable_values(ours)
    other.finalize_variable_values(theirs)
    compare(ours, theirs)


@each("name, arguments", ROWS, ids=IDS)
def test_configurations(name, arguments):
    """Signatures, what is saved, and what is made of it again."""
    own, other = (getattr(module, name)(name="it", **arguments) for module in (optimizers, genuine.keras.optimizers))
    assert own.get_config() == other.get_config()
    again = type(own).from_config(own.get_config())
    assert again.get_config() == own.get_config()
    restored = optimizers.deserialize(optimizers.serialize(own))
    assert type(restored) is type(own) and restored.get_config() == own.get_config()
    assert optimizers.serialize(own) == genuine.keras.optimizers.serialize(other)
    ours, theirs = ([(p.name, p.default, p.kind) for p in inspect.signature(type(x).__init__).parameters.values()
                     if p.name != "self"] for x in (own, other))
    assert ours == theirs


@pytest.mark.parametrize("name, arguments", ROWS[:5] + ROWS[10:11] + ROWS[19:20], ids=range(7))
def test_files(name, arguments):
    """The states of genuine Keras go on here, and the other way round."""
    ours, theirs = ours_and_theirs()
    own, other = (getattr(module, name)(name="it", **arguments) for module in (optimizers, genuine.keras.optimizers))
    apply_all(other, theirs, genuine.tf.constant, STEPS[:3])
    store = {}
    other.save_own_variables(store)
    own.build(ours)
    own.load_own_variables(store)
    for one, two in zip(ours, theirs):
        one.assign(two.numpy())
    apply_all(own, ours, convert_to_tensor, STEPS[3:])
    apply_all(other, theirs, genuine.tf.constant, STEPS[3:])
    compare(ours, theirs)
    back = {}
    own.save_own_variables(back)
    assert list(back) == list(store)
    other.load_own_variables(back)
    with pytest.warns(UserWarning, match="Skipping variable loading"):
        own.load_own_variables({"0": 1})


def test_learning_rate():
    """It can be assigned to, and be a schedule or a function."""
    own = optimizers.SGD(0.5)
    own.learning_rate = 0.25
    assert float(own.learning_rate) == 0.25 and float(own.get_config()["learning_rate"]) == 0.25
    own.learning_rate.assign(0.125)
    assert float(own.learning_rate) == 0.125
    schedule = optimizers.schedules.ExponentialDecay(0.5, 1, 0.5)
    own.learning_rate = schedule
    assert float(own.learning_rate) == 0.5 and len(own.variables) == 1
    ours, theirs = ours_and_theirs()
    apply_all(own, ours, convert_to_tensor)
    other = genuine.keras.optimizers.SGD(genuine.keras.optimizers.schedules.ExponentialDecay(0.5, 1, 0.5))
    apply_all(other, theirs, genuine.tf.constant)
    compare(ours, theirs)
    assert own.get_config()["learning_rate"] == other.get_config()["learning_rate"]
    assert type(optimizers.SGD.from_config(own.get_config())._learning_rate) is type(schedule)
    with pytest.raises(TypeError, match="learning_rate=0.5$"):
        optimizers.SGD(schedule).learning_rate = 0.5
    assert float(optimizers.SGD(lambda: 0.75).learning_rate) == 0.75


def test_excluded_from_decay():
    """Variables left out, by themselves and by name."""
    ours, theirs = ours_and_theirs()
    for module, variables, convert in ((optimizers, ours, convert_to_tensor),
                                       (genuine.keras.optimizers, theirs, genuine.tf.constant)):
        optimizer = module.AdamW(0.1, weight_decay=0.5)
        optimizer.exclude_from_weight_decay(var_list=variables[:1], var_names=["bias"])
        apply_all(optimizer, variables, convert)
    compare(ours, theirs)


def test_constraints():
    """A variable's constraint holds after each step."""
    from dragon.vm.keras import constraints
    ours, theirs = ours_and_theirs()
    ours[0].constraint, theirs[0].constraint = constraints.NonNeg(), genuine.keras.constraints.NonNeg()
    for module, variables, convert in ((optimizers, ours, convert_to_tensor),
                                       (genuine.keras.optimizers, theirs, genuine.tf.constant)):
        apply_all(module.SGD(0.5), variables, convert)
    assert ours[0].numpy().min() == 0
    compare(ours, theirs)


def test_missing_gradients():
    """Variables without a gradient stay, with a warning; none at all is an error."""
    ours, _ = ours_and_theirs()
    own = optimizers.SGD(0.5)
    with pytest.warns(UserWarning, match="net/bias"):
        own.apply_gradients([(convert_to_tensor(STEPS[0]["kernel"]), ours[0]), (None, ours[1])])
    np.testing.assert_array_equal(ours[1].numpy(), START["bias"])
    with pytest.raises(ValueError, match="No gradients"):
        own.apply_gradients([(None, ours[0])])
    with pytest.raises(ValueError, match="Unknown variable"):
        own.apply_gradients([(convert_to_tensor(STEPS[0]["cube"]), ours[3])])


def test_old_values_stay():
    """Who holds a variable's numbers keeps them."""
    variable = Variable(np.ones(3, "float32"))
    kept = variable.snapshot()
    optimizers.SGD(0.5).apply_gradients([(convert_to_tensor(np.ones(3, "float32")), variable)])
    np.testing.assert_array_equal(kept.numpy(), np.ones(3))
    np.testing.assert_array_equal(variable.numpy(), np.full(3, 0.5))


def test_variables_of_tensorflow():
    """A `tf.Variable` is updated as one of Keras is."""
    from dragon.vm.shared.tensors.variable import Variable as Other
    for name, arguments in (("SGD", {"momentum": 0.9}), ("AdamW", {}), ("RMSprop", {"use_ema": True})):
        ours, others = variables_of(Variable, name_scope), [Other(START[name], name=name) for name in SHAPES]
        for variables in (ours, others):
            optimizer = getattr(optimizers, name)(0.1, **arguments)
            apply_all(optimizer, variables, convert_to_tensor)
            optimizer.finalize_variable_values(variables)
        for own, other in zip(ours, others):
            np.testing.assert_array_equal(own.numpy(), other.numpy())


def test_copies():
    """A copied or pickled optimizer goes on with copies of its variables."""
    import copy
    import pickle
    for made in (lambda: optimizers.Adam(0.1), lambda: optimizers.MultiOptimizer(
            optimizers.OptimizerMap(optimizers.Adam(0.1), {".*bias": optimizers.SGD(0.1, momentum=0.9)}))):
        for copied in (copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))):
            optimizer, ours = made(), variables_of(Variable, name_scope)
            apply_all(optimizer, ours, convert_to_tensor, STEPS[:2])
            other, others = copied((optimizer, ours))
            for one, variables in ((optimizer, ours), (other, others)):
                apply_all(one, variables, convert_to_tensor, STEPS[2:])
            for own, its in zip(ours, others):
                assert own is not its
                np.testing.assert_array_equal(own.numpy(), its.numpy())


def test_own_optimizer():
    """A user's optimizer with states of its own, made of the documented parts."""
    def make(base, ops_add):
        class Own(base):
            def build(self, variables):
                super().build(variables)
                self.sums = self.add_optimizer_variables(variables, "sum", initializer="ones")

            def update_step(self, gradient, variable, learning_rate):
                total = self.sums[self._get_variable_index(variable)]
                self.assign_add(total, gradient)
                self.assign_sub(variable, total * learning_rate)
        return Own(0.1, name="own")

    ours, theirs = ours_and_theirs()
    own, other = make(optimizers.Optimizer, None), make(genuine.keras.optimizers.Optimizer, None)
    apply_all(own, ours, convert_to_tensor)
    apply_all(other, theirs, genuine.tf.constant)
    compare(ours, theirs)
    compare(own.variables, other.variables)


@pytest.mark.parametrize("steps", [0, 3])
def test_loss_scale(steps):
    """Steps that overflow change nothing but the scale, which grows again."""
    grads = [dict(step) for step in STEPS]
    grads[1] = {**grads[1], "bias": np.full(3, np.inf, "float32")}
    ours, theirs = ours_and_theirs()
    found = []
    for module, variables, convert in ((optimizers, ours, convert_to_tensor),
                                       (genuine.keras.optimizers, theirs, genuine.tf.constant)):
        optimizer = module.LossScaleOptimizer(module.Adam(0.1, name="in"), initial_scale=4.0,
                                              dynamic_growth_steps=2, name="out")
        assert float(optimizer.scale_loss(convert(np.float32(3)))) == 12.0
        apply_all(optimizer, variables, convert, grads)
        assert float(optimizer.learning_rate) == pytest.approx(0.1)
        found.append(optimizer)
    compare(ours, theirs)
    compare(found[0].variables, found[1].variables)
    assert found[0].get_config() == found[1].get_config()
    again = optimizers.LossScaleOptimizer.from_config(found[0].get_config())
    assert again.get_config() == found[0].get_config()


def test_several():
    """Each variable has its optimizer, by its path."""
    ours, theirs = ours_and_theirs()
    found = []
    for module, variables, convert in ((optimizers, ours, convert_to_tensor),
                                       (genuine.keras.optimizers, theirs, genuine.tf.constant)):
        mapping = module.OptimizerMap(module.Adam(0.1, name="a"), {".*kernel": module.SGD(0.2, name="s")})
        optimizer = module.MultiOptimizer(mapping, name="all", loss_scale_factor=2.0)
        apply_all(optimizer, variables, convert)
        found.append(optimizer)
    compare(ours, theirs)
    compare(found[0].variables, found[1].variables)
    assert found[0].get_config() == found[1].get_config()
    assert optimizers.MultiOptimizer.from_config(found[0].get_config()).get_config() == found[0].get_config()
    with pytest.raises(AttributeError):
        found[0].learning_rate
    with pytest.raises(ValueError, match="Multiple optimizers"):
        optimizers.OptimizerMap(optimizers.SGD(), {"a.*": optimizers.SGD(), ".*b": optimizers.SGD()})["ab"]


def test_names():
    """Names in any case; all public names; the optimizers of Keras 2 are refused."""
    for name in ("adam", "Adam", "SGD", "sgd", "rmsprop", "RMSprop", "nadam", "lion", "muon", "adafactor"):
        assert optimizers.get(name).__class__.__name__ == genuine.keras.optimizers.get(name).__class__.__name__
    assert optimizers.get(None) is None
    for module in ("", ".schedules"):
        import importlib
        ours, theirs = (importlib.import_module(f"{base}.optimizers{module}") for base in ("dragon.vm.keras", "keras"))
        assert not {name for name in dir(theirs) if not name.startswith("_")} - set(dir(ours))
    with pytest.raises(ImportError, match="legacy"):
        optimizers.legacy.Adam()


@each("call, told", [
    (lambda: optimizers.SGD(1), "learning_rate=1"),
    (lambda: optimizers.SGD(momentum=2.0), "momentum=2.0"),
    (lambda: optimizers.Adam(clipnorm=1.0, clipvalue=1.0), "global_clipnorm=None"),
    (lambda: optimizers.Adam(use_ema=True, ema_momentum=2), "ema_momentum=2"),
    (lambda: optimizers.Adam(gradient_accumulation_steps=1), "gradient_accumulation_steps=1"),
    (lambda: optimizers.Adam(speed=1), "'speed': 1}"),
    (lambda: optimizers.AdamW(weight_decay=None), "weight_decay=None"),
    (lambda: optimizers.Lion(beta_1=0), "beta_1=0"),
    (lambda: optimizers.Ftrl(beta=0.0, learning_rate_power=1.0), "learning_rate_power=1.0"),
    (lambda: optimizers.get(3), "3"),
    (lambda: optimizers.SGD().apply([1.0]), "without variables"),
    (lambda: optimizers.LossScaleOptimizer(optimizers.SGD(), clipnorm=1.0), "clipnorm=1.0"),
], ids=range(12))
def test_wrong_arguments(call, told):
    """Errors end in what was received."""
    with pytest.raises(ValueError, match=rf"{told}\.?$"):
        call()
