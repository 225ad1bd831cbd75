"""Holds a Keras layer of Dragon's against the genuine one: numbers, gradients, shapes, configs, masks, mixed dtypes."""
import functools
import importlib
import json

import numpy as np

from harness import answers, genuine

# How far 16-bit results may be apart: another order of sums, one rounding more.
HALF = {"rtol": 2e-2, "atol": 2e-2}


def guest(name):
    """Return a module of one of Dragon's guests, as `guest("keras")`."""
    return importlib.import_module("dragon.vm." + name)


class Side:
    """A layer of one of the two Kerases, and the words in which it is asked."""

    def __init__(self, keras, tf, make, policy=None):
        self.keras, self.tf = keras, tf
        keras.utils.clear_session(free_memory=False)  # nothing has a name yet
        keras.utils.set_random_seed(0)
        self.layer = make(keras, {} if policy is None else {"dtype": policy})

    def tensors(self, inputs, masks):
        """Return inputs as tensors that carry their masks."""
        def one(array, mask):
            tensor = self.tf.convert_to_tensor(array)
            if mask is not None:
                tensor._keras_mask = self.tf.convert_to_tensor(mask)
            return tensor
        if isinstance(inputs, list):
            return [one(*pair) for pair in zip(inputs, masks or [None] * len(inputs))]
        return one(inputs, masks)

    def first_call(self, inputs, masks, call):
        """Build the layer from seeds that the other side has not drawn from, and return the outputs as arrays."""
        self.keras.utils.set_random_seed(1)
        return self.call(inputs, masks, call)[0]

    def call(self, inputs, masks, call):
        """Return the outputs as arrays, and their masks."""
        made = flat(self.layer(self.tensors(inputs, masks), **call))
        found = [getattr(x, "_keras_mask", None) for x in made]
        return [array(x) for x in made], [None if mask is None else array(mask) for mask in found]

    def gradients(self, inputs, masks, call, factors):
        """Return outputs, losses, and the gradients of a weighted sum of outputs for inputs and trainable weights."""
        tensors = self.tensors(inputs, masks)
        leaves = [x for x in flat(tensors) if "float" in dtype_name(x)]
        with self.tf.GradientTape() as tape:
            for leaf in leaves:
                tape.watch(leaf)
            made = flat(self.layer(tensors, **call))
            total = sum(self.keras.ops.sum(self.keras.ops.cast(x, "float32") * self.tf.convert_to_tensor(factor))
                        for x, factor in zip(made, factors))
        variables = list(self.layer.trainable_weights)
        sources = leaves + [getattr(variable, "value", variable) if self.keras.__name__ == "keras" else variable
                            for variable in variables]
        found = tape.gradient(total, sources)
        found = [None if gradient is None else array(self.tf.convert_to_tensor(gradient)) for gradient in found]
        return [array(x) for x in made], [float(loss) for loss in self.layer.losses], found


def flat(tree):
    """Return the leaves of nested lists, tuples and dicts."""
    if isinstance(tree, dict):
        return [leaf for key in tree for leaf in flat(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for part in tree for leaf in flat(part)]
    return [tree]


def array(tensor):
    """Return numbers of either side as an array, 16-bit ones in float32."""
    found = np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
    return found.astype("float32") if found.dtype.name in ("bfloat16", "float16") else found


def dtype_name(tensor):
    """Return the name of a tensor's dtype."""
    return getattr(tensor.dtype, "name", str(tensor.dtype))


def plain(config):
    """Return a config as JSON holds it; numbers, which genuine Keras may have kept in float32, are rounded."""
    return json.loads(json.dumps(config, default=str), parse_float=lambda text: float(f"{float(text):.6g}"))


def near(ours, theirs, what, rtol=1e-4, atol=1e-5):
    """Compare two lists of arrays."""
    assert len(ours) == len(theirs), f"{what}: {len(ours)} and {len(theirs)}"
    for place, (one, other) in enumerate(zip(ours, theirs)):
        if one is None or other is None:
            assert one is None and (other is None or not np.any(other)), f"{what} {place}: {one} and {other}"
            continue
        assert one.shape == other.shape, f"{what} {place}: {one.shape} and {other.shape}"
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol, err_msg=f"{what} {place}")


def random_inputs(shapes, seed=0):
    """Return float32 arrays of the shapes; what is an array already stays."""
    generator = np.random.default_rng(seed)

    def one(shape):
        return generator.standard_normal(shape).astype("float32") if isinstance(shape, tuple) else shape
    return [one(shape) for shape in shapes] if isinstance(shapes, list) else one(shapes)


def fill_weights(layer):
    """Give a layer random weights, the same for the same ones; what is a variance or a deviation stays positive."""
    generator, values = np.random.default_rng(1), []
    for weight in layer.weights:
        value = generator.standard_normal(tuple(weight.shape)) * 0.5
        if "float" not in weight.dtype:
            value = np.asarray(array(weight))
        elif any(word in weight.name for word in ("variance", "stddev")):
            value = np.abs(value) + 0.5
        values.append(value.astype(np.asarray(array(weight)).dtype))
    layer.set_weights(values)


def check_layer(make, inputs, config=None, *, masks=None, call=None, training=(False, True), mixed=True,
                symbolic=True, gradients=True, weights=True, rtol=1e-4, atol=1e-5, more=None):
    """Compare a layer with the genuine one.

    Parameters
    ----------
    make : Union[str, Callable]
        The name of the class, or a function of a Keras and a dict of more arguments that returns a layer.
    inputs : Union[Tuple[int, ...], numpy.ndarray, list]
        Shapes of random numbers, or the numbers; a list for layers that take one.
    config : dict, optional
        Arguments of the class.
    masks : Union[numpy.ndarray, list], optional
        Masks that the inputs carry.
    call : dict, optional
        More arguments of the call.
    training : Sequence[bool], optional
        The modes in which outputs and gradients are compared.
    mixed : bool, optional, default=True
        Whether "mixed_float16" is tried too.
    symbolic : bool, optional, default=True
        Whether shapes with an unknown batch are compared.
    gradients, weights : bool, optional, default=True
        Whether gradients are compared, and weights drawn anew.
    rtol, atol : float, optional
        How far numbers may be apart.
    more : callable, optional
        A function of a `Side` that returns (arrays, plain values), which are compared as well.

    Returns
    -------
    Layer
        Dragon's layer.

    """
    inputs, tolerance = random_inputs(inputs), {"rtol": rtol, "atol": atol}
    how = {"masks": masks, "call": call or {}, "training": training, "mixed": mixed, "symbolic": symbolic,
           "gradients": gradients, "weights": weights, "more": more}
    ours = Side(guest("keras"), guest("tensorflow"), maker(make, config))
    found = tell(ours, maker(make, config), inputs, **how)
    asked = [make, config, inputs, how]
    # Products in 16 bits are rounded as the processor has units for them.
    apart = functools.partial(answers.values.difference, within=answers.values.COARSE if mixed else None)
    wanted = answers.ask("keras", ["layer", *asked], lambda: tell_genuinely(maker(make, config), inputs, how),
                         difference=apart)
    assert found["described"] == wanted["described"], f"weights: {found['described']} and {wanted['described']}"
    near(found["initial"], wanted["initial"], "initial weights")
    for own, other in zip(found["modes"], wanted["modes"], strict=True):
        compare_modes(own, other, tolerance)
    assert plain(found["config"]) == plain(wanted["config"])
    again = json.loads(json.dumps(found["config"]))
    assert answers.ask("keras", ["layer that reads", *asked, json.dumps(again)], lambda: read_genuinely(
        maker(make, config), again)) == plain(wanted["config"])
    again = type(ours.layer).from_config(json.loads(json.dumps(wanted["config"])))
    assert plain(again.get_config()) == plain(wanted["config"])
    assert found["shapes"] == wanted["shapes"]
    if mixed:
        assert found["mixed"][:2] == wanted["mixed"][:2]
        near(found["mixed"][2], wanted["mixed"][2], "mixed outputs", **HALF)
    if more:
        near(found["more"][0], wanted["more"][0], "more")
        assert found["more"][1] == wanted["more"][1]
    return ours.layer


def maker(make, config):
    """Return a function of a Keras and a dict of more arguments that returns a layer."""
    if not isinstance(make, str):
        return make
    return lambda keras, more: getattr(keras.layers, make)(name="probe", **(config or {}), **more)


def tell_genuinely(make, inputs, how):
    """Return what is told of a genuine layer."""
    return tell(Side(genuine.keras, genuine.tf, make), make, inputs, **how)


def read_genuinely(make, config):
    """Return the config of the genuine layer that is made of a config."""
    side = Side(genuine.keras, genuine.tf, make)
    return plain(type(side.layer).from_config(config).get_config())


def tell(side, make, inputs, masks, call, training, mixed, symbolic, gradients, weights, more):
    """Return all that is compared of a layer, as plain values."""
    examples, layer = side.first_call(inputs, masks, call), side.layer
    told = {"described": [(w.name, tuple(w.shape), w.trainable, w.dtype) for w in layer.weights],
            "initial": [array(w) for w in layer.weights] if weights else []}
    if weights:
        fill_weights(layer)
    told["modes"] = [tell_mode(side, inputs, masks, takes_training(layer, call, mode), examples, gradients)
                     for mode in training]
    told["config"] = json.loads(json.dumps(layer.get_config()))
    told["shapes"] = tell_shapes(side, inputs, call) if symbolic else None
    told["mixed"] = tell_mixed(side, make, inputs, masks, call, weights) if mixed else None
    told["more"] = more(side) if more else None
    return told


def takes_training(layer, call, mode):
    """Return the arguments of a call in a mode; layers that do not ask for it are not told."""
    return {**call, "training": mode} if layer._call_has_training_arg else call


def tell_mode(side, inputs, masks, call, examples, gradients):
    """Return outputs, masks, losses, gradients and the weights that a call changes."""
    generator = np.random.default_rng(2)
    factors = [generator.standard_normal(x.shape).astype("float32") for x in examples]
    derived = side.gradients(inputs, masks, call, factors) if gradients else None
    outputs, masks = side.call(inputs, masks, call)
    return {"call": str(call), "derived": derived, "outputs": outputs, "masks": masks,
            "weights": [array(w) for w in side.layer.weights]}


def compare_modes(found, wanted, tolerance):
    """Compare what two layers do in a mode."""
    call = found["call"]
    if wanted["derived"] is not None:
        (made, losses, slopes), (outputs, their_losses, expected) = found["derived"], wanted["derived"]
        near(made, outputs, f"outputs {call}", **tolerance)
        near(slopes, expected, f"gradients {call}", **tolerance)
        np.testing.assert_allclose(losses, their_losses, rtol=1e-4, atol=1e-6, err_msg="losses")
    near(found["outputs"], wanted["outputs"], f"outputs {call}", **tolerance)
    near(found["masks"], wanted["masks"], f"masks {call}")
    near(found["weights"], wanted["weights"], f"weights after {call}", **tolerance)


def tell_shapes(side, inputs, call):
    """Return the shapes and dtypes of symbolic outputs whose batch is not known."""
    symbols = [side.keras.KerasTensor((None, *x.shape[1:]), dtype=x.dtype.name) for x in flat(inputs)]
    made = flat(side.layer(symbols if isinstance(inputs, list) else symbols[0], **call))
    shapes = [tuple(symbol.shape) for symbol in symbols]
    by_shape = side.layer.compute_output_shape(shapes if isinstance(inputs, list) else shapes[0])
    return [(tuple(x.shape), x.dtype) for x in made], plain(by_shape)


def tell_mixed(side, make, inputs, masks, call, filled):
    """Return dtypes of outputs and weights, and the outputs, under the policy of mixed 16-bit floats."""
    other = Side(side.keras, side.tf, make, "mixed_float16")
    tensors = other.tensors(inputs, masks)
    made = flat(other.layer(tensors, **call))
    if filled and other.layer.weights:
        other.layer.set_weights([array(w) for w in side.layer.weights])
        made = flat(other.layer(tensors, **call))
    return [dtype_name(x) for x in made], [w.dtype for w in other.layer.weights], [array(x) for x in made]
