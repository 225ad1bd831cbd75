"""Nested tensors made of lists, values and ranges; printed, copied and in files."""
import copy
import io
import pickle

import pytest
import torch
from harness.nested import agree, outcome, samples
from harness.subresults import each

from dragon.vm import torch as dt

BOTH = dt, torch
MADE = [
    "n.nested_tensor([t.ones(2), t.ones(3)])", "n.nested_tensor([])", "n.nested_tensor([], layout=t.jagged)",
    "n.nested_tensor([1.0, 2.0])", "n.nested_tensor([[1, 2], [3]])",
    "n.nested_tensor([[1, 2], [3]], layout=t.jagged)", "n.nested_tensor([1.0, 2.0], layout=t.jagged)",
    "n.nested_tensor([t.ones(2), t.ones(2, 3)])", "n.nested_tensor([t.ones(2), t.ones(2, 3)], layout=t.jagged)",
    "n.nested_tensor(t.ones(3))", "n.nested_tensor([t.ones(2, 3), t.ones(3, 2)], layout=t.jagged)",
    "n.nested_tensor([t.ones(2, 3), t.ones(3, 2)])", "n.nested_tensor([t.ones(2, 3), t.ones(2, 5)], layout=t.jagged)",
    "n.nested_tensor([t.ones(2), t.ones(1).int()])", "n.nested_tensor([t.ones(2), t.ones(1).int()], layout=t.jagged)",
    "n.nested_tensor([t.ones(2)], layout=t.sparse_coo)",
    "n.nested_tensor([t.ones(2), t.ones(3)], dtype=t.int64, layout=t.jagged)",
    "n.nested_tensor([t.ones(2), t.ones(3)], dtype=t.int64)", "n.nested_tensor([t.ones(2)], requires_grad=True)",
    "n.as_nested_tensor(t.ones(2, 3))", "n.as_nested_tensor(t.ones(2, 3), layout=t.jagged)",
    "n.as_nested_tensor([1, 2])", "n.as_nested_tensor(t.ones(3))", "n.as_nested_tensor([a, b]).is_leaf",
    "n.as_nested_tensor([a, b], layout=t.jagged)",
    "n.as_nested_tensor(n.nested_tensor([t.ones(2)]), layout=t.jagged)",
    "n.as_nested_tensor(n.nested_tensor([t.ones(2)]), dtype=t.float64)",
    "n.as_nested_tensor((a, b), dtype=t.float64)", "n.nested_tensor_from_jagged(v, t.tensor([0, 2, 5]))",
    "n.nested_tensor_from_jagged(v)", "n.nested_tensor_from_jagged(v, t.tensor([0, 2, 5])).to_padded_tensor(0).shape",
    "n.nested_tensor_from_jagged(v, t.tensor([0, 2, 5]), max_seqlen=3).to_padded_tensor(0).shape",
    "n.nested_tensor_from_jagged(v, lengths=t.tensor([2, 3]))", "n.nested_tensor_from_jagged(v, o, jagged_dim=0)",
    "n.nested_tensor_from_jagged(v, o, t.tensor([1, 1, 2]))",
    "n.nested_tensor_from_jagged(v, o, t.tensor([1, 1, 2])).sum(1)",
    "n.nested_tensor_from_jagged(v, o, t.tensor([1, 1, 2])).numel()",
    "n.nested_tensor_from_jagged(v, o, t.tensor([1, 1, 2])).contiguous()",
    "n.nested_tensor_from_jagged(v, o, t.tensor([1, 1, 2])).is_contiguous()",
    "n.nested_tensor_from_jagged(v, o, t.tensor([1, 1, 2])).mean(-1)",
    "n.nested_tensor_from_jagged(v, o, t.tensor([1, 1, 2])).to_padded_tensor(0)",
    "n.nested_tensor_from_jagged(v.T, o, jagged_dim=2)",
    "n.narrow(t.ones(3, 4, 2), 1, t.tensor([0, 1, 2]), t.tensor([3, 1, 2]), layout=t.jagged)",
    "n.narrow(t.ones(3, 4, 2), 1, 0, 2, layout=t.jagged)", "n.narrow(t.ones(3, 4), 0, 0, 2)",
    "n.narrow(t.ones(3, 4), 1, 0, 2)", "n.narrow(t.ones(3, 4), 0, 0, 2, layout=t.jagged)",
    "n.narrow(t.ones(3, 4), 1, t.tensor([0]), 2)",
    "n.narrow(t.arange(12).view(3, 4), 1, t.tensor([0, 1]), 2, layout=t.jagged)", "n.narrow(t.ones(3, 4), 1, 'a', 2)",
    "n.masked_select(t.arange(6).reshape(2, 3), t.tensor([True, False, True]))",
    "n.masked_select(t.arange(6).reshape(2, 3), t.arange(6).reshape(2, 3) > 4)",
    "n.masked_select(n.nested_tensor([t.ones(2)], layout=t.jagged), t.tensor([True]))",
    "n.to_padded_tensor(t.ones(2), 0)", "n.to_padded_tensor(n.nested_tensor([t.ones(2), t.ones(3)]), 4.0)",
    "n.nested_tensor_from_jagged(v, o).offsets() is o",
    "n.nested_tensor_from_jagged(v, o).shape == n.nested_tensor_from_jagged(v * 2, o).shape",
    "n.nested_tensor_from_jagged(v, o) + n.nested_tensor_from_jagged(v, o)",
    "n.nested_tensor_from_jagged(v, o) + n.nested_tensor_from_jagged(v, o.clone())"]


@each("text", MADE)
def test_made_as_genuine(text):
    found = []
    for t in BOTH:
        a, b = (x.requires_grad_() for x in samples(t, [(2, 3), (4, 3)]))
        scope = {"t": t, "n": t.nested, "a": a, "b": b, "v": t.arange(10.).reshape(5, 2), "o": t.tensor([0, 2, 2, 5])}
        found.append(outcome(eval, text, scope))
    assert agree(*found), found


def test_samples_outside_of_the_values_are_refused():
    values = dt.ones(5, 2)
    for offsets, lengths in (([0, 2, 9], None), ([0, -1, 5], None), ([0, 4, 2], None), ([0, 3, 5], [1, 4])):
        with pytest.raises(RuntimeError, match="expected it within 0 to 5"):
            dt.nested.nested_tensor_from_jagged(values, dt.tensor(offsets), lengths and dt.tensor(lengths))
    for offsets in (dt.tensor([[0, 5]]), dt.tensor([0., 5.])):
        with pytest.raises(RuntimeError, match="a vector of integers"):
            dt.nested.nested_tensor_from_jagged(values, offsets)


def kinds(t):
    """Return nested tensors of many kinds."""
    rows = samples(t, [(2, 3), (0, 3), (4, 3)], "float32")
    values, offsets = t.arange(10.).reshape(5, 2), t.tensor([0, 2, 5])
    return [t.nested.nested_tensor(rows), t.nested.nested_tensor(rows, layout=t.jagged), t.nested.nested_tensor([]),
            t.nested.nested_tensor(rows, dtype=t.int64, layout=t.jagged),
            t.nested.nested_tensor_from_jagged(values, offsets), t.nested.nested_tensor(rows, requires_grad=True),
            t.nested.nested_tensor_from_jagged(values, offsets, t.tensor([1, 2])),
            t.nested.nested_tensor(rows, layout=t.jagged, requires_grad=True),
            t.nested.nested_tensor_from_jagged(values.T, offsets, jagged_dim=2, min_seqlen=2, max_seqlen=3)]


@each("index", range(9))
def test_files_go_both_ways(index):
    for writer, reader in ((dt, torch), (torch, dt), (dt, dt)):
        file = io.BytesIO()
        writer.save({"x": kinds(writer)[index]}, file)
        file.seek(0)
        found, wanted = reader.load(file)["x"], kinds(reader)[index]
        assert type(found) is type(wanted) and agree(outcome(lambda: found), outcome(lambda: wanted))
        assert found.is_nested and found.layout is wanted.layout


def test_files_with_samples_outside_are_refused():
    x = torch.nested.nested_tensor_from_jagged(torch.ones(2, 2), torch.tensor([0, 9]))
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    with pytest.raises(Exception, match="got a sample from 0 to 9, expected it within 0 to 2"):
        dt.load(file)


@pytest.mark.parametrize("sizes, strides, starts", [
    ([[2], [4]], [[1], [1]], [0]), ([[2], [4]], [1, 1], [0, 2]), ([[10 ** 9]], [[0]], [0]),
    ([[2 ** 40, 2 ** 40]], [[0, 0]], [0]), ([[-2], [4]], [[1], [1]], [0, 2]), ([[2], [4]], [[1], [1]], [0, 3])])
def test_files_with_samples_that_are_not_there_are_refused(sizes, strides, starts):
    with pytest.raises(RuntimeError, match="load: got"):
        dt._utils._rebuild_nested_tensor(dt.ones(6), *map(dt.tensor, (sizes, strides, starts)))


@each("index", range(9))
def test_printed_as_genuine(index):
    import re
    mine, genuine = (re.sub(r"j\d+", "j", repr(kinds(t)[index])) for t in BOTH)
    assert mine == genuine


@each("index", range(9))
def test_copies(index):
    x = kinds(dt)[index]
    for made in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x), x.clone().detach()):
        assert made.is_nested and type(made) is type(x)
        assert [one.tolist() for one in made.unbind()] == [one.tolist() for one in x.unbind()]
    copied = copy.deepcopy(x)
    assert copied.requires_grad == x.requires_grad and copied.is_leaf
    with pytest.raises(RuntimeError, match="deepcopy"):
        copy.deepcopy(kinds(dt)[7] * 2)


def test_names_of_the_layouts():
    for t in BOTH:
        from importlib import import_module
        x = kinds(t)
        home = import_module(t.__name__ + ".nested._internal.nested_tensor")
        assert isinstance(x[1], home.NestedTensor) and isinstance(x[0], t.Tensor) and type(x[0]).__name__ == "Tensor"
        made, offsets = home.jagged_from_list([t.ones(2), t.ones(3)], offsets=None)
        assert made.offsets() is offsets and offsets.tolist() == [0, 2, 5]
        padded = home.nested_from_padded(t.arange(6.).reshape(2, 3), t.tensor([0, 1, 4]))
        assert padded.values().tolist() == [0, 3, 4, 5] and home.buffer_from_jagged(padded).tolist() == [0, 3, 4, 5]
        with pytest.raises(AttributeError):
            x[0].offsets()
        assert x[1]._max_seqlen == x[1]._get_max_seqlen() == 4 and x[1]._min_seqlen == 0 and x[1]._ragged_idx == 1


def test_samples_are_whole_whichever_dim_is_ragged():
    # Not beside PyTorch, which reduces the first values.size(0) elements of each sample alone here.
    x = dt.nested.nested_tensor_from_jagged(dt.arange(12.0).reshape(2, 6), dt.tensor([0, 2, 6]), jagged_dim=2)
    assert x.sum(2).tolist() == [[1, 13], [14, 38]] and x.amax(2).tolist() == [[1, 7], [5, 11]]
    assert x.to_padded_tensor(0.0)[1].tolist() == [[2, 3, 4, 5, 0, 0], [8, 9, 10, 11, 0, 0]]
    assert x.mean(2).tolist() == [[0.5, 6.5], [3.5, 9.5]]


def test_parts_of_a_batch_begin_where_it_does():
    values = dt.arange(12.0).reshape(12, 1)
    x = dt.nested.nested_tensor_from_jagged(values, dt.tensor([2, 3, 6, 10, 12]))
    parts = [[one.flatten().tolist() for one in part.unbind()] for part in x.chunk(2)]
    assert parts == [[[2], [3, 4, 5]], [[6, 7, 8, 9], [10, 11]]]
    for t in BOTH:
        holes = t.nested.nested_tensor_from_jagged(t.ones(6, 1), t.tensor([0, 3, 6]), t.tensor([2, 1]))
        with pytest.raises(ValueError, match="chunk.*expected self to be a contiguous jagged layout NestedTensor"):
            holes.chunk(2)
