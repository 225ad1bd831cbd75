"""Quantizers against genuine Keras: integers, scales, gradients, configurations, errors."""
import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon import _C
from dragon.vm.keras import quantizers
from dragon.vm.keras.core.convert import convert_to_tensor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(10, 6)).astype("float32") * 3


def compare(ours, theirs, **tolerance):
    """Check that two results have the same dtype, shape and numbers."""
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for own, other in zip(ours, theirs):
            compare(own, other, **tolerance)
    elif hasattr(theirs, "numpy"):
        assert ours.dtype == theirs.dtype.name
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), **tolerance)
    else:
        assert ours == theirs


@each("call", [
    lambda q: q.abs_max_quantize(X, -1), lambda q: q.abs_max_quantize(X, (0, 1), value_range=(-8, 7)),
    lambda q: q.abs_max_quantize(X, 0, dtype="float32", to_numpy=True), lambda q: q.AbsMaxQuantizer(axis=0)(X),
    lambda q: q.AbsMaxQuantizer(value_range=(-8, 7))(X, axis=1), lambda q: q.get("abs_max_quantizer", axis=0)(X)
    if q is quantizers else q.AbsMaxQuantizer(axis=0)(X),
    lambda q: q.abs_max_quantize_grouped_with_zero_point(X, 4),
    lambda q: q.abs_max_quantize_grouped_with_zero_point(X, 16),
    lambda q: q.abs_max_quantize_grouped_with_zero_point(X, 5, value_range=(-4, 3)),
], ids=range(9))
def test_integers(call):
    """Integers and what brings them back."""
    compare(call(quantizers), call(genuine.keras.quantizers), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_four_bits(axis, dtype):
    """Two integers in a byte, and out again."""
    numbers = RNG.integers(*((-8, 8) if dtype == "int8" else (0, 16)), (5, 3, 7)).astype(dtype)
    ours, theirs = (q.pack_int4(convert(numbers), axis=axis, dtype=dtype) for q, convert in
                    ((quantizers, convert_to_tensor), (genuine.keras.quantizers, genuine.tf.constant)))
    compare(ours, theirs)
    back = quantizers.unpack_int4(ours[0], ours[2], axis=axis, dtype=dtype)
    np.testing.assert_array_equal(back.numpy(), numbers)
    compare(back, genuine.keras.quantizers.unpack_int4(theirs[0], theirs[2], axis=axis, dtype=dtype))


@pytest.mark.parametrize("arguments", [{}, {"num_bits": 4, "narrow_range": True}, {"axis": 1}, {"axis": 0}],
                         ids=range(4))
def test_fake_quantization(arguments):
    """Values and gradients."""
    size = X.shape[arguments["axis"]] if "axis" in arguments else None
    low, high = (np.full(size, value, "float32") if size else np.float32(value) for value in (-2.3, 3.1))
    tf = genuine.tf
    given = [tf.constant(value) for value in (X, low, high)]
    with tf.GradientTape() as tape:
        for value in given:
            tape.watch(value)
        expected = genuine.keras.quantizers.fake_quant_with_min_max_vars(*given, **arguments)
        total = tf.reduce_sum(expected * X)
    before = _C.set_grad_enabled(True)
    try:
        own = [convert_to_tensor(value) for value in (X.copy(), low, high)]
        for value in own:
            value.requires_grad = True
        found = quantizers.fake_quant_with_min_max_vars(*own, **arguments)
        grads = _C.grad([found], own, [convert_to_tensor(X)])
    finally:
        _C.set_grad_enabled(before)
    np.testing.assert_allclose(found.detach().numpy(), expected.numpy(), atol=1e-5)
    for ours, theirs in zip(grads, tape.gradient(total, given)):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_float8(dtype):
    """Rounding to eight bits, and the scales."""
    spread = np.concatenate([X.ravel() * 10.0 ** k for k in range(-6, 6)]).astype("float32")
    for scale in (1.0, 0.37):
        ours, theirs = (q.quantize_and_dequantize(convert(spread), np.float32(scale), dtype, "float32") for q, convert
                        in ((quantizers, convert_to_tensor), (genuine.keras.quantizers, genuine.tf.constant)))
        compare(ours, theirs, rtol=1e-6)
    for largest in (0.0, 3.0, np.inf):
        ours, theirs = (q.compute_float8_scale(convert(np.float32(largest)), convert(np.float32(0.5)), 448.0, 1)
                        for q, convert in ((quantizers, convert_to_tensor),
                                           (genuine.keras.quantizers, genuine.tf.constant)))
        compare(ours, theirs, rtol=1e-6)
    history = np.arange(4, dtype="float32")
    compare(quantizers.compute_float8_amax_history(X, history),
            genuine.keras.quantizers.compute_float8_amax_history(X, history), rtol=1e-6)


@each("name, arguments", [
    ("AbsMaxQuantizer", {}), ("AbsMaxQuantizer", {"axis": 1}), ("Int8QuantizationConfig", {}),
    ("Int8QuantizationConfig", {"activation_quantizer": None}), ("Int4QuantizationConfig", {"block_size": None}),
    ("Int4QuantizationConfig", {}), ("Float8QuantizationConfig", {}),
    ("GPTQConfig", {"dataset": None, "tokenizer": None, "weight_bits": 8}),
    ("AWQConfig", {"dataset": None, "tokenizer": None})], ids=range(9))
def test_configurations(name, arguments):
    """What is saved, and what is made of it again."""
    ours, theirs = (getattr(q, name)(**arguments) for q in (quantizers, genuine.keras.quantizers))
    assert ours.get_config() == theirs.get_config()
    assert getattr(ours, "mode", None) == getattr(theirs, "mode", None)
    again = type(ours).from_config(ours.get_config())
    assert again.get_config() == ours.get_config()
    assert quantizers.serialize(ours) == genuine.keras.quantizers.serialize(theirs)
    if hasattr(theirs, "dtype_policy_string"):
        assert ours.dtype_policy_string() == theirs.dtype_policy_string()


def test_names():
    """All public names."""
    missing = {name for name in dir(genuine.keras.quantizers) if not name.startswith("_")} - set(dir(quantizers))
    assert not missing
    assert quantizers.get(None) is None


@pytest.mark.parametrize("call, told", [
    (lambda: quantizers.AbsMaxQuantizer(value_range=(-300, 300)), r"\(-300, 300\)"),
    (lambda: quantizers.pack_int4(X, dtype="int16"), "'int16'"), (lambda: quantizers.pack_int4(X), "float32"),
    (lambda: quantizers.Int4QuantizationConfig(block_size=0), "block_size=0"),
    (lambda: quantizers.GPTQConfig(None, None, weight_bits=5), "weight_bits=5"),
    (lambda: quantizers.AWQConfig(None, None, num_grid_points=0), "num_grid_points=0"),
    (lambda: quantizers.quantize_and_dequantize(X, 1.0, "int8", "float32"), "quantized_dtype=int8"),
    (lambda: quantizers.get(3), "3"),
], ids=range(8))
def test_wrong_arguments(call, told):
    """Errors end in what was received."""
    with pytest.raises((TypeError, ValueError), match=rf"{told}\.?$"):
        call()
