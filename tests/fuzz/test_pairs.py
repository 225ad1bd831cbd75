"""Nearly right calls of `tf.raw_ops` beside genuine TensorFlow, few and seeded; `pairs.py` makes them of every face."""
import pathlib
import pickle
import sys

import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import hostile  # noqa: E402  (stands beside this file)
import nearly  # noqa: E402
import pairs  # noqa: E402
import raw_calls  # noqa: E402
import right_calls  # noqa: E402

CALLS = 20  # of each operator
# What sizes and parameters by channel are checked of; all others are `pairs.py`'s.
NAMES = ("FusedBatchNormV3", "Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv3DBackpropInputV2",
         "DepthwiseConv2dNativeBackpropFilter")


def test_one_thing_is_changed():
    """The same seed makes the same call, which differs from the right one, and leaves that as it was."""
    call = ([["tensor", numpy.arange(6.0).reshape(2, 3), False], ["list", 1, 2]], {"mode": "same"}, None)
    before = pickle.dumps(call)
    for index in range(60):
        args, kwargs, words = nearly.nearly(hostile.generator(0, index, "name"), call, False)
        again = nearly.nearly(hostile.generator(0, index, "name"), call, False)
        assert pickle.dumps((args, kwargs, words)) == pickle.dumps(again)
        same = [pickle.dumps(one) == pickle.dumps(other) for one, other in zip(args, call[0])]
        assert len(args) < 2 or sum(same) >= 1 and words
    assert pickle.dumps(call) == before


@pytest.mark.parametrize("theirs, mine, kind", (
    (("error", "RuntimeError", "bad"), ("results", []), "taken"),
    (("results", []), ("error", "ValueError", "bad"), "refused"),
    (("results", [("value", 1)]), ("results", [("value", 2)]), "differs"),
    (("results", [("value", 1)]), ("crash", "-11"), "crash"),
    (("error", "RuntimeError", "not implemented for 'Half'"), ("results", []), None),
    (("error", "RuntimeError", "bad"), ("error", "ValueError", "bad"), None)))
def test_how_answers_part(theirs, mine, kind):
    assert (pairs.judge("add", theirs, mine) or (None,))[0] == kind


@pytest.mark.long("hundreds of calls are made of genuine frameworks, too")
def test_nothing_wrong_is_taken_without_a_word(tmp_path):
    pytest.importorskip("tensorflow", reason="genuine TensorFlow, the oracle, is not installed")
    calls = {f"raw_ops.{name}": [([], {key: right_calls.plain(value) for key, value in call.items()}, None)
                                 for call in raw_calls.CALLS[name]] for name in NAMES}
    path = tmp_path / "calls.pickle"
    path.write_bytes(pickle.dumps(calls))
    known = list(pairs.known_differences())
    found, compared, _ = pairs.hunt("tensorflow", sorted(calls), 0, CALLS, path, tmp_path)
    assert compared > CALLS * len(NAMES) // 2
    assert not [finding for finding in found if not pairs.is_known(finding, known)]
