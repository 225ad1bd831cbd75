"""Random arguments and inputs of Keras's layers: right ones mostly, and seeded so that each can be made again.

A call is {"config": arguments of the class, "inputs": array or list of arrays, "mask": array or None, "call": arguments
of the call, "spread": whether inputs are arguments of their own}. What stands in `config` as {"layer": name, "config":
arguments} is a layer of the side that is asked.
"""
import inspect

import numpy

from hostile import pick

# Those that jump (hard_shrink, threshold) are left out: two roundings of a sum fall on either side.
ACTIVATIONS = (
    "relu", "elu", "selu", "tanh", "sigmoid", "softplus", "softsign", "exponential", "gelu", "silu", "linear",
    "hard_sigmoid", "softmax", "log_softmax", "leaky_relu", "relu6", "mish", "celu", "hard_tanh", "squareplus",
    "tanh_shrink", "soft_shrink", "sparse_plus", "sparse_sigmoid", "log_sigmoid", "sparsemax", "hard_silu", "glu", None)
INITIALIZERS = ("zeros", "ones", "glorot_normal", "he_uniform", "lecun_normal", "random_normal", "random_uniform",
                "truncated_normal", "variance_scaling", "orthogonal", "he_normal", "lecun_uniform")
POLICIES = (None,) * 8 + ("float16", "bfloat16", "float64", "mixed_float16", "mixed_bfloat16")
DTYPES = ("float32",) * 8 + ("float64", "float16", "int32", "int64", "uint8", "bool")
# What each parameter may be, by its name; a function is given the generator, the rank of windows and the input's shape.
CHOICES = {
    "units": lambda rng, rank, shape: int(rng.integers(1, 6)),
    "filters": lambda rng, rank, shape: 2 * int(rng.integers(1, 4)),
    "kernel_size": lambda rng, rank, shape: sizes(rng, rank, 1, 4),
    "pool_size": lambda rng, rank, shape: sizes(rng, rank, 1, 4),
    "strides": lambda rng, rank, shape: sizes(rng, rank, 1, 4),
    "dilation_rate": lambda rng, rank, shape: sizes(rng, rank, 1, 3),
    "size": lambda rng, rank, shape: sizes(rng, rank, 1, 4),
    "output_size": lambda rng, rank, shape: sizes(rng, rank, 1, 5),
    "output_padding": lambda rng, rank, shape: pick(rng, (None, 0, 1)),
    "cropping": lambda rng, rank, shape: edges(rng, rank),
    "padding": ("valid", "same", "causal", "SAME"),
    "data_format": ("channels_last", "channels_first", None),
    "groups": (1, 2, -1, 3),
    "depth_multiplier": (1, 2, 3),
    "activation": ACTIVATIONS,
    "recurrent_activation": ACTIVATIONS,
    "use_bias": (True, False),
    "center": (True, False),
    "scale": (True, False),
    "renorm": (True, False),
    "return_sequences": (True, False),
    "return_state": (True, False),
    "go_backwards": (True, False),
    "stateful": (True, False),
    "unroll": (True, False),
    "unit_forget_bias": (True, False),
    "reset_after": (True, False),
    "use_cudnn": ("auto", False),
    "zero_output_for_mask": (True, False),
    "keepdims": (True, False),
    "mask_zero": (True, False),
    "use_scale": (True, False),
    "use_gate": (True, False),
    "normalize": (True, False),
    "score_mode": ("dot", "concat"),
    "sliding_window": (None, 1, 2),
    "epsilon": (1e-3, 1e-6, 0.5),
    "momentum": (0.99, 0.5, 0.0),
    "renorm_momentum": (0.9, 0.5),
    "axis": lambda rng, rank, shape: pick(rng, (-1, 1, -2, len(shape) - 1, [1, -1], [1, 2], [-1], 2)),
    "axes": lambda rng, rank, shape: pick(rng, (1, -1, 2, (1, 2), (2, 1), [1, 1])),
    "alpha": (1.0, 0.5, 0.1),
    "negative_slope": (0.0, 0.3, 0.01),
    "threshold": (0.0, 0.5),
    "max_value": (None, 1.0, 6),
    "rate": (0.0, 0.5, 0.3),
    "stddev": (0.0, 0.5),
    "dropout": (0.0, 0.0, 0.3),
    "recurrent_dropout": (0.0, 0.0, 0.3),
    "seed": (1, 7),
    "noise_shape": (None,),
    "n": (1, 2, 3),
    "l1": (0.0, 0.1),
    "l2": (0.0, 0.01),
    "input_dim": (5, 8),
    "output_dim": (1, 3, 4),
    "tie_weights": (True, False),
    "logit_soft_cap": (None, 2.0),
    "num_heads": (1, 2),
    "key_dim": (1, 2, 3),
    "value_dim": (None, 1, 4),
    "head_dim": (2, 4),
    "num_query_heads": (2, 4),
    "num_key_value_heads": (1, 2),
    "attention_axes": (None, (1,), (1, 2), 1),
    "flash_attention": (None, False),
    "output_shape": lambda rng, rank, shape: pick(rng, (None, 3, (3,), (2, 2))),
    "merge_mode": ("concat", "sum", "mul", "ave", None),
    "power_iterations": (1, 3),
    "mask_value": (0.0, 1.0, -1.0),
    "shared_axes": lambda rng, rank, shape: pick(rng, (None, [1], [1, 2], [-1])),
    "interpolation": ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"),
    "target_shape": lambda rng, rank, shape: reshaped(rng, shape),
    "dims": lambda rng, rank, shape: tuple(int(axis) + 1 for axis in rng.permutation(max(len(shape) - 1, 0))),
    "offset": (0.0, 1, -0.5),
    "mean": (None, 0.5, [1.0]),
    "variance": (None, 2.0, [4.0]),
    "invert": (True, False),
    "height": (1, 3, 6),
    "width": (1, 4, 7),
    "crop_to_aspect_ratio": (True, False),
    "pad_to_aspect_ratio": (True, False),
    "antialias": (True, False),
    "fill_mode": ("constant",),
    "fill_value": (0.0, 2.0),
    "num_bins": (1, 3, 10),
    "num_tokens": (4, 9),
    "output_mode": ("int", "one_hot", "multi_hot", "count"),
    "salt": (None, 1, [2, 3]),
    "bin_boundaries": ([0.0, 0.5], [-1.0, 0.0, 1.0], [1]),
    "synchronized": (False,),
    "frame_length": (4, 8),
    "frame_step": (None, 2, 3),
    "fft_length": (8, 16),
    "sequence_stride": (2, 4),
    "sequence_length": (None, 6),
    "num_mel_bins": (4, 8),
    "sampling_rate": (100,),
    "min_freq": (1.0,),
    "window": ("hann", "hamming", None),
    "periodic": (True, False),
    "scaling": ("density", "spectrum", None),
    "mode": ("log", "magnitude", "psd", "real", "imag", "angle", "stft"),
    "expand_dims": (True, False),
    "power_to_db": (True, False),
    "max_number": (1, 4),
}
ACTIVITY = (None, {"class_name": "L2", "config": {"l2": 0.1}}, "l1")
CONSTRAINTS = (None, "non_neg", "unit_norm", "max_norm")
RANKS = {"1D": 1, "2D": 2, "3D": 3}
TWO = ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract", "Dot", "Attention",
       "AdditiveAttention")
# Layers of several inputs that are arguments of their own, not a list.
SPREAD = ("MultiHeadAttention", "GroupQueryAttention")
WRAPPED = ("Dense", "Conv1D", "LSTM", "GRU", "SimpleRNN", "BatchNormalization", "Embedding", "Activation",
           "EinsumDense")
CELLS = ("SimpleRNNCell", "LSTMCell", "GRUCell")
INTEGERS = ("Embedding", "ReversibleEmbedding", "CategoryEncoding", "Hashing", "IntegerLookup")
PICTURES = ("Resizing", "CenterCrop")


def sizes(rng, rank, low, high):
    """Return one size for all axes, or one for each."""
    if rng.integers(2):
        return int(rng.integers(low, high))
    return tuple(int(size) for size in rng.integers(low, high, rank))


def edges(rng, rank):
    """Return what is cut off or added at both ends of axes, in one of the ways to say it."""
    kind = rng.integers(3)
    if kind == 0 or rank == 1 and kind == 1:
        return int(rng.integers(0, 3)) if rank > 1 or kind else (int(rng.integers(0, 3)), int(rng.integers(0, 2)))
    if kind == 1:
        return tuple(int(size) for size in rng.integers(0, 3, rank))
    return tuple((int(one), int(other)) for one, other in rng.integers(0, 2, (rank, 2))) if rank > 1 else (1, 0)


def reshaped(rng, shape):
    """Return a shape for as many elements as one has behind its batch."""
    count = int(numpy.prod(shape[1:], dtype=int))
    return pick(rng, ((count,), (-1,), (1, count), (-1, 1), (count, 1, 1), (-1, shape[-1] if len(shape) > 1 else 1)))


def choose(rng, name, rank, shape):
    """Return a value of a parameter; raise KeyError where none is known."""
    if name.endswith("_initializer"):
        return pick(rng, INITIALIZERS)
    if name == "activity_regularizer" or name.endswith("_regularizer"):
        return pick(rng, ACTIVITY)
    if name.endswith("_constraint"):
        return pick(rng, CONSTRAINTS)
    found = CHOICES[name]
    return found(rng, rank, shape) if callable(found) else pick(rng, found)


def rank_of(name):
    """Return over how many axes a layer's windows go; 1 where it has none."""
    return next((rank for mark, rank in RANKS.items() if mark in name), 2 if name in PICTURES else 1)


def input_shape(rng, name):
    """Return a shape that a layer takes, now and then of another rank or empty."""
    rank = rank_of(name)
    batch = pick(rng, (1, 2, 3, 3, 5, 0))
    inner = int(rng.integers(2, 8)) if rank < 3 else int(rng.integers(2, 5))
    if "ConvLSTM" in name:
        return (batch, 2, *(int(rng.integers(3, 6)) for _ in range(rank)), pick(rng, (1, 2)))
    if any(mark in name for mark in RANKS) or name in PICTURES:
        extent = [inner + int(rng.integers(0, 3)) for _ in range(rank)]
        shape = (batch, *extent, pick(rng, (1, 2, 4, 6)))
        return shape[:1] + shape[-1:] + shape[1:-1] if rng.integers(5) == 0 else shape
    if name in ("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional"):
        return batch, pick(rng, (1, 2, 5)), pick(rng, (1, 3))
    if name.endswith("Cell") or name == "RepeatVector":
        return batch, 3
    if name in ("MelSpectrogram", "STFTSpectrogram"):
        return (batch, 40) if name[0] == "M" else (batch, 40, 1)
    if name in ("Attention", "AdditiveAttention", "MultiHeadAttention", "GroupQueryAttention", "Dot"):
        return batch, pick(rng, (1, 2, 4)), pick(rng, (2, 3))
    if name == "TimeDistributed":
        return batch, 3, 4, 2
    return (batch, *(int(size) for size in rng.integers(1, 6, pick(rng, (0, 1, 1, 2, 2, 3)))))


def numbers(rng, name, shape, dtype):
    """Return the numbers of an input."""
    if name in INTEGERS or name == "HashedCrossing":
        return rng.integers(0, 4, shape).astype(pick(rng, ("int32", "int64", "uint8", "float32", "int32")))
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype[0] in "iu":
        return rng.integers(0 if dtype[0] == "u" else -3, 4, shape).astype(dtype)
    found = numpy.asarray(rng.standard_normal(shape) * pick(rng, (1.0, 1.0, 1.0, 10.0)))
    if rng.integers(12) == 0 and found.size:
        found.reshape(-1)[int(rng.integers(found.size))] = pick(rng, (float("nan"), float("inf"), float("-inf")))
    with numpy.errstate(all="ignore"):
        return found.astype(dtype)


def required(rng, name, shape):
    """Return {name: value} of what some classes need and tables of names do not tell."""
    if name in ("Bidirectional", "TimeDistributed", "SpectralNormalization"):
        inner = {"Bidirectional": ("LSTM", "GRU", "SimpleRNN"), "TimeDistributed": WRAPPED,
                 "SpectralNormalization": ("Dense", "Conv1D")}[name]
        inner = pick(rng, inner)
        return {"layer": {"layer": inner, "config": config_of(rng, inner, shape, False)}}
    if name in ("RNN", "StackedRNNCells"):
        cells = [{"layer": cell, "config": config_of(rng, cell, shape, False)}
                 for cell in (pick(rng, CELLS), pick(rng, CELLS))]
        return {"cell": cells[0] if rng.integers(2) else cells} if name == "RNN" else {"cells": cells}
    if name == "EinsumDense":
        return pick(rng, ({"equation": "ab,bc->ac", "output_shape": 3, "bias_axes": "c"},
                          {"equation": "abc,cd->abd", "output_shape": (None, 4), "bias_axes": "d"},
                          {"equation": "...x,xy->...y", "output_shape": 3},
                          {"equation": "abc,cde->abde", "output_shape": (None, 2, 3), "bias_axes": "de"}))
    if name == "IntegerLookup":
        return {"vocabulary": [1, 2, 3], **({"mask_token": 0} if rng.integers(2) else {})}
    if name == "Rescaling":
        return {"scale": pick(rng, (2.0, 1 / 255, -1, [1.0, 2.0]))}
    if name == "Activation":
        return {"activation": pick(rng, ACTIVATIONS)}
    if "ZeroPadding" in name:
        return {"padding": edges(rng, rank_of(name))}
    if name in ("MelSpectrogram", "STFTSpectrogram"):
        return {"fft_length": 16}
    return {}


def config_of(rng, name, shape, whole=True):
    """Return arguments of a class, those that have defaults now and then; `DESCRIBED` tells which it has."""
    config = required(rng, name, shape)
    for parameter, needed in DESCRIBED[name]:
        chance = 2 if parameter in ("padding", "strides", "data_format", "activation", "axis") else 4
        if parameter in config or not needed and rng.integers(chance):
            continue
        try:
            config[parameter] = choose(rng, parameter, rank_of(name), shape)
        except KeyError:
            if needed:
                raise
    if whole and "dtype" not in config:
        policy = pick(rng, POLICIES)
        config.update({} if policy is None else {"dtype": policy})
    return config


# {class: [(parameter, whether it has no default)]}, filled by `describe` from the genuine classes.
DESCRIBED = {}


def describe(layers):
    """Look at the arguments of genuine Keras's classes."""
    for name in dir(layers):
        found = getattr(layers, name)
        if isinstance(found, type):
            DESCRIBED[name] = [(p.name, p.default is p.empty) for p in inspect.signature(found.__init__)
                               .parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in
                               ("self", "name", "dtype", "weights")]


def layer_call(rng, name):
    """Return a random call of a layer."""
    shape = input_shape(rng, name)
    dtype = pick(rng, DTYPES)
    config, call = config_of(rng, name, shape), {}
    many = name in (*TWO, *SPREAD, "HashedCrossing")
    inputs = numbers(rng, name, shape, dtype)
    if many:
        other = shape[:1] + ((1,) + shape[2:] if len(shape) > 2 and rng.integers(5) == 0 else shape[1:])
        inputs = [inputs, numbers(rng, name, other, dtype)]
        if "Attention" in name:
            call = {"use_causal_mask": bool(rng.integers(2)), "return_attention_scores": bool(rng.integers(2))}
    mask = None
    if len(shape) > 2 and rng.integers(3) == 0 and not many:
        mask = rng.integers(0, 2, shape[:2]).astype(bool)
    return {"config": config, "inputs": inputs, "mask": mask, "call": call, "spread": name in SPREAD}
