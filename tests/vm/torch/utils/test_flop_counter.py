"""Floating-point operations: as many as PyTorch 2.13 was heard to count."""
import pytest

import dragon.vm.torch as torch
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.utils import flop_counter
from dragon.vm.torch.utils.flop_counter import FlopCounterMode
from dragon.vm.torch.utils.module_tracker import ModuleTracker


def counts(program, **options):
    with FlopCounterMode(display=False, **options) as counter:
        program()
    return {name: {str(target): count for target, count in found.items()}
            for name, found in counter.get_flop_counts().items()}


def model():
    return torch.nn.Sequential(torch.nn.Conv2d(4, 8, 3, stride=2, groups=2), torch.nn.ReLU(),
                               torch.nn.ConvTranspose2d(8, 6, 3), torch.nn.Flatten(2), torch.nn.Linear(121, 16))


def test_forward_and_backward_by_module():
    net = model()
    found = counts(lambda: net(torch.ones(3, 4, 20, 20)))
    assert found["Global"] == found["Sequential"] == {"aten.convolution": 279936, "aten.addmm": 69696}
    assert found["Sequential.4"] == {"aten.addmm": 69696} and "Sequential.1" not in found
    found = counts(lambda: net(torch.ones(3, 4, 20, 20, requires_grad=True)).sum().backward())
    assert found["Global"] == {"aten.convolution": 279936, "aten.addmm": 69696, "aten.mm": 139392,
                               "aten.convolution_backward": 629856}
    assert found["Sequential.4"] == {"aten.addmm": 69696, "aten.mm": 139392}
    assert found["Sequential.2"]["aten.convolution_backward"] == 419904


def test_products_and_recurrent_layers():
    def program():
        a = torch.ones(2, 3, 4)
        torch.einsum("bij,bkj->bik", a, a)
        a @ torch.ones(4, 5)
        torch.baddbmm(torch.ones(2, 3, 3), a, a.mT)
        torch.nn.GRU(3, 4)(torch.ones(5, 1, 3))
    assert counts(program)["Global"] == {"aten.bmm": 144, "aten.mm": 240, "aten.baddbmm": 144, "aten.addmm": 840}
    assert counts(lambda: torch.ones(3) + 1) == {}


def test_formulas_of_ones_own():
    double = {torch.ops.aten.sin: lambda shape, out_shape=None: 2 * shape[0]}
    assert counts(lambda: torch.ones(5).sin(), custom_mapping=double)["Global"] == {"aten.sin": 10}

    def raw(x, out_val=None):
        return int(out_val.sum().item())
    raw._get_raw = True
    assert counts(lambda: torch.ones(5).abs(), custom_mapping={torch.ops.aten.abs: raw})["Global"] == {"aten.abs": 5}
    with pytest.raises(RuntimeError, match="has a formula"):
        flop_counter.register_flop_formula(torch.ops.aten.mm)(len)
    with pytest.raises(ValueError, match="OpOverloadPacket"):
        flop_counter.register_flop_formula(len)(len)


def test_attention_counts_both_products():
    q = torch.ones(1, 2, 3, 4)
    for p in (0.0, 0.5):
        with FlopCounterMode(display=False) as counter:
            F.scaled_dot_product_attention(q, q, q, dropout_p=p)
        assert counter.get_total_flops() == flop_counter.sdpa_flop_count(q.shape, q.shape, q.shape) == 288


def test_the_table(capsys):
    net = model()
    with pytest.warns(UserWarning, match="mods argument"), FlopCounterMode(net, depth=1) as counter:
        net(torch.ones(3, 4, 20, 20))
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split() == ["Module", "FLOP", "%", "Total"] and "Sequential.2" not in shown
    assert "349.632K" in shown and "100.00%" in shown and "Sequential.2" in counter.get_table(depth=2)
    assert counter.get_total_flops() == 349632
    with counter:
        pass
    assert counter.get_total_flops() == 0
    assert flop_counter.convert_num_with_suffix(1234567, flop_counter.get_suffix_str(1234567)) == "1234.567K"


def test_modules_at_work():
    class Seen(torch.nn.Module):
        def forward(self, x):
            found.append((sorted(tracker.parents), tracker.is_bw))
            return x * 2
    found, net = [], torch.nn.Sequential(Seen())
    with ModuleTracker() as tracker:
        y = net(torch.ones(2, requires_grad=True))
        y.register_hook(lambda grad: found.append(tracker.is_bw))
        y.sum().backward()
        assert tracker.parents == {"Global"}
    assert found[0] == (["Global", "Sequential", "Sequential.0"], False) and True in found[1:]
