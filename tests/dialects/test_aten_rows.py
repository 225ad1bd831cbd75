"""The tables of PyTorch's operators: what their rows read and call is there, and they say what genuine PyTorch does."""
import builtins
import inspect

import pytest

from dragon import _C
from dragon.dialects.aten import table
from dragon.dialects.rows import called_names, free_names, read_rows
from dragon.vm import torch
from dragon.vm.torch.core.aten import (array, attention, convolution, decomposed, functional, index, loss,
                                       normalization, pooling, recurrent, unrolled, vision)
from dragon.vm.torch.core.aten.kinds import is_pointwise, keeps_zero, kinds_of
from dragon.vm.torch.core.aten.table import PYTHON, function_of, resolve
from dragon.vm.torch.core.exporting import decompositions
from dragon.vm.torch.core.exporting.schemas import overloads as exported

ROWS = [(relation, name, overload, row) for (relation, name), rows in table.rows().items() if relation not in (
    table.KINDS, table.DERIVATIVE) and name not in (table.ENGINE, table.FUNCTIONAL) for overload, row in rows.items()]


def test_every_row_is_of_an_operator_that_pytorch_has():
    known = {name.removeprefix("aten::") for name in table.signatures(table.SCRIPTS + table.EXPORTS)}
    assert not [row.place for _, name, _, row in ROWS if name not in known]


def test_every_row_is_used():
    """A row for an overload that does not exist, or one whose names no overload has, says nothing."""
    used = {id(table.row_of(name, overload, relation)) for relation, name in table.rows()
            if relation not in (table.KINDS, table.DERIVATIVE) for overload in table.overloads(name)}
    assert not [(row.place, row.name, row.overload) for _, _, _, row in ROWS if id(row) not in used]


def test_every_row_can_be_called():
    for relation, name in table.rows():
        for overload in table.overloads(name) if relation == table.COMPUTED else ():
            row = table.row_of(name, overload, relation)
            if row is not None:
                assert callable(function_of(name, overload)), row.place
    assert len(decompositions.default_table()) > len(decompositions.composite_table()) > 50


def test_what_rows_name_is_there():
    for relation, _, _, row in ROWS:
        heads = free_names(row)
        for dotted in called_names(row):
            head, *rest = dotted.split(".")
            if head not in heads or not rest or head in ("self", "value", "src", "other", "target"):
                continue
            if relation != table.COMPUTED and exported(head):
                assert rest[0] in exported(head), (row.place, dotted)
                continue
            find = resolve if relation == table.COMPUTED else decompositions._resolve
            found = find(head) if head not in table._arguments(row.name) else None
            for part in rest if found is not None else ():
                found = getattr(found, part)


# Arguments that rows need not read: they ask for a way to compute, not for another result, or repeat what others tell.
UNREAD = {
    "a way to compute": "non_blocking cudnn_enabled cudnn_enable benchmark deterministic allow_tf32 path unsafe",
    "of TorchScript's own": "implicit",
    "told by a result or by shapes": "self_is_result buffer bias_sizes output_padding N C HxW group ceil_mode",
    "no numbers of it are read": "bias",
    "of max pooling, whose indices or sizes tell all": "kernel_size stride padding dilation",
    "nothing is done": "size min max",
}
UNREAD_IN = {"bias": {"native_layer_norm_backward"}, "size": {"sym_constrain_range", "sym_constrain_range_for_size"},
             "device": {"_pin_memory"}, "pin_memory": {"_to_copy"}, "return_inverse": {"unique_dim"},
             "return_counts": {"unique_dim"}}
UNREAD_IN["min"] = UNREAD_IN["max"] = UNREAD_IN["size"]
UNREAD_IN.update(dict.fromkeys(("kernel_size", "stride", "padding", "dilation"), {
    "max_pool2d_with_indices_backward", "max_unpool3d"}))
# A weight says it.
UNREAD_IN["kernel_size"] |= {"thnn_conv2d", "slow_conv3d", "slow_conv_transpose2d", "slow_conv_transpose3d"}


def test_no_argument_is_ignored():
    harmless = set(" ".join(UNREAD.values()).split()) | set(UNREAD_IN)
    ignored = []
    for relation, name in table.rows():
        for overload, line in table.overloads(name).items() if relation == table.COMPUTED else ():
            row = table.row_of(name, overload)
            unread = {part.name for part in line.arguments} - free_names(row) if row is not None else set()
            ignored += [(row.place, name, word) for word in unread
                        if word not in harmless or name not in UNREAD_IN.get(word, {name})]
    assert not ignored


def test_rows_of_the_engine():
    """Their operators are there, their names are arguments or PyTorch's operators, and no row says what one says."""
    rows = table.rows()[table.COMPOSITE, table.ENGINE]
    for name, row in rows.items():
        arguments = {argument["name"] for argument in _C.schema(name)["arguments"]}
        for word in free_names(row) - arguments - {"torch", "python", "NotImplemented"}:
            assert exported(word) or hasattr(builtins, word), (row.place, word)
        assert callable(decompositions.lowering_of(name))
    assert not {name for name in rows if name in table.renamings() and not exported(name)}
    assert table.renamings()["mish_backward"] == ("mish_backward", "default", ("grad_output", "self"), {})


def test_rows_of_functions():
    """Their names are arguments of the function, PyTorch's operators, or Python's."""
    for name, row in table.functional_rows().items():
        arguments = set(inspect.signature(getattr(torch.nn.functional, name)).parameters)
        for word in free_names(row) - arguments - {"torch", "python", "aten"}:
            assert exported(word) or hasattr(builtins, word), (row.place, word)
        assert callable(decompositions.operators_of(name))


class Norm(torch.nn.Module):
    """Calls two functions of one name, whose arguments stand in different orders."""

    def forward(self, x, weight, bias, mean, var):
        """Return x twice as large."""
        first = torch.batch_norm(x, weight, bias, mean, var, False, 0.1, 1e-5, False)
        return first + torch.nn.functional.batch_norm(x, mean, var, weight, bias)


def test_functions_of_one_name_are_told_apart():
    given = [torch.randn(4, 3), *(torch.rand(3) + 1 for _ in range(4))]
    program = torch.export.export(Norm(), tuple(given))
    torch.testing.assert_close(program.module()(*given), Norm()(*given))
    assert program.graph_module.code.count("batch_norm.default(x, weight, bias, mean, var, False") == 2


def test_functions_in_python_are_all_called():
    texts = " ".join(row.text for rows in table.rows().values() for row in rows.values())
    for module in (array, attention, convolution, decomposed, functional, index, loss, normalization, pooling,
                   recurrent, unrolled, vision):
        source = open(module.__file__, encoding="utf-8").read()
        for name, value in vars(module).items():
            if callable(value) and getattr(value, "__module__", None) == module.__name__ and not name.startswith("_"):
                assert f"python.{name}" in texts or source.count(f"{name}(") > 1, f"{module.__name__}.{name}"
                assert getattr(PYTHON, name, None) is value or getattr(decompositions.PYTHON, name, None) is value


def test_names_are_the_engines_or_pythons():
    names = set(_C.op_names())
    for relation, name, _, row in ROWS:
        for word in free_names(row) - table._arguments(name) - {"torch", "F", "python", "REDUCTIONS"} - (
                {"new", "place"} if relation == table.WRITTEN else set()):
            found = word in names if relation == table.COMPUTED else bool(exported(word))
            assert found or hasattr(builtins, word), (row.place, word)


@pytest.mark.parametrize("text, message", [
    ("relu", "expected 'name = expression'"),
    ("relu = ", "expected 'name = expression'"),
    ("relu = (x", "expected an expression of Python"),
    ("relu = import os", "expected 'name = value; ...; expression'"),
    ("relu = y = 1", "expected 'name = value; ...; expression'"),
    ("relu = x; for y in x: pass", "expected an expression of Python"),
    ("{a,b} = {c,d,e}(x)", "expected as many in each")])
def test_lines_that_say_nothing(text, message):
    with pytest.raises(ValueError, match=message):
        for row in read_rows(text, "here.txt"):
            free_names(row)
            called_names(row)


def test_braces_and_continued_lines():
    first, second = read_rows("# nothing\na{1,2}.x = f{1,2}(\n    x)\n", "here.txt")
    assert first[:4] == ("a1", "x", "=", "f1( x)") and second[:4] == ("a2", "x", "=", "f2( x)")
    assert first.place == "here.txt:2"


def test_an_operator_without_a_row_is_what_has_its_name():
    x = torch.randn(3)
    assert torch.ops.aten.tanh.default(x).equal(torch.tanh(x))
    torch.testing.assert_close(torch.ops.aten.tanh_backward.default(x, x), x * (1 - x * x))


def test_kinds():
    assert all(map(is_pointwise, "mul_ arctan2 special_erfcx softsign relu6".split()))
    assert not any(map(is_pointwise, "sum max cumsum softmax dot view matmul nothing".split()))
    assert kinds_of("multiply") == {"pointwise", "scaling"} and "additive" in kinds_of("clone")
    assert kinds_of("uniform_") == {"pointwise", "constant", "random"} and kinds_of("nothing") == set()
    assert all(map(keeps_zero, "sin arcsin log1p_ nan_to_num real neg_ special_erf".split()))
    assert not any(map(keeps_zero, "cos exp add pow zeros_like clamp bitwise_not uniform dropout max frexp".split()))


def test_no_kind_is_told_that_follows():
    """What the engine's schema or the rows say is not said again."""
    for (relation, name), rows in table.rows().items():
        if relation == table.KINDS:
            words = set(rows[""].text.split())
            engine = _C.schema(name)["pointwise"] if name in _C.op_names() else False
            assert words != {"pointwise"} or not engine, rows[""].place


def test_what_keeps_zero_is_asked_beside_traces_and_modes():
    """The question is no call of the program in which it comes up first."""
    x = torch.tensor([[0.0, 2.0]])

    class Asking(torch.nn.Module):
        def forward(self, x):
            keeps_zero.cache_clear()
            return x + 1 if keeps_zero("sinh") and not keeps_zero("cosh") else x
    program = torch.export.export(Asking(), (x,))
    assert [node.name for node in program.graph.nodes] == ["x", "add", "output"]
    torch.testing.assert_close(torch.compile(Asking(), fullgraph=True)(x), x + 1)
    with torch.device("meta"), torch.autocast("cpu"):
        keeps_zero.cache_clear()
        assert keeps_zero("sinh") and not keeps_zero("cosh")
