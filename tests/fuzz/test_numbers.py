"""The short forms of two hunts: right programs of TensorFlow's functions, and operators amid others when compiled."""
import importlib.util
import pathlib
import random
import sys

import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import compiled  # noqa: E402  (stands beside this file)
import tensorflow_numbers  # noqa: E402
import tensorflow_programs  # noqa: E402
import tensorflow_rows  # noqa: E402

PROGRAMS, COMPOSED = 24, 40
SAMPLES = {
    "torch.nn.functional.gelu": [([["tensor", numpy.linspace(-2, 2, 12, dtype="float32").reshape(3, 4), True]], {})],
    "torch.addmm": [([["tensor", numpy.ones((2, 2), "float32"), True], ["tensor", numpy.eye(2, dtype="float32"), True],
                      ["tensor", numpy.arange(4, dtype="float32").reshape(2, 2), True]], {})],
    "torch.Tensor.index_add_": [([["tensor", numpy.ones((3, 2), "float32"), False], 0,
                                  ["tensor", numpy.array([2, 0]), False],
                                  ["tensor", numpy.ones((2, 2), "float32"), True]], {})],
    "torch.var_mean": [([["tensor", numpy.arange(6, dtype="float32").reshape(2, 3), True]], {"dim": 1})]}


def test_every_template_can_be_filled():
    """Each row becomes a text without slots, of inputs of the dtypes that it names."""
    for letter, template in tensorflow_rows.templates():
        grower = object.__new__(tensorflow_programs.Grower)
        grower.pick, grower.extreme, grower.inputs, grower.values = random.Random(0), False, {}, {}
        grower.new, grower.known, grower.main, grower.source = {}, {}, None, None
        grower.dtype = tensorflow_rows.DTYPES[letter].split()[0]
        try:
            text = tensorflow_programs.SLOT.sub(lambda match, grower=grower: grower._fill(match[1]),
                                                template.replace("{{", "(").replace("}}", ")"))
        except Exception as error:
            raise AssertionError(template) from error
        compile(text, template, "eval")


@pytest.mark.skipif(not importlib.util.find_spec("tensorflow"), reason="the oracle is not installed")
@pytest.mark.long("hundreds of programs run in genuine TensorFlow, too")
def test_right_programs_are_as_in_genuine_tensorflow(tmp_path):
    found, programs, statements, learned = tensorflow_numbers.hunt(3, PROGRAMS, tmp_path, ways="plain")
    assert programs > 0.8 * PROGRAMS and statements > programs and learned > 5
    assert not found, "\n".join(f"seed {seed} {kind} [{line}] {words}\n    {text}"
                                for seed, kind, line, words, text in found)


def test_compiled_functions_are_as_eager_ones():
    outcomes = {seed: (found, str(program)) for seed, found, program in compiled.walk(range(COMPOSED), SAMPLES)}
    assert sum(found == "ran" for found, _ in outcomes.values()) > COMPOSED // 2
    assert not [pair for pair in outcomes.items() if pair[1][0] not in compiled.SAME]


def test_a_difference_is_told():
    """Results that differ, dtypes and missing gradients are told, each at its statement."""
    program = {"inputs": [("x0", "float32", numpy.ones(2, "float32"))], "lines": ["y0 = tf.abs(x0)"], "extreme": False}
    leaf = ("tensor", "float32", numpy.ones(2, "float32"), (2,))
    one = {"results": [[leaf]], "gradients": [leaf]}
    assert tensorflow_numbers.compare(one, one, program, tensorflow_numbers.tolerance) is None
    for other in (("tensor", "float32", numpy.float32([1, 1.001]), (2,)), ("tensor", "float64", numpy.ones(2), (2,))):
        mine = {"results": [[other]], "gradients": [leaf]}
        assert tensorflow_numbers.compare(one, mine, program, tensorflow_numbers.tolerance)[0] == "y0 = tf.abs(x0)"
    mine = {"results": [[leaf]], "gradients": [("value", None)]}
    assert tensorflow_numbers.compare(one, mine, program, tensorflow_numbers.tolerance)[0] == "gradients"
