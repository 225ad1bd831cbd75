"""Files that are damaged, or written to do harm: a letter, and never more work than the file is long."""
import random
import shutil

import pytest

from dragon.vm import tensorflow as tf
from dragon.vm.tensorflow.core.saved_model import messages
from dragon.vm.tensorflow.core.saved_model.body import Library
from dragon.vm.tensorflow.core.saved_model.functions import Trace
from dragon.vm.tensorflow.core.saved_model.writing.encoding import encode
from harness import genuine
from vm.tensorflow.saved_model.programs import make_program

LETTERS = (tf.errors.OpError, OSError, ValueError, TypeError, NotImplementedError, RuntimeError)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a program."""
    place = tmp_path_factory.mktemp("program")
    made, target = make_program(genuine.tf, place), place / "saved"
    genuine.tf.saved_model.save(made, str(target), signatures={"serving_default": made.__call__})
    return target


def try_all(path):
    """Load a folder and call what can be called; only letters may come."""
    try:
        model = tf.saved_model.load(str(path))
        for call in (lambda: model(tf.ones([1, 2])), lambda: model.look(tf.constant(["a"])), lambda: model.draw(),
                     lambda: model.many(tf.ones([3])), lambda: model.signatures["serving_default"](x=tf.ones([1, 2]))):
            try:
                call()
            except (AttributeError, KeyError):  # a part has another name now
                pass
    except LETTERS:
        pass


def test_truncated_files(folder, tmp_path):
    target = tmp_path / "t"
    shutil.copytree(folder, target)
    whole = (folder / "saved_model.pb").read_bytes()
    for part in [0, 1, 2, 5, 17, *range(100, len(whole), len(whole) // 25)]:
        (target / "saved_model.pb").write_bytes(whole[:part])
        try_all(target)


def test_changed_bytes(folder, tmp_path):
    target = tmp_path / "t"
    shutil.copytree(folder, target)
    whole, chance = (folder / "saved_model.pb").read_bytes(), random.Random(3)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 3, 20))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        (target / "saved_model.pb").write_bytes(data)
        try_all(target)


def test_without_variables(folder, tmp_path):
    target = tmp_path / "t"
    shutil.copytree(folder, target)
    data = target / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:4])
    with pytest.raises(tf.errors.DataLossError):
        tf.saved_model.load(str(target))
    shutil.rmtree(target / "variables")
    model = tf.saved_model.load(str(target))
    with pytest.raises(NotImplementedError, match="no numbers"):
        model(tf.ones([1, 2]))


def make_body(nodes, ends=(("y", "n0:output:0"),), inputs=("x",), name="f"):
    """Return the bytes of a function of nodes (name, operator, inputs, attributes)."""
    made = messages.FunctionDef()
    made.signature.name = name
    for one in inputs:
        made.signature.input_arg.add(name=one, type=1)
    for key, value in ends:
        made.signature.output_arg.add(name=key, type=1)
        made.ret.add(key=key, value=value)
    for node, operator, sources, attributes in nodes:
        definition = made.node_def.add(name=node, op=operator, input=sources)
        for key, value in attributes.items():
            definition.attr.append(messages.NamedAttr(key=key, value=value))
    return made.SerializeToString()


def call(*functions):
    """Call the first of several functions."""
    return Library(functions).find("f", "test")(tf.constant(1.0))


def function_of(name):
    return messages.AttrValue(func=messages.NameAttrList(name=name))


def test_nodes_that_need_each_other():
    with pytest.raises(tf.errors.DataLossError, match="needs itself"):
        call(make_body([("n0", "Identity", ["n1:output:0"], {}), ("n1", "Identity", ["n0:output:0"], {})]))
    with pytest.raises(tf.errors.DataLossError, match="no node 'n1'"):
        call(make_body([("n0", "Identity", ["n1:output:0"], {})]))
    with pytest.raises(tf.errors.DataLossError, match="node:result:number"):
        call(make_body([("n0", "Identity", ["n0x:output:q"], {}), ("n0x", "Identity", ["x"], {})]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="result 7"):
        call(make_body([("n0", "IdentityN", ["x"], {})], [("y", "n0:output:7")]))


def test_functions_that_call_each_other():
    body = make_body([("n0", "PartitionedCall", ["x"], {"f": function_of("f")})])
    with pytest.raises(tf.errors.InvalidArgumentError, match="deep"):
        call(body)
    with pytest.raises(tf.errors.InvalidArgumentError, match="'g'"):
        call(make_body([("n0", "PartitionedCall", ["x"], {"f": function_of("g")})]))


def test_unknown_operators_are_named():
    with pytest.raises(tf.errors.UnimplementedError, match="FrobnicateV3.*node 'n0' of function 'f'"):
        call(make_body([("n0", "FrobnicateV3", ["x"], {})]))
    inner = make_body([("n0", "FrobnicateV3", ["x"], {})], name="g")
    outer = make_body([("n0", "PartitionedCall", ["x"], {"f": function_of("g")})])
    assert Library([outer, inner]).find("f", "test").unknown() == [("FrobnicateV3", "n0", "g")]


def test_switch_and_merge():
    truth = messages.TensorProto(dtype=10, bool_val=[True])
    truth.tensor_shape.SetInParent()
    for value, expected in ((True, -1.0), (False, 2.0)):
        truth.bool_val[0] = value
        body = make_body([
            ("c", "Const", [], {"value": messages.AttrValue(tensor=truth)}), ("s", "Switch", ["x", "c:output:0"], {}),
            ("no", "Neg", ["s:output_true:0"], {}), ("a", "AddV2", ["s:output_false:0", "s:output_false:0"], {}),
            ("n0", "Merge", ["a:z:0", "no:y:0"], {})])
        assert float(call(body)[0]) == expected


def test_wrong_operands():
    with pytest.raises(tf.errors.InvalidArgumentError, match="AddV2: cannot be called with"):
        call(make_body([("n0", "AddV2", ["x"], {})]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected a variable"):
        call(make_body([("n0", "ReadVariableOp", ["x"], {})]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected a table"):
        call(make_body([("n0", "LookupTableFindV2", ["x", "x", "x"], {})]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="no attribute 'DstT'"):
        call(make_body([("n0", "Cast", ["x"], {})]))


def constant(value, shape=(), dtype=3):
    proto = messages.TensorProto(dtype=dtype, int_val=[value])
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    proto.tensor_shape.SetInParent()
    return {"value": messages.AttrValue(tensor=proto), "dtype": messages.AttrValue(type=dtype)}


def test_huge_shapes():
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(make_body([("n0", "Const", [], constant(0, (1 << 40, 1 << 20)))]))
    with pytest.raises((tf.errors.OpError, ValueError, MemoryError, RuntimeError)):
        call(make_body([("a", "Const", [], constant(1 << 30, (4,))), ("n0", "Fill", ["a:output:0", "x"], {})]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="elements"):
        kinds = {"element_dtype": messages.AttrValue(type=1)}
        call(make_body([("a", "Const", [], constant(2147483647)),
                        ("n0", "TensorListReserve", ["a:output:0", "a:output:0"], kinds)]))


def test_files_outside(folder, tmp_path):
    target = tmp_path / "t"
    shutil.copytree(folder, target)
    whole = (folder / "saved_model.pb").read_bytes()
    name = b"vocabulary.txt"
    for wrong in (b"../secret.text", b"/tmp/etc/hosts"):
        assert len(wrong) == len(name)
        (target / "saved_model.pb").write_bytes(whole.replace(name, wrong))
        with pytest.raises(tf.errors.DataLossError, match="outside"):
            tf.saved_model.load(str(target))


def test_deep_structures():
    inner = b""
    for _ in range(3000):  # a list in a list in a list
        inner = _length(b"\x9a\x03", _length(b"\x0a", inner))
    with pytest.raises(tf.errors.DataLossError):
        messages.read(messages.Structured, inner, "a structure")


def _length(tag, data):
    from dragon.core.wire import write_varint
    return tag + write_varint(len(data)) + data


def test_signatures_that_are_none():
    for wrong in (None, (None, {}), ((), None), ((), {}, ())):
        described = messages.SavedConcrete()
        described.canonicalized_input_signature.MergeFrom(encode(wrong))
        with pytest.raises(tf.errors.DataLossError, match="expected .arguments, by name."):
            Trace("f", None, described, None)
