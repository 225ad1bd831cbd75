"""Whether two results are close, and an error that says where they are not."""
from collections.abc import Mapping, Sequence

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.testing._letters import (  # noqa: F401 (other libraries' suites import them from here)
    ErrorMeta, make_scalar_mismatch_msg, make_tensor_mismatch_msg)
from dragon.vm.torch.testing._pairs import (  # noqa: F401 (likewise)
    BooleanPair, NonePair, NumberPair, ObjectPair, Pair, TensorLikePair, UnsupportedInputs)
from dragon.vm.torch.testing._tolerances import default_tolerances, get_tolerances  # noqa: F401 (likewise)

OLD_PRECISIONS = {torch.float16: (1e-3, 1e-3), torch.float32: (1e-4, 1e-5), torch.float64: (1e-5, 1e-8)}


def originate_pairs(actual, expected, *, pair_types, sequence_types=(Sequence,), mapping_types=(Mapping,), id=(),
                    **options):
    """Return the pairs of two nested results; structures that differ raise an `ErrorMeta`.

    Parameters
    ----------
    actual, expected : Any
        The results.
    pair_types : Sequence[type]
        Kinds of pairs: the first that takes two items compares them.
    sequence_types, mapping_types : tuple[type], optional
        What counts as a sequence and as a mapping; a string is no sequence.
    id : tuple, optional
        Indices and keys that lead here.
    **options : Any
        Of the pairs.

    Returns
    -------
    list[Pair]
        The pairs.

    """
    both = (actual, expected)
    if all(isinstance(item, sequence_types) and not isinstance(item, str) for item in both):
        if len(actual) != len(expected):
            raise ErrorMeta(AssertionError, "The length of the sequences mismatch: "
                            f"{len(actual)} != {len(expected)}", id=id)
        keys = range(len(actual))
    elif all(isinstance(item, mapping_types) for item in both):
        keys = common_keys(actual, expected, id)
    else:
        return [originate_pair(actual, expected, pair_types, id, options)]
    return [pair for key in keys
            for pair in originate_pairs(actual[key], expected[key], pair_types=pair_types, id=(*id, key),
                                        sequence_types=sequence_types, mapping_types=mapping_types, **options)]


def originate_pair(actual, expected, pair_types, id, options):
    """Return the first kind of pair that takes two items, made of them."""
    for pair_type in pair_types:
        try:
            return pair_type(actual, expected, id=id, **options)
        except UnsupportedInputs:
            continue
        except ErrorMeta:
            raise
        except Exception as error:
            place = "".join(f"[{item!r}]" for item in id)
            raise RuntimeError(f"Originating a {pair_type.__name__}() at item {place} with\n\n"
                               f"{type(actual).__name__}(): {actual}\n\nand\n\n"
                               f"{type(expected).__name__}(): {expected}\n\n"
                               "resulted in the unexpected exception above.") from error
    raise ErrorMeta(TypeError, "No comparison pair was able to handle inputs of type "
                    f"{type(actual)} and {type(expected)}.", id=id)


def common_keys(actual, expected, id):
    """Return the keys of two mappings, in order if they have one; raise if they differ."""
    mine, theirs = set(actual.keys()), set(expected.keys())
    if mine != theirs:
        raise ErrorMeta(AssertionError, "The keys of the mappings do not match:\n"
                        f"Missing keys in the actual mapping: {sorted(theirs - mine)}\n"
                        f"Additional keys in the actual mapping: {sorted(mine - theirs)}", id=id)
    try:
        return sorted(mine)
    except TypeError:
        return list(mine)


def not_close_error_metas(actual, expected, *, pair_types=(ObjectPair,), sequence_types=(Sequence,),
                          mapping_types=(Mapping,), **options):
    """Return the differences of two nested results; raise where their structures differ.

    Parameters
    ----------
    actual, expected : Any
        The results.
    pair_types : Sequence[type], optional
        Kinds of pairs: the first that takes two items compares them.
    sequence_types, mapping_types : tuple[type], optional
        What counts as a sequence and as a mapping; a string is no sequence.
    **options : Any
        Of the pairs.

    Returns
    -------
    list[ErrorMeta]
        The differences, each to be raised as `to_error()` makes it.

    """
    __tracebackhide__ = True
    try:  # all pairs are made before the first is compared: a wrong structure is told before wrong numbers
        pairs = originate_pairs(actual, expected, pair_types=pair_types, sequence_types=sequence_types,
                                mapping_types=mapping_types, **options)
    except ErrorMeta as meta:
        raise meta.to_error() from None
    metas = []
    for pair in pairs:
        try:
            pair.compare()
        except ErrorMeta as meta:
            metas.append(meta.with_traceback(None))  # which would keep the tensors alive
        except Exception as error:
            raise RuntimeError(f"Comparing\n\n{pair}\n\nresulted in the unexpected exception above.") from error
    return metas


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """Raise unless two results are close: `|actual - expected| <= atol + rtol * |expected|` everywhere.

    Parameters
    ----------
    actual : Any
        Numbers, tensors, what can become tensors, and sequences and mappings of them.
    expected : Any
        Likewise.
    allow_subclasses : bool, optional, default=True
        Whether classes may differ if one is a subclass of the other.
    rtol : float, optional
        The relative tolerance; by dtype unless both are given.
    atol : float, optional
        The absolute tolerance; by dtype unless both are given.
    equal_nan : bool, optional, default=False
        Whether NaN equals NaN.
    check_device, check_dtype, check_layout, check_stride : bool, optional
        Whether these must be equal too.
    msg : Union[str, Callable], optional
        The error's text, or what makes it of the generated one.

    """
    __tracebackhide__ = True
    metas = not_close_error_metas(
        actual, expected, pair_types=(NonePair, BooleanPair, NumberPair, TensorLikePair),
        allow_subclasses=allow_subclasses, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=check_device,
        check_dtype=check_dtype, check_layout=check_layout, check_stride=check_stride)
    if metas:
        raise metas[0].to_error(msg)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """Raise unless two tensors are close; deprecated for `assert_close`."""
    warnings.warn("`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
                  "Please use `torch.testing.assert_close()` instead.", FutureWarning)
    if not isinstance(actual, Tensor):
        actual = torch.tensor(actual)
    if not isinstance(expected, Tensor):
        expected = torch.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected, dtype_precisions=OLD_PRECISIONS)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)
