"""Holds a Keras layer of Dragon's against the genuine one: numbers, gradients, shapes, configs, masks, mixed dtypes."""
import importlib
import json

import numpy as np

from harness import genuine

# How far 16-bit results may be apart: another order of sums, one rounding more.
HALF = {"rtol": 2e-2, "atol": 2e-2}


def guest(name):
    """Return a module of one of Dragon's guests, as `guest("keras")`."""
    return importlib.import_module("dragon.vm." + name)


class Side:
    """A layer of one of the two Kerases, and the words in which it is asked."""

    def __init__(self, keras, tf, make, policy=None):
        self.keras, self.tf = keras, tf
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
        sources = leaves + [getattr(variable, "value", variable) if self.genuine else variable
                            for variable in variables]
        found = tape.gradient(total, sources)
        found = [None if gradient is None else array(self.tf.convert_to_tensor(gradient)) for gradient in found]
        return [array(x) for x in made], [float(loss) for loss in self.layer.losses], found

    @property
    def genuine(self):
        """Whether this is the oracle."""
        return self.keras is genuine.keras


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


def fill_weights(ours, theirs):
    """Give both layers the same random weights; what is a variance or a deviation stays positive."""
    generator = np.random.default_rng(1)
    described = [[(w.name, tuple(w.shape), w.trainable, w.dtype) for w in side.layer.weights]
                 for side in (ours, theirs)]
    assert described[0] == described[1], f"weights: {described[0]} and {described[1]}"
    values = []
    for weight in theirs.layer.weights:
        value = generator.standard_normal(tuple(weight.shape)) * 0.5
        if "float" not in weight.dtype:
            value = np.asarray(array(weight))
        elif any(word in weight.name for word in ("variance", "stddev")):
            value = np.abs(value) + 0.5
        values.append(value.astype(np.asarray(array(weight)).dtype))
    for side in (ours, theirs):
        side.layer.set_weights(values)


def check_layer(make, inputs, config=None, *, masks=None, call=None, training=(False, True), mixed=True,
                symbolic=True, gradients=True, weights=True, rtol=1e-4, atol=1e-5):
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

    Returns
    -------
    Tuple[Layer, Layer]
        Dragon's layer and the genuine one, with equal weights.

    """
    if isinstance(make, str):
        name, given = make, config or {}

        def make(keras, more):
            return getattr(keras.layers, name)(name="probe", **given, **more)
    inputs, call = random_inputs(inputs), call or {}
    ours = Side(guest("keras"), guest("tensorflow"), make)
    theirs = Side(genuine.keras, genuine.tf, make)
    first = [side.first_call(inputs, masks, call) for side in (ours, theirs)]
    if weights:
        near([array(w) for w in ours.layer.weights], [array(w) for w in theirs.layer.weights], "initial weights")
        fill_weights(ours, theirs)
    for mode in training:
        check_mode(ours, theirs, inputs, masks, takes_training(theirs.layer, call, mode), first[1], gradients,
                   {"rtol": rtol, "atol": atol})
    check_configs(ours, theirs)
    if symbolic:
        check_shapes(ours, theirs, inputs, call)
    if mixed:
        check_mixed(make, inputs, masks, call, ours.layer if weights else None)
    return ours.layer, theirs.layer


def takes_training(layer, call, mode):
    """Return the arguments of a call in a mode; layers that do not ask for it are not told."""
    return {**call, "training": mode} if layer._call_has_training_arg else call


def check_mode(ours, theirs, inputs, masks, call, examples, gradients, tolerance):
    """Compare outputs, masks, losses, gradients and the weights that a call changes."""
    generator = np.random.default_rng(2)
    factors = [generator.standard_normal(x.shape).astype("float32") for x in examples]
    if gradients:
        (made, losses, found), (wanted, their_losses, expected) = (
            side.gradients(inputs, masks, call, factors) for side in (ours, theirs))
        near(made, wanted, f"outputs {call}", **tolerance)
        near(found, expected, f"gradients {call}", **tolerance)
        np.testing.assert_allclose(losses, their_losses, rtol=1e-4, atol=1e-6, err_msg="losses")
    (made, made_masks), (wanted, wanted_masks) = (side.call(inputs, masks, call) for side in (ours, theirs))
    near(made, wanted, f"outputs {call}", **tolerance)
    near(made_masks, wanted_masks, f"masks {call}")
    near([array(w) for w in ours.layer.weights], [array(w) for w in theirs.layer.weights], f"weights after {call}",
         **tolerance)


def check_configs(ours, theirs):
    """Compare configs, and read each side's on the other."""
    config, expected = ours.layer.get_config(), theirs.layer.get_config()
    assert plain(config) == plain(expected)
    for side, given in ((ours, expected), (theirs, config)):
        again = type(side.layer).from_config(json.loads(json.dumps(given)))
        assert plain(again.get_config()) == plain(expected)


def check_shapes(ours, theirs, inputs, call):
    """Compare the shapes and dtypes of symbolic outputs whose batch is not known."""
    found = []
    for side in (ours, theirs):
        symbols = [side.keras.KerasTensor((None, *x.shape[1:]), dtype=x.dtype.name) for x in flat(inputs)]
        made = flat(side.layer(symbols if isinstance(inputs, list) else symbols[0], **call))
        shapes = [tuple(symbol.shape) for symbol in symbols]
        by_shape = side.layer.compute_output_shape(shapes if isinstance(inputs, list) else shapes[0])
        found.append(([(tuple(x.shape), x.dtype) for x in made], plain(by_shape)))
    assert found[0] == found[1]


def check_mixed(make, inputs, masks, call, filled):
    """Compare dtypes, and roughly the numbers, under the policy of mixed 16-bit floats."""
    sides = [Side(guest("keras"), guest("tensorflow"), make, "mixed_float16"),
             Side(genuine.keras, genuine.tf, make, "mixed_float16")]
    found = []
    for side in sides:
        tensors = side.tensors(inputs, masks)
        made = flat(side.layer(tensors, **call))
        if filled is not None and side.layer.weights:
            side.layer.set_weights([array(w) for w in filled.weights])
            made = flat(side.layer(tensors, **call))
        found.append(([dtype_name(x) for x in made], [w.dtype for w in side.layer.weights], [array(x) for x in made]))
    assert found[0][:2] == found[1][:2]
    near(found[0][2], found[1][2], "mixed outputs", **HALF)
