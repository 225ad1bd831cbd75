"""What `tf.test.TestCase` claims: each claim holds for what it says, and fails otherwise."""
import pytest

from dragon.vm import tensorflow as tf
from harness.subresults import each

INFINITY = float("inf")
# Arguments for which a claim holds, and others for which it does not.
CLAIMS = {
    "assertNear": [(1.0, 1.1, 0.2), (INFINITY, INFINITY, 0.1)], "assertNear ": [(1.0, 1.3, 0.2), (INFINITY, 1.0, 9.0)],
    "assertArrayNear": [([1.0, 2.0], [1.1, 2.1], 0.2)],
    "assertArrayNear ": [([1.0], [1.0, 2.0], 9), ([1.0], [2.0], 0.5)],
    "assertNDArrayNear": [(tf.constant([3.0, 4.0]), [0.0, 0.0], 5.1)],
    "assertNDArrayNear ": [(tf.constant([3.0, 4.0]), [0.0, 0.0], 5.0)],
    "assertAllCloseAccordingToType": [(tf.constant([1.0], tf.float16), [1.0005]), ([1.0], [1.0])],
    "assertAllCloseAccordingToType ": [(tf.constant([1.0], tf.float64), [1.0005])],
    "assertAllGreater": [(tf.constant([2, 3]), 1)], "assertAllGreater ": [(tf.constant([1, 3]), 1)],
    "assertAllGreaterEqual": [(tf.constant([1, 3]), 1)], "assertAllGreaterEqual ": [(tf.constant([0, 3]), 1)],
    "assertAllLess": [([0, 1], 2)], "assertAllLess ": [([0, 2], 2)],
    "assertAllLessEqual": [([0, 2], 2)], "assertAllLessEqual ": [([0, 3], 2)],
    "assertAllInSet": [(tf.constant([[1, 2]]), {1, 2, 3})], "assertAllInSet ": [([1, 4], {1, 2, 3})],
    "assertEmpty": [([],)], "assertEmpty ": [([1],)], "assertNotEmpty": [({1: 2},)], "assertNotEmpty ": [({},)],
    "assertLen": [([1, 2], 2)], "assertLen ": [([1, 2], 3)],
    "assertBetween": [(2, 2, 3), (3, 2, 3)], "assertBetween ": [(1, 2, 3)],
    "assertSameElements": [([1, 2, 2], (2, 1))], "assertSameElements ": [([1, 2], [1, 3])],
}


@each("name", CLAIMS)
def test_claims(name):
    """A claim holds for the arguments under its name, and for none of those under the name with a blank."""
    claim = getattr(tf.test.TestCase(), name.strip())
    for args in CLAIMS[name]:
        if name.endswith(" "):
            with pytest.raises(AssertionError):
                claim(*args)
        else:
            assert claim(*args) is None


def test_errors_of_operators():
    """A block must raise an operator's error of a text."""
    case = tf.test.TestCase()
    with case.assertRaisesOpError("cannot be computed|Incompatible|shape"):
        tf.reshape(tf.ones([3]), [2])
    with pytest.raises(AssertionError):
        with case.assertRaisesOpError("anything"):
            tf.reshape(tf.ones([4]), [2, 2])


def test_functions_are_decorated_in_place():
    """Libraries put a decorator into a `tf.function`, before it is traced and no later."""
    function = tf.function(lambda x: x + 1)
    function._decorate(lambda inner: lambda x: inner(x) * 10)
    assert function(tf.constant(1)).numpy() == 20
    with pytest.raises(ValueError, match="cannot be decorated after they have been traced"):
        function._decorate(lambda inner: inner)


def test_modules_know_their_scope():
    """A module's scope is the one that it was made in, under the name by which libraries ask for it."""
    class Part(tf.Module):
        def __init__(self):
            super().__init__("part")
    with tf.name_scope("outer"):
        part = Part()
    assert part._scope_name == "outer/part/"
    with part.name_scope:
        assert tf.Variable(1.0, name="v").name == "outer/part/v:0"


def test_a_strategy_for_what_is_not_there():
    """Libraries derive classes of it; it says that there is no TPU."""
    with pytest.raises(ValueError, match="Please provide a TPU Name"):
        tf.distribute.TPUStrategy()
