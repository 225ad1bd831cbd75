"""Programs that write into views, without writes: what they give is what they gave, with and without decompositions."""
import pytest

from dragon.vm import torch
from harness.subresults import each

WRITES = {
    "view": lambda x: x.view(3, 2)[0].mul_(2), "reshape": lambda x: x.reshape(6).mul_(2),
    "reshape of what lies otherwise": lambda x: x.t().reshape(6).mul_(2), "bits": lambda x: x.view(torch.int32).add_(1),
    "view_as": lambda x: x.view_as(x.reshape(3, 2)).mul_(4), "ravel": lambda x: x.ravel().mul_(2),
    "flatten": lambda x: x[0, 1:].flatten().mul_(3),
    "flatten of what lies otherwise": lambda x: x.t().flatten().mul_(3),
    "unflatten": lambda x: x.unflatten(1, (3, 1))[0].mul_(2),
    "squeeze": lambda x: x[None].squeeze().unsqueeze(0).mul_(2),
    "squeeze dim": lambda x: x[:, None].squeeze(1).mul_(2), "detach": lambda x: x.detach().mul_(3),
    "permute": lambda x: x.permute(1, 0)[1].neg_(), "t": lambda x: x.t()[0].fill_(5), "T": lambda x: x.T[2].mul_(2),
    "mT": lambda x: x.mT[1].mul_(2), "transpose": lambda x: x.transpose(0, -1)[1].add_(1),
    "swapaxes": lambda x: x.swapaxes(0, 1)[1].add_(1), "movedim": lambda x: x[None].movedim(0, 2)[1].mul_(2),
    "expand": lambda x: x.expand(2, 3).mul_(2), "as_strided": lambda x: x.as_strided((2,), (2,), 1).mul_(2),
    "select": lambda x: x.select(1, -1).mul_(2), "slice": lambda x: x[:, ::2].mul_(2),
    "narrow": lambda x: x.narrow(1, -2, 2).mul_(3), "diagonal": lambda x: x.diagonal(1).add_(7),
    "unbind": lambda x: x.unbind(1)[2].add_(9), "split": lambda x: x.split(2, 1)[1].mul_(5),
    "split of sizes": lambda x: x.split([1, 2], 1)[1].mul_(5), "chunk": lambda x: x.chunk(2)[1].add_(3),
    "tensor_split": lambda x: x.tensor_split(2, 1)[1].mul_(2),
    "split at places": lambda x: x.tensor_split((1,), 1)[1].mul_(2),
    "to another dtype": lambda x: x.to(torch.float64).add_(1), "double": lambda x: x.double().mul_(2),
    "to the same dtype": lambda x: x.to(torch.float32).add_(1), "contiguous": lambda x: x.contiguous().mul_(2),
    "contiguous of what lies otherwise": lambda x: x.t().contiguous().mul_(3),
    "type_as": lambda x: x.type_as(x.double()).mul_(3), "two": lambda x: x.t()[1:].t()[0].mul_(3),
}


class Writing(torch.nn.Module):
    """Writes into a view of a tensor of its own."""

    def __init__(self, write):
        super().__init__()
        object.__setattr__(self, "write", write)

    def forward(self, x):
        """Return both."""
        x = x * 1
        return self.write(x), x


@each("write", WRITES.values(), ids=WRITES)
def test_what_is_written_into_a_view(write):
    x, module = torch.arange(6.0).reshape(2, 3) - 2, Writing(write)
    wanted, program = module(x), torch.export.export(module, (x,))
    for table in ((), ({},)):
        made = program.run_decompositions(*table)
        assert not any("_." in str(node.target) for node in made.graph.nodes if node.op == "call_function")
        for one, other in zip(made.module()(x), wanted):
            torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_an_operator_whose_views_cannot_be_written_is_named():
    x = torch.ones(2, 6)
    program = torch.export.export(Writing(lambda x: x.unfold(1, 2, 2)[0].mul_(2)), (x,))
    with pytest.raises(NotImplementedError, match="into a view that unfold made"):
        program.run_decompositions()


@pytest.mark.parametrize("split, count", [("hsplit", 3), ("vsplit", 2), ("dsplit", 2), ("tensor_split", 2)])
def test_numbers_of_parts_are_no_places(split, count):
    x = torch.arange(12.0).reshape(2, 3, 2)

    class Module(torch.nn.Module):
        """Splits."""

        def forward(self, x):
            """Return the last part."""
            return getattr(x, split)(count)[-1]
    program = torch.export.export(Module(), (x,))
    for made in (program, program.run_decompositions()):
        assert made.module()(x).equal(getattr(x, split)(count)[-1])
