"""Keras's layers with random arguments and inputs, of Dragon and of genuine Keras: where their numbers part.

    python tests/fuzz/layer_numbers.py --count 20 --seed 0 [--only PATTERN] [--index N] [--report FILE]

Each layer is made, called, trained on and asked for its shapes, weights and config, on both sides. A stage at which one
side gives an error and the other does not is "taken" (by Dragon alone) or "refused"; "differs" is any other difference.
"""
import argparse
import collections
import copy
import json
import os
import pathlib
import re
import sys
import warnings
from unittest import mock

import numpy

# TensorFlow's own kernels check what they are given; those of oneDNN end the process for some of it.
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", KERAS_BACKEND="tensorflow", CUDA_VISIBLE_DEVICES="",
                  TF_ENABLE_ONEDNN_OPTS="0")
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "fuzz")]

import hostile  # noqa: E402  (the path must be set before)
import layer_calls  # noqa: E402
import pairs  # noqa: E402
from harness import genuine, keras_layer  # noqa: E402

# Bases, other names of the same classes, and what needs files, other frameworks or functions.
LEFT_OUT = re.compile(
    r"Layer|InputSpec|.*Layer$|Wrapper|TorchModuleWrapper|Lambda|Pipeline|.*Convolution.*|.*(Avg|Max)Pool\dD|Random.*|"
    r"AugMix|CutMix|MixUp|RandAugment|StringLookup|TextVectorization|AutoContrast|Equalization|Contrast.*|Solarization|"
    r"MaxNumBoundingBoxes")
# What is rounding, by the dtype that a layer computes in; what is added up before it is rounded differs.
WITHIN = {"float16": 5e-3, "bfloat16": 3e-2}
# Gradients go through more roundings than results.
GRADIENTS = 4
# A result of that part of the largest number of its stage is a difference of sums that cancel, in 32 and in 16 bits.
SMALL, SMALL_HALF = 1e-2, 1e-1


class Side:
    """One of the two Kerases, which are asked the same."""

    def __init__(self, mine):
        self.mine = mine
        self.keras = keras_layer.guest("keras") if mine else genuine.keras
        self.tf = keras_layer.guest("tensorflow") if mine else genuine.tf

    def revive(self, value):
        """Return an argument of a class, layers in it made."""
        if isinstance(value, dict) and "layer" in value:
            return getattr(self.keras.layers, value["layer"])(**self.revive(value["config"]))
        if isinstance(value, dict):
            return {key: self.revive(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.revive(item) for item in value]
        return value

    def tensors(self, inputs, mask):
        """Return inputs as tensors."""
        if isinstance(inputs, list):
            return [self.tf.convert_to_tensor(item) for item in inputs]
        tensor = self.tf.convert_to_tensor(inputs)
        if mask is not None:
            tensor._keras_mask = self.tf.convert_to_tensor(mask)
        return tensor

    def arguments(self, call):
        """Return (args, kwargs) of a layer's call."""
        inputs = self.tensors(call["inputs"], call["mask"])
        return ((tuple(inputs) if call["spread"] else (inputs,)), dict(call["call"]))


def leaves(value):
    """Return [(dtype, shape, numbers)] of what a layer returned."""
    found = []
    for leaf in keras_layer.flat(value):
        if leaf is None or isinstance(leaf, (bool, int, float, str)):
            found.append(("plain", (), leaf))
        elif hasattr(leaf, "to_dense"):
            found.append(("sparse", (), None))
        else:
            found.append((keras_layer.dtype_name(leaf), tuple(leaf.shape), keras_layer.array(leaf)))
    return found


def stages(side, name, call, weights):
    """Yield (stage, a function that returns what is compared); `weights` is what both sides are given, once drawn."""
    held = {}

    def make():
        side.keras.utils.set_random_seed(1)
        held["layer"] = getattr(side.keras.layers, name)(**{"name": "probe", **side.revive(call["config"])})
        return keras_layer.plain(held["layer"].get_config())

    def first():
        args, kwargs = side.arguments(call)
        return leaves(held["layer"](*args, **kwargs))

    def described():
        return [(w.path, tuple(w.shape), w.dtype, w.trainable) for w in held["layer"].weights]

    def initial():
        return leaves(list(held["layer"].weights))

    def given():
        layer = held["layer"]
        if "values" not in weights:
            weights["values"] = draw_weights(layer)
        layer.set_weights(weights["values"])
        args, kwargs = side.arguments(call)
        return leaves(layer(*args, **kwargs))

    def masks():
        args, kwargs = side.arguments(call)
        made = keras_layer.flat(held["layer"](*args, **kwargs))
        return leaves([getattr(leaf, "_keras_mask", None) for leaf in made])

    def gradients():
        if name.startswith("AdaptiveMaxPooling"):
            return []  # TensorFlow's gradient of them writes beyond its memory
        return gradient(side, held["layer"], call)

    def shapes():
        return symbolic(side, held["layer"], call)

    def by_shape():
        shape = [item.shape for item in call["inputs"]] if isinstance(call["inputs"], list) else [call["inputs"].shape]
        found = held["layer"].compute_output_shape(*(shape if call["spread"] or len(shape) == 1 else [shape]))
        return keras_layer.plain(found)

    def again():
        config = json.loads(json.dumps(held["layer"].get_config()))
        return keras_layer.plain(type(held["layer"]).from_config(config).get_config())
    yield "made", make
    yield "first call", first
    yield "weights", described
    yield "initial weights", initial
    yield "call", given
    yield "masks", masks
    yield "gradients", gradients
    yield "state", lambda: leaves(list(held["layer"].weights))
    yield "symbolic", shapes
    yield "output shape", by_shape
    yield "config", again
    yield "losses", lambda: leaves([leaf for leaf in held["layer"].losses])


def draw_weights(layer):
    """Return seeded weights; what is a variance stays positive."""
    rng, values = numpy.random.default_rng(1), []
    for weight in layer.weights:
        old = numpy.asarray(weight.numpy() if hasattr(weight, "numpy") else weight)
        value = rng.standard_normal(old.shape) * 0.5
        if "float" not in str(weight.dtype):
            value = old
        elif re.search("variance|stddev", weight.name):
            value = abs(value) + 0.5
        values.append(numpy.asarray(value).astype("float32" if "float" in str(weight.dtype) else old.dtype))
    return values


def gradient(side, layer, call):
    """Return outputs and gradients of a layer in training."""
    side.keras.utils.set_random_seed(2)
    args, kwargs = side.arguments(call)
    if layer._call_has_training_arg:
        kwargs["training"] = True
    watched = [leaf for leaf in keras_layer.flat(list(args)) if "float" in keras_layer.dtype_name(leaf)]
    with side.tf.GradientTape() as tape:
        for leaf in watched:
            tape.watch(leaf)
        made = keras_layer.flat(layer(*args, **kwargs))
        floats = [leaf for leaf in made if hasattr(leaf, "dtype") and "float" in keras_layer.dtype_name(leaf)]
        rng, total = numpy.random.default_rng(3), 0.0
        for leaf in floats:
            factor = rng.standard_normal(tuple(leaf.shape)).astype("float32")
            total = total + side.tf.reduce_sum(side.tf.cast(leaf, "float32") * side.tf.constant(factor))
    sources = watched + [w if side.mine else w.value for w in layer.trainable_weights]
    found = tape.gradient(total, sources) if floats else []
    found = [None if item is None else side.tf.convert_to_tensor(item) for item in found]
    return leaves(made) + leaves(found)


def symbolic(side, layer, call):
    """Return shapes and dtypes of a layer's outputs for inputs of an unknown batch."""
    inputs = call["inputs"] if isinstance(call["inputs"], list) else [call["inputs"]]
    symbols = [side.keras.KerasTensor((None, *item.shape[1:]), dtype=item.dtype.name) for item in inputs]
    args = symbols if call["spread"] or len(symbols) == 1 else [symbols]
    made = keras_layer.flat(layer(*args, **call["call"]))
    return [(str(x.dtype), tuple(x.shape)) if hasattr(x, "shape") else x for x in made]


def ask(side, name, call, weights):
    """Return {stage: ("results", value) or ("error", class, words)}; the first two stages end it if they fail."""
    answers = {}
    for stage, function in stages(side, name, copy.deepcopy(call), weights):
        try:
            answers[stage] = "results", function()
        except Exception as error:
            answers[stage] = "error", type(error).__name__, str(error)[:400]
            if stage in ("made", "first call"):
                break
    return answers


def largest(results):
    """Return the largest finite number of some results."""
    found = [leaf[2] for leaf in results if isinstance(leaf[2], numpy.ndarray) and leaf[2].dtype.kind in "fc"]
    return max([float(abs(one[numpy.isfinite(one)]).max(initial=0)) for one in found], default=0.0)


def leaf_parts(one, other, within, scale):
    """Return in what two (dtype, shape, numbers) part, or None; `other` is the genuine one."""
    if one[2] is None or other[2] is None:
        gone = other[2] if one[2] is None else one[2]
        return None if gone is None or not numpy.any(gone) else f"{one[:2]}, genuine {other[:2]}"
    if one[:2] != other[:2]:
        return f"{one[:2]}, genuine {other[:2]}"
    if one[0] in ("plain", "string") or not isinstance(other[2], numpy.ndarray) or other[2].dtype.kind not in "fc":
        return None if numpy.array_equal(one[2], other[2]) else f"{one[2]}, genuine {other[2]}"
    scale = max(largest([other]), (SMALL if within < min(WITHIN.values()) else SMALL_HALF) * scale, 1e-3)
    with numpy.errstate(all="ignore"):
        good = numpy.isclose(one[2], other[2], rtol=within, atol=within * scale, equal_nan=True)
    return None if good.all() else f"{one[2][~good][:4]}, genuine {other[2][~good][:4]}"


def judge(mine, theirs, within):
    """Yield (stage, kind, words) of where two sides' answers part; the first that does tells the rest."""
    for stage in theirs:
        if stage not in mine:
            return
        one, other = mine[stage], theirs[stage]
        if one[0] == other[0] == "error":
            continue
        if "error" in (one[0], other[0]):
            yield (stage, "taken", f"genuine {other[1]}: {other[2]}") if other[0] == "error" else \
                (stage, "refused", f"{one[1]}: {one[2]}")
            if stage in ("made", "first call"):
                return
        elif stage in ("made", "weights", "symbolic", "output shape", "config"):
            if one[1] != other[1]:
                yield stage, "differs", shortest(one[1], other[1])
        else:
            words = results_part(one[1], other[1], within, GRADIENTS if stage == "gradients" else 1)
            if words:
                yield stage, "differs", words
                if stage == "call":
                    return


def results_part(mine, theirs, within, roundings):
    """Return in what two lists of results part, or None."""
    if len(mine) != len(theirs):
        return f"{len(mine)} results, genuine {len(theirs)}"
    scale = largest(theirs)
    found = [leaf_parts(*pair, within * roundings, scale) for pair in zip(mine, theirs)]
    return next((f"result {place}: {words}" for place, words in enumerate(found) if words), None)


def is_known(name, stage, kind, words, call, known):
    """Return whether a finding is no fault of Dragon's: genuine Keras lacks a kernel, or it stands in the table."""
    if kind == "taken" and pairs.LACKS.search(words):
        return True
    return pairs.is_known({"face": "layers", "name": name, "kind": kind, "words": words, "change": f"{stage} {call}"},
                          known)


def shortest(one, other):
    """Return in what two plain values part."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [key for key in sorted({*one, *other}) if one.get(key, "-") != other.get(key, "-")]
        return "; ".join(f"{key}: {shortest(one.get(key), other.get(key))}" for key in keys[:3])
    return f"{str(one)[:300]}, genuine {str(other)[:300]}"


def layer_names():
    """Return the layers that both Kerases have and that can be made by chance."""
    mine, theirs = Side(True).keras.layers, Side(False).keras.layers
    return [name for name in sorted(set(dir(mine)) & set(dir(theirs)))
            if isinstance(getattr(theirs, name), type) and not LEFT_OUT.fullmatch(name)]


def told(call):
    """Return a call in few words."""
    inputs = call["inputs"] if isinstance(call["inputs"], list) else [call["inputs"]]
    special = "" if all(numpy.isfinite(item).all() for item in inputs) else " special"
    mask = "" if call["mask"] is None else f" mask {call['mask'].tolist()}"
    given = [(item.dtype.name, item.shape) for item in inputs]
    return f"{call['config']} of {given} {call['call'] or ''}{special}{mask}"


def plain_add(x1, x2):
    """Add as genuine Keras does, but take no vector for a bias along another axis that is as long by chance."""
    keras, tf = genuine.keras, genuine.tf
    x1, x2 = (x if isinstance(x, (int, float)) else tf.convert_to_tensor(x) for x in (x1, x2))
    dtype = keras.src.backend.result_type(*(getattr(x, "dtype", type(x)) for x in (x1, x2)))
    return tf.add(*(keras.src.backend.convert_to_tensor(x, dtype) for x in (x1, x2)))


def hunt(names, seed, indices):
    """Yield (name, index, findings, whether genuine Keras took the call) of random calls."""
    mine, theirs, known = Side(True), Side(False), list(pairs.known_differences())
    add = mock.patch.object(genuine.keras.src.backend.numpy, "add", plain_add)
    for name in names:
        for index in indices:
            call = layer_calls.layer_call(hostile.generator(seed, index, name), name)
            within = next((WITHIN[dtype] for dtype in ("bfloat16", "float16") if dtype in told(call)), 1e-3)
            weights = {}
            with add:
                wanted = ask(theirs, name, call, weights)
            found = [(*part, told(call)) for part in judge(ask(mine, name, call, weights), wanted, within)]
            yield name, index, [part for part in found if not is_known(name, *part, known)], "call" in wanted


def main():
    """Hunt behind the layers of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20, help="calls of each layer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a pattern of names")
    parser.add_argument("--index", type=int, help="one call alone")
    parser.add_argument("--report", help="a file that findings are added to, one JSON object per line")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    layer_calls.describe(genuine.keras.layers)
    names = [name for name in layer_names() if re.search(options.only, name)]
    indices = range(options.count) if options.index is None else [options.index]
    kinds, calls, taken = collections.Counter(), 0, 0
    for name, index, found, took in hunt(names, options.seed, indices):
        calls, taken = calls + 1, taken + took
        for stage, kind, words, call in found:
            kinds[kind] += 1
            print(f"{name} #{index} {stage} {kind}: {words!r} | {call}", flush=True)
            if options.report:
                with open(options.report, "a", encoding="utf-8") as file:
                    file.write(json.dumps([name, index, options.seed, stage, kind, words, call]) + "\n")
    print(f"== layers: {calls} calls of {len(names)} classes, {taken} taken by genuine Keras, {dict(kinds)}",
          flush=True)
    sys.exit(1 if kinds else 0)


if __name__ == "__main__":
    main()
