"""Graphs as bytes and files: nothing is lost, protobuf agrees byte for byte, what is wrong is told with its place."""
import copy
import os
import pathlib
import pickle
import random
import struct

import numpy
import pytest

import dragon
from dragon import _C
from harness import interpreter
from harness.graph_samples import SAMPLES, make_constants, make_nested, make_network, make_updates, same

GOLDEN = pathlib.Path(__file__).parent / "golden"


@pytest.fixture(params=sorted(SAMPLES))
def graph(request):
    return SAMPLES[request.param]()


def proto():
    """Return the module of messages, or skip where protobuf is missing."""
    pytest.importorskip("google.protobuf")
    from dragon.core import proto as module
    return module


def plain(call):
    """Return what is equal in a call's copy; graphs within it are told by their text."""
    return {name: str(value.graph) if isinstance(value, _C.GraphBody) else value
            for name, value in call.attrs.items()}, call.scope, call.symbolic


def test_bytes_lose_nothing(graph):
    data = graph.to_bytes()
    again = dragon.Graph.from_bytes(data)
    assert again.to_bytes() == data and str(again) == str(graph)
    assert [plain(call) for call in again] == [plain(call) for call in graph]
    assert [(v.name, v.symbolic) for v in again.values] == [(v.name, v.symbolic) for v in graph.values]
    assert again.updates == graph.updates and again.symbols == graph.symbols
    for number, tensor in graph.constants.items():
        copy = again.constants[number]
        assert (copy.dtype, copy.shape, copy.tolist()) == (tensor.dtype, tensor.shape, tensor.tolist())


def test_copies_and_pickles(graph):
    for again in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)), graph.copy()):
        assert type(again) is dragon.Graph and again is not graph and same(again, graph)


@pytest.mark.parametrize("map", [True, False])
def test_files_lose_nothing(graph, map, tmp_path):
    graph.save(tmp_path / "graph.dragon")
    assert os.listdir(tmp_path) == ["graph.dragon"]
    assert same(dragon.Graph.load(tmp_path / "graph.dragon", map=map), graph)


def test_protobuf_agrees(graph):
    data = graph.to_bytes()
    message = proto().parse(data)
    assert proto().serialize(message) == data
    assert [call.type for call in message.calls] == [call.op for call in graph]


def test_strides_are_kept():
    again = dragon.Graph.from_bytes(make_constants().to_bytes())
    strides = [again.value(number).strides for number in again.outputs]
    assert strides[0] == (1, 3) and strides[2] == (0, 1)  # a transpose and an expand; one with gaps is copied
    assert strides[1] == (2, 1)


def test_weights_are_aligned_and_mapped(tmp_path):
    path = tmp_path / "graph.dragon"
    make_network().save(path)
    graph = dragon.Graph.load(path)
    before = path.read_bytes()
    for tensor in graph.constants.values():
        assert tensor.numpy().ctypes.data % 64 == 0
        dragon.ops.mul(tensor, 0, out=tensor)  # writes to a mapped constant stay in this process
    assert path.read_bytes() == before
    graph.save(path)  # over the file that it is mapped from
    assert not dragon.Graph.load(path).constants[1].numpy().any()


def make_random(seed):
    """Return a random graph over many kinds of values, with the numbers of a random program."""
    pick = random.Random(seed)
    graph = dragon.Graph("".join(pick.choices("abcß✓ .", k=pick.randrange(9))))
    with graph.edit():
        graph.symbols = ["batch", "länge"][:pick.randrange(3)]
        values = [graph.add_input((2, 3), pick.choice(("float32", "float64")), pick.choice(("", "x", "eingang ✓")))]
        values.append(graph.add_constant(dragon.full((2, 3), pick.choice((0.0, -0.0, float("nan"), 1e30))), "c"))
        for _ in range(pick.randrange(1, 12)):
            x, y = pick.choice(values), pick.choice(values)
            values += pick.choice([
                lambda: graph.add_call("add", [x, y], alpha=pick.choice((1, -7, 2.5, True, 1e300))),
                lambda: graph.add_call("sum", [x], axis=pick.choice((None, [0], [])), keepdims=True, scope="a/b"),
                lambda: graph.add_call("cat", [[x] * pick.randrange(1, 4)], axis=0),
                lambda: graph.add_call("cast", [x], dtype=pick.choice(("float16", "int64", "bool", "complex64"))),
                lambda: graph.add_call("gelu", [graph.add_input((1,))], approximate="tanh"),
                lambda: graph.add_call("reshape", [x], shape=[-1]),
                lambda: graph.add_call("max_pool2d_with_indices", [graph.add_input((1, 1, 4, 4))], kernel_size=2),
            ])()
        graph.outputs = pick.choices(values, k=pick.randrange(3))
    return graph


def test_random_graphs_agree_with_protobuf_byte_for_byte():
    parse, serialize, made = proto().parse, proto().serialize, 0
    for seed in range(300):
        try:
            data = make_random(seed).to_bytes()
        except (ValueError, TypeError):  # shapes or dtypes that do not meet
            continue
        assert serialize(parse(data)) == data == dragon.Graph.from_bytes(data).to_bytes()
        made += 1
    assert made > 100


def test_golden_files_load_for_ever():
    paths = sorted(GOLDEN.glob("*.dragon"))
    assert paths
    for path in paths:
        graph = dragon.Graph.load(path)
        dump = dragon.Graph.load(path.with_suffix(".reference"))
        given = {dump.value(number).name: tensor for number, tensor in dump.constants.items()}
        named = [graph.value(number).name for number in graph.inputs]
        results = run_plainly(graph, [given[f"input {name}"] for name in named])
        for place, result in enumerate(results):
            expected = given[f"output {place}"]
            numpy.testing.assert_allclose(result.numpy(), expected.numpy(), atol=1e-6, err_msg=path.name)


def run_plainly(graph, inputs):
    """Run a graph call by call."""
    values = dict(zip(graph.inputs, inputs)) | graph.constants
    for call in graph:
        given = {name: [values.get(i) for i in ids] if isinstance(ids, list) else values.get(ids)
                 for name, ids in call.tensors.items()}
        results = getattr(dragon.ops, call.op)(**given, **call.attrs)
        values.update(zip(call.outputs, results if isinstance(results, (tuple, list)) else [results]))
    return [values[number] for number in graph.outputs]


# --- what is wrong says so


def changed(change):
    """Return the network's bytes after a change of its message."""
    message = proto().parse(make_network().to_bytes())
    change(message)
    return proto().serialize(message)


def swap_calls(message):
    calls = list(message.calls)
    del message.calls[:]
    message.calls.extend(calls[::-1])


def factor(message):
    """Return a factor of the first size that follows a symbol, in the place of the symbol itself."""
    return message.values[0].symbolic[0].size.terms[0].factors.add()


def quotient(message, divisor):
    """Return a factor that is a symbol divided by a number."""
    made = factor(message)
    made.dividend.terms.add(coefficient=1)
    made.divisor = divisor
    return made


def nested(made, depth):
    """Make a quotient one of quotients of quotients."""
    for _ in range(depth):
        made = made.dividend.terms[0].factors.add(divisor=2)
        made.dividend.terms.add(coefficient=1)


WRONG = {
    "newer": (lambda m: setattr(m, "version", 7), ValueError, "got version 7 of the format, expected 1 to 2; a newer"),
    "no version": (lambda m: m.ClearField("version"), ValueError, "byte 0 .*no version"),
    "negative version": (lambda m: setattr(m, "version", -1), ValueError, "version -1"),
    "unknown operator": (lambda m: setattr(m.calls[1], "type", "rellu"), NotImplementedError,
                         r"byte \d+: operator 'rellu'.*nearest"),
    "no operator": (lambda m: m.calls[1].ClearField("type"), ValueError, "a call without an operator"),
    "order": (swap_calls, ValueError, "made before it is read"),
    "cycle": (lambda m: m.calls[1].inputs.__setitem__(0, m.calls[1].outputs[0]), ValueError, "before it is read"),
    "made twice": (lambda m: m.calls[1].outputs.__setitem__(0, 0), ValueError, "made once"),
    "value beyond": (lambda m: m.calls[1].inputs.__setitem__(0, 2**31 - 1), ValueError, "reading %2147483647"),
    "output beyond": (lambda m: m.outputs.append(-5), ValueError, "outputs reading %-5"),
    "shape": (lambda m: m.values[3].shape.__setitem__(0, 3), ValueError, r"call 1 \(relu\)"),
    "dtype": (lambda m: setattr(m.values[2], "dtype", 5), ValueError, "int32"),
    "no dtype": (lambda m: m.values[2].ClearField("dtype"), ValueError, "without a dtype"),
    "unknown dtype": (lambda m: setattr(m.values[2], "dtype", 99), ValueError, "dtype 99"),
    "negative size": (lambda m: m.values[0].shape.__setitem__(0, -2), ValueError, "byte"),
    "huge size": (lambda m: m.values[0].shape.__setitem__(0, 2**62), ValueError, "byte"),
    "axes": (lambda m: m.values[0].shape.extend([1] * 100), ValueError, "more than 64"),
    "strides": (lambda m: m.values[0].strides.extend([1]), ValueError, "strides"),
    "device": (lambda m: setattr(m.values[0], "device", "toaster"), ValueError, "toaster"),
    "unknown attribute": (lambda m: setattr(m.calls[0].attrs[0], "name", "strode"), ValueError, "attribute 'strode'"),
    "attribute twice": (lambda m: m.calls[0].attrs.append(m.calls[0].attrs[0]), ValueError, "'stride' twice"),
    "kind of attribute": (lambda m: setattr(m.calls[0].attrs[0], "text", "two"), ValueError, "'stride'"),
    "list lengths": (lambda m: m.calls[1].list_sizes.append(3), ValueError, "lengths of lists"),
    "missing numbers": (lambda m: setattr(m.constants[0].tensor, "data", b"123"), ValueError,
                        "3 bytes of numbers instead of 432"),
    "numbers elsewhere": (lambda m: setattr(m.constants[0].tensor, "offset", 64), ValueError, "where there is no file"),
    "constant of nobody": (lambda m: setattr(m.constants[0], "value", 77), ValueError, "making %77"),
    "constant twice": (lambda m: m.constants.append(m.constants[0]), ValueError, "once more"),
    "no tensor": (lambda m: m.constants[0].ClearField("tensor"), ValueError, "without a tensor"),
    "symbol beyond": (lambda m: m.symbols.pop(), ValueError, "following symbol 0"),
    "no coefficient": (lambda m: m.values[0].symbolic[0].size.terms[0].ClearField("coefficient"), ValueError,
                       "0 of a symbol, expected numbers of which one can be a size"),
    "axis beyond": (lambda m: setattr(m.values[0].symbolic[0], "axis", 9), ValueError, "symbolic axis 9"),
    "no factor's divisor": (lambda m: factor(m).dividend.terms.add(coefficient=1), ValueError, "divided by 0"),
    "a negative divisor": (lambda m: quotient(m, -2), ValueError, "divided by -2"),
    "a factor beyond": (lambda m: setattr(factor(m), "symbol", 7), ValueError, "following symbol 7"),
    "a factor below": (lambda m: setattr(factor(m), "symbol", -1), ValueError, "following symbol -1"),
    "one bound of a factor": (lambda m: quotient(m, 2).between.append(3), ValueError, "one bound of a number"),
    "three bounds of a factor": (lambda m: quotient(m, 2).between.extend([1, 2, 3]), ValueError, "more than 2 numbers"),
    "bounds the wrong way": (lambda m: quotient(m, 2).between.extend([9, 2]), ValueError, "between 9 and 2"),
    "endless quotients": (lambda m: nested(quotient(m, 2), 100), ValueError, "deeper than 64"),
    "bounds of nobody": (lambda m: m.bounds.add(symbol=3, high=9, multiple=1), ValueError, "bounds of symbol 3"),
    "bounds below": (lambda m: m.bounds.add(symbol=-2, high=9, multiple=1), ValueError, "bounds of symbol -2"),
    "no size within": (lambda m: m.bounds.add(low=9, high=2, multiple=1), ValueError, "of 9 to 2 by 1"),
    "no multiple": (lambda m: m.bounds.add(high=9), ValueError, "of 0 to 9 by 0"),
    "a relation of none": (lambda m: m.conditions.add(relation=7), ValueError, "relation 7"),
    "a condition of nobody": (lambda m: m.conditions.add().a.terms.add(symbol=5, coefficient=1), ValueError,
                              "a condition following symbol 5"),
    "update beyond": (lambda m: m.updates.add(input=4), ValueError, "update of input 4"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_messages(case):
    change, error, text = WRONG[case]
    with pytest.raises(error, match=text):
        dragon.Graph.from_bytes(changed(change))


def test_bounds_of_nothing_but_0_come_back():
    graph = make_network()
    symbol = graph.symbols[0]
    graph.bound(symbol, 0, 0)
    assert dragon.Graph.from_bytes(graph.to_bytes()).bounds == {symbol: (0, 0, 1)}


WRONG_BYTES = {
    "nothing": (b"", "no version"),
    "an unknown field": (b"\x08\x01\xf8\x01\x00", r"byte 2 \(GraphDef, field 31\): a field that this version"),
    "half a number": (b"\x08\x01\x28\x80", r"byte 2 \(GraphDef, field 5\): the end in the middle"),
    "a length beyond": (b"\x08\x01\x12\xff\xff\xff\xff\x0fgraph", "a length of 4294967295 where 5 bytes are left"),
    "an endless number": (b"\x08\x01\x28" + b"\xff" * 20, "more than 64 bits"),
    "another wire type": (b"\x08\x01\x10\x01", r"field 2\): wire type 0 instead of 2"),
    "a wire type of none": (b"\x08\x01\x17", "wire type that there is not"),
    "no text": (b"\x08\x01\x12\x02\xc0\xaf", "no UTF-8"),
    "something else": (b"PK\x03\x04", "byte 0"),
}


@pytest.mark.parametrize("case", WRONG_BYTES)
def test_wrong_bytes(case):
    data, text = WRONG_BYTES[case]
    with pytest.raises(ValueError, match=text):
        dragon.Graph.from_bytes(data)


def test_every_truncation_is_told():
    data = make_updates().to_bytes()
    for length in range(len(data)):
        try:
            dragon.Graph.from_bytes(data[:length]).verify()  # some beginnings are graphs
        except ValueError as error:
            assert "graph" in str(error) or "updates" in str(error)


def damage(path, offset, data):
    raw = bytearray(path.read_bytes())
    raw[offset:offset + len(data)] = data
    path.write_bytes(raw)


def test_wrong_files(tmp_path):
    path = tmp_path / "graph.dragon"
    load = dragon.Graph.load
    with pytest.raises(RuntimeError, match="cannot open .*No such file"):
        load(tmp_path / "nobody")
    with pytest.raises(RuntimeError, match="ordinary file"):
        load(tmp_path)
    path.write_bytes(b"short")
    with pytest.raises(ValueError, match="of 5 bytes, expected at least 64"):
        load(path)
    path.write_bytes(b"x" * 100)
    with pytest.raises(ValueError, match="does not begin as one"):
        load(path)
    make_network().save(path)
    damage(path, 8, struct.pack("<q", 3))
    with pytest.raises(ValueError, match="of version 3, expected 1 to 2; a newer Dragon has written it"):
        load(path)
    for offset in (16, 24):
        for number in (2**62, -1, 2**63 - 1, 5):
            make_network().save(path)
            damage(path, offset, struct.pack("<q", number))
            with pytest.raises(ValueError, match="cut short or changed"):
                load(path)
    make_network().save(path)
    path.write_bytes(path.read_bytes()[:-64])
    with pytest.raises(ValueError, match="cut short"):
        load(path)
    with pytest.raises(RuntimeError, match="cannot open"):
        make_network().save(tmp_path / "no" / "folder")


def test_weights_beyond_the_file(tmp_path):
    path = tmp_path / "graph.dragon"
    make_network().save(path)
    raw = bytearray(path.read_bytes())
    size = struct.unpack_from("<q", raw, 16)[0]
    for offset in (-64, 2**40, 2**63 - 1, 512, 3):
        message = proto().parse(bytes(raw[64:64 + size]))
        message.constants[0].tensor.offset = offset
        data = proto().serialize(message)
        padding = -len(data) % 64
        head = raw[:16] + struct.pack("<q", len(data)) + raw[24:64]
        path.write_bytes(bytes(head) + data + bytes(padding) + bytes(raw[64 + size + (-size % 64):]))
        for map in (True, False):
            with pytest.raises(ValueError, match="of the weights|place in the weights"):
                dragon.Graph.load(path, map=map)


def test_what_no_file_can_hold():
    graph = dragon.Graph()
    x = graph.add_input((3,))
    graph.add_call("bernoulli", [x], generator=_C.default_generator())
    data = graph.to_bytes()  # the default generator is what None stands for
    assert dragon.Graph.from_bytes(data).call(0).attrs["generator"] is None
    graph.add_call("bernoulli", [x], generator=_C.Generator(3))
    with pytest.raises(NotImplementedError, match="bernoulli.generator"):
        graph.to_bytes()


def test_graphs_within_graphs_have_a_limit():
    parse = proto().parse
    message = parse(make_nested().to_bytes())
    for _ in range(40):
        outer = parse(make_nested().to_bytes())
        outer.calls[0].attrs[0].graph.CopyFrom(message)
        message = outer
    with pytest.raises(ValueError, match="graphs within graphs, deeper than 32"):
        dragon.Graph.from_bytes(proto().serialize(message))


def test_protobuf_is_asked_for_by_name():
    program = ("import sys; sys.modules['google.protobuf'] = None\n"
               "from dragon.core import proto\n"
               "try: proto.messages()\n"
               "except ImportError as error: print(error)\n")
    done = interpreter.run(["-c", program], "/", preload="import dragon")
    assert "pip install 'dragon-engine[proto]'" in done.stdout, done.stderr


def test_attributes_that_are_missing_have_their_defaults():
    graph = dragon.Graph.from_bytes(changed(lambda message: message.calls[0].ClearField("attrs")
                                            or message.calls[0].attrs.add(name="stride").integers.list.extend([2, 2])
                                            or message.calls[0].attrs.add(name="padding").integers.list.extend([1, 1])))
    assert graph.call(0).attrs == make_network().call(0).attrs
