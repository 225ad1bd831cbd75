"""Lines of PyTorch's table of operators in parts, beside PyTorch's own reader of them."""
import pytest

from dragon.vm.torch.core.exporting.schemas import overloads as exported, parse
from dragon.vm.torch.core.scripting.schemas import overloads as scripted
from dragon.dialects.aten.signature_lines import read_line

genuine = pytest.importorskip("torch")
LINES = [
    "my::first.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "my::second(Tensor x, int[2] k=1, *, str s='a, b', float? e=1e-05) -> (Tensor out, Tensor)",
    "my::third.out(Tensor(a!) x, Tensor[] xs, bool flag=False, int[] sizes=[], *, Tensor(b!) out) -> Tensor(b!)",
    "my::fourth(Tensor(a -> *) self, int? size=None, ScalarType? dtype=None) -> Tensor(a)[]",
    "my::fifth(Dict(str, Tensor) table, str key, str words=\"a = (b\") -> Tensor?",
    "my::sixth((int, Tensor) pair, int[] axes=[0, 1]) -> ()",
]


@pytest.mark.parametrize("line", LINES)
def test_parts(line):
    mine, theirs = read_line(line), genuine._C.parse_schema(line)
    assert (mine.name, mine.overload) == (theirs.name, theirs.overload_name)
    assert [part.name for part in mine.arguments] == [argument.name for argument in theirs.arguments]
    assert [part.by_name for part in mine.arguments] == [argument.kwarg_only for argument in theirs.arguments]
    assert [part.has_default for part in mine.arguments] == [argument.has_default_value() for argument in
                                                             theirs.arguments]
    assert [part.alias.endswith("!") for part in mine.arguments] == [
        bool(argument.alias_info and argument.alias_info.is_write) for argument in theirs.arguments]
    assert [part.name for part in mine.results] == [result.name for result in theirs.returns]
    assert [argument.default_value for argument in parse(line).arguments] == [
        argument.default_value for argument in theirs.arguments]


def test_lines_without_an_end():
    for line in ("my::f", "my::f(Tensor x)", "my::f(Tensor x -> Tensor"):
        with pytest.raises(ValueError, match="expected 'name"):
            read_line(line)


def test_both_readers_tell_the_same():
    for name in ("add", "conv2d", "split", "index_put_", "max_pool2d"):
        theirs = {schema.overload_name or "default": schema for schema in scripted("aten::" + name)}
        for overload, schema in exported(name).items():
            other = theirs[overload]
            assert [one.name for one in schema.arguments] == [one.name for one in other.arguments]
            assert [one.has_default for one in schema.arguments] == [one.has_default for one in other.arguments]
            assert schema.is_mutable == other.writes
