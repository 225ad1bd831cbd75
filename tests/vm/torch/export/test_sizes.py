"""Sizes that vary: ranges, relations, and letters that tell what would do."""
import pytest

from dragon.vm import torch
from dragon.vm.torch.export import Dim, ShapesCollection, dims, export
from dragon.vm.torch.export.dynamic_shapes import AdditionalInputs, refine_dynamic_shapes_from_suggested_fixes

X = torch.linspace(-1, 1, 20).reshape(5, 4)


class Does(torch.nn.Module):
    """What a function does."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


class Added(torch.nn.Module):
    """The sum of two tensors."""

    def forward(self, x, y):
        return x + y


class Branches(torch.nn.Module):
    """A decision by a size."""

    def forward(self, x):
        return x.sum() if x.shape[0] > 3 else x * 2


class Viewed(torch.nn.Module):
    """A size that is a number in the code."""

    def forward(self, x):
        return x.view(5, 2, 2)


def ranges(program):
    return {str(key): str(value) for key, value in program.range_constraints.items()}


def letter(module, args, shapes):
    with pytest.raises(Exception) as caught:
        export(module, args, dynamic_shapes=shapes)
    return str(caught.value)


def test_a_size_with_a_name():
    program = export(Branches(), (X,), dynamic_shapes=({0: Dim("n", min=4, max=64)},))
    assert ranges(program) == {"s0": "VR[4, 64]"}
    module = program.module()
    torch.testing.assert_close(module(torch.ones(9, 4)), torch.tensor(36.0))
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[0\] <= 64"):
        module(torch.ones(65, 4))
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[1\] == 4"):
        module(torch.ones(9, 5))


def test_ranges_are_found():
    assert ranges(export(Branches(), (X,), dynamic_shapes=({0: Dim.AUTO},))) == {"s0": "VR[4, int_oo]"}
    assert ranges(export(Branches(), (X,), dynamic_shapes=({0: Dim.DYNAMIC(max=9)},))) == {"s0": "VR[4, 9]"}
    table = torch.nn.Parameter(torch.ones(16, 4))

    class Positions(torch.nn.Module):
        def forward(self, x):
            return x + table[:x.shape[0]]
    assert ranges(export(Positions(), (X,), dynamic_shapes=({0: Dim.AUTO},))) == {"s0": "VR[2, 16]"}


def test_letters_tell_what_would_do():
    text = letter(Branches(), (X,), ({0: Dim("n")},))
    assert "Constraints violated (n)!" in text and "n = Dim('n', min=4)" in text
    text = letter(Viewed(), (X,), ({0: Dim("n")},))
    assert "specialized it to be a constant (5)" in text and "n = 5" in text
    assert "specialized" in letter(Viewed(), (X,), ({0: Dim.DYNAMIC},))
    text = letter(Added(), (X, X.clone()), ({0: Dim("a")}, {0: Dim("b")}))
    assert "must always be equal" in text and "b = a" in text
    text = letter(Does(lambda x, y: x[1:] + y), (X, X[:4].clone()), ([{0: Dim("a")}, {0: Dim("b")}],))
    assert "b = a - 1" in text
    assert "% 2) == 1" in letter(Does(lambda x: x if x.shape[0] % 2 else -x), (X,), ([{0: Dim("a")}],))


def test_suggestions_can_be_taken():
    shapes = ({0: Dim("a")}, {0: Dim("b")})
    shapes = refine_dynamic_shapes_from_suggested_fixes(letter(Added(), (X, X.clone()), shapes), shapes)
    assert ranges(export(Added(), (X, X.clone()), dynamic_shapes=shapes)) == {"s0": "VR[0, int_oo]"}


def test_automatic_sizes_follow_or_stay():
    assert ranges(export(Viewed(), (X,), dynamic_shapes=({0: Dim.AUTO},))) == {}
    program = export(Added(), (X, X.clone()), dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}))
    shapes = [str(node.meta["val"].shape[0]) for node in program.graph.nodes if node.op == "placeholder"]
    assert shapes == ["s0", "s0"] and ranges(program) == {"s0": "VR[2, int_oo]"}
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(torch.ones(3, 4), torch.ones(4, 4))


def test_derived_sizes():
    n = Dim("n", min=2, max=10)
    program = export(Does(lambda x, y: x[1::2] + y), (X[:5].clone(), X[:2].clone()),
                     dynamic_shapes=([{0: 2 * n + 1}, {0: n}],))
    assert ranges(program) == {"2*s0 + 1": "VR[5, 21]", "s0": "VR[2, 10]"}
    assert program.module()(torch.ones(9, 4), torch.ones(4, 4)).shape == (4, 4)
    assert repr(2 * n + 1) == "Dim('2*n + 1')"


def test_sizes_in_programs_are_nodes():
    program = export(Does(lambda x: (x.reshape(x.shape[0] * 2, -1), torch.zeros(x.numel() + 1), x.shape[0] // 2)), (X,),
                     dynamic_shapes=([{0: Dim.DYNAMIC}],))
    targets = [str(node.target) for node in program.graph.nodes]
    assert "aten.sym_size.int" in targets and "aten.sym_numel.default" in targets
    module = program.module()
    one, two, three = module(torch.ones(7, 4))
    assert one.shape == (14, 2) and two.shape == (29,) and three == 3


def test_numbers_that_hide_sizes_are_found():
    text = letter(Does(lambda x: torch.zeros(len(str(x.shape[0])) + hash(x.shape[0]))), (X,), ([{0: Dim("n")}],))
    assert "specialized" in text


@pytest.mark.parametrize("shapes, what", [
    ({"z": {0: Dim("n")}}, "top-level keys must be the arg names"), (({0: "n"},), "Unexpected dimension"),
    (({5: Dim("n")},), "axis 5"), (({0: 7},), "Static shape constraint of 7"), ((None, None), "mismatch"),
    ((("x",),), "same length"), (3, "expected a dict"), ((3,), "None instead")])
def test_what_is_no_dynamic_shape(shapes, what):
    assert what in letter(Branches(), (X,), shapes)


def test_sizes_of_one_and_beyond_ranges():
    assert "constant (1)" in letter(Branches(), (X[:1],), ({0: Dim("n")},))
    assert "0/1 specialized" in letter(Branches(), (X[:1],), ({0: Dim.DYNAMIC},))
    assert "5 not in range [6, 9]" in letter(Branches(), (X,), ({0: Dim("n", min=6, max=9)},))
    with pytest.raises(AssertionError, match="inconsistent"):
        Dim("n", min=3, max=2)


def test_shapes_by_tensors_and_by_examples():
    y = X.clone()
    shapes = ShapesCollection()
    shapes[X] = {0: Dim("n")}
    shapes[y] = {0: Dim("n")}
    assert shapes.dynamic_shapes(Added(), (X, y))["x"][0].__name__ == "n"
    assert ranges(export(Added(), (X, y), dynamic_shapes=shapes)) == {"s0": "VR[0, int_oo]"}
    more = AdditionalInputs()
    more.add((torch.ones(7, 4), torch.ones(7, 4)))
    program = export(Added(), (X, y), dynamic_shapes=more)
    assert ranges(program) == {"s0": "VR[2, int_oo]"}
    more.verify(program)
    assert [dim.__name__ for dim in dims("a", "b", max=4)] == ["a", "b"]
