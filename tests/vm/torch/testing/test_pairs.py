"""Pairs of `torch.testing._comparison` beside PyTorch's: suites of other libraries derive their own from them."""
import itertools

import numpy as np
import pytest
import torch
import torch.testing._comparison as genuine

from dragon.vm import torch as dt
from dragon.vm.torch.testing import _comparison as ours
from harness.subresults import each

BOTH = ((ours, dt), (genuine, torch))


def told(compare):
    """Return what a comparison tells under both libraries, which is the same."""
    mine, theirs = (compare(library, framework) for library, framework in BOTH)
    assert str(mine).replace("dragon.vm.", "") == str(theirs)
    return mine


def differences(actual, expected, **options):
    """Return what `not_close_error_metas` tells of two results that functions of a framework make."""
    def compare(library, framework):
        kinds = [getattr(library, name) for name in options.get("kinds", ("NonePair", "BooleanPair", "NumberPair",
                                                                          "TensorLikePair"))]
        others = {key: value for key, value in options.items() if key != "kinds"}
        try:
            metas = library.not_close_error_metas(actual(framework), expected(framework), pair_types=kinds, **others)
        except Exception as error:
            return type(error).__name__, str(error).splitlines()[0]
        return [(meta.type.__name__, meta.msg, meta.id, str(meta.to_error())) for meta in metas]
    return told(compare)


@each("value", [lambda t: t.tensor(2.0), lambda t: t.tensor([1, 2, 3]), lambda t: [1.0, None, 3],
                lambda t: {"a": t.zeros(2, 2), "b": 3}, lambda t: np.float32(3), lambda t: "word",
                lambda t: t.zeros(0), lambda t: t.eye(2).to_sparse(), lambda t: None,
                lambda t: t.eye(2).to_sparse_csr(), lambda t: t.tensor([1, 2], dtype=t.uint16)])
@each("other", [lambda t: t.tensor(2.5), lambda t: t.tensor([1, 2, 4]), lambda t: [1.5, 0, 4],
                lambda t: {"a": t.ones(2, 2), "b": 4}, lambda t: 3, lambda t: "words",
                lambda t: (t.eye(2) * 2).to_sparse(), lambda t: t.ones(2, 2).to_sparse(),
                lambda t: (t.eye(2) * 2).to_sparse_csr(),
                lambda t: t.ones(2, 2).to_sparse_csr()])
def test_differences_are_the_same(value, other):
    for options in ({}, {"rtol": 0, "atol": 0, "check_dtype": False, "check_layout": False}):
        differences(value, other, **options)
        differences(value, value, **options)


def test_all_differences_are_told():
    metas = differences(lambda t: [1, t.zeros(2), {"k": 1.5}], lambda t: [2, t.ones(2), {"k": 2.5}])
    assert [meta[2] for meta in metas] == [(0,), (1,), (2, "k")]
    assert metas[2][3].endswith("The failure occurred for item [2]['k']")


def test_bools_tell_their_place():
    """Which PyTorch's forget."""
    meta, = ours.not_close_error_metas([{"k": True}], [{"k": False}], pair_types=(ours.BooleanPair,))
    assert str(meta.to_error()) == "Booleans mismatch: True is not False\n\nThe failure occurred for item [0]['k']"


@pytest.mark.parametrize("tolerance", [0, 0.5])
def test_floats_of_eight_bits_are_compared_bit_by_bit(tolerance):
    def make(numbers):
        return lambda t: t.tensor(numbers).to(t.float8_e4m3fn)
    metas = differences(make([1.0, 2.0]), make([1.0, 3.0]), rtol=tolerance, atol=tolerance)
    assert ("are not 'equal'!" if tolerance == 0 else "not supported for bitwise") in metas[0][1]


def test_whatever_is_equal():
    assert differences(lambda t: ("a", 1), lambda t: ("a", 1), kinds=("ObjectPair",)) == []
    differences(lambda t: ("a", 1), lambda t: ("b", 2), kinds=("ObjectPair",))
    differences(lambda t: np.zeros(2), lambda t: np.ones(2), kinds=("ObjectPair",))  # whose equality has no one truth


def test_a_suite_has_pairs_of_its_own():
    """As torchvision's does for images: other items first, other tolerances, another comparison."""
    def compare(library, framework):
        class MeanPair(library.TensorLikePair):
            def __init__(self, actual, expected, *, mean=False, **others):
                super().__init__(*(framework.tensor(item) if isinstance(item, list) else item
                                   for item in (actual, expected)), **others)
                self.mean = mean

            def compare(self):
                self._compare_attributes(self.actual, self.expected)
                actual, expected = self._equalize_attributes(self.actual, self.expected)
                if not self.mean:
                    return super()._compare_values(actual, expected)
                apart = float((actual - expected).abs().float().mean())
                if apart > self.atol:
                    self._fail(AssertionError, f"apart by {apart}")

        told = [repr(MeanPair([1.0], framework.ones(1), id=(0,), unknown=3))]
        for mean, atol in itertools.product((False, True), (0.25, 2)):
            pair = MeanPair(framework.tensor([1.0, 2.0]), framework.tensor([2.0, 2.0]), mean=mean, rtol=0, atol=atol)
            try:
                pair.compare()
                told.append(None)
            except library.ErrorMeta as meta:
                told.append(meta.msg)
        return told
    assert told(compare)[3:] == ["apart by 0.5", None]


def test_an_item_that_is_not_a_pairs():
    for library, framework in BOTH:
        for kind, items in (("BooleanPair", (True, 1)), ("NumberPair", (1, "a")), ("NonePair", (1, 2)),
                            ("TensorLikePair", (framework.ones(1), 1))):
            with pytest.raises(library.UnsupportedInputs):
                getattr(library, kind)(*items, id=())


def test_an_error_inside_a_pair_tells_the_items():
    def compare(library, framework):
        class Broken(library.Pair):
            def compare(self):
                raise KeyError("no")
        try:
            library.not_close_error_metas(1, 2, pair_types=(Broken,))
        except RuntimeError as error:
            return str(error)[:str(error).index("resulted")]
    assert "expected=2" in told(compare)


def test_tolerances_are_both_or_none():
    def compare(library, framework):
        try:
            library.get_tolerances(framework.float32, rtol=None, atol=1.0)
        except library.ErrorMeta as meta:
            return meta.type.__name__, meta.msg
    told(compare)
    assert ours.get_tolerances(dt.float16, dt.float32, rtol=None, atol=None) == genuine.get_tolerances(
        torch.float16, torch.float32, rtol=None, atol=None)
