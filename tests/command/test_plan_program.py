"""`dragon plan` of programs: memory as the engine counts it, what is sent, schedules, letters."""
import json
import os

import pytest

from dragon.command.parser import Mistake
from dragon.command.planning import chain, costs, dry_run, network, schedule, strategies, units

PROGRAM = """
import sys
import torch
from torch import nn

torch.manual_seed(0)
width = int(sys.argv[1]) if len(sys.argv) > 1 else 64
blocks = [nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(4)]
model = nn.Sequential(nn.Linear(16, width), *blocks, nn.LayerNorm(width), nn.Linear(width, 10))
optimizer = torch.optim.AdamW(model.parameters())
for step in range(8):
    x, y = torch.randn(256, 16), torch.randint(0, 10, (256,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < 0:
        break
"""
LOADER = """
import math
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 16, 3), nn.Conv2d(16, 32, 3)
        self.norm, self.head = nn.BatchNorm2d(32), nn.Linear(32 * 100, 10)

    def forward(self, x):
        x = checkpoint(lambda x: torch.relu(self.conv2(torch.relu(self.conv1(x)))), x, use_reentrant=False)
        return self.head(nn.functional.max_pool2d(self.norm(x), 2).flatten(1))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
data = TensorDataset(torch.randn(800, 1, 24, 24), torch.randint(0, 10, (800,)))
correct = 0
for x, y in DataLoader(data, 64, shuffle=True, drop_last=True):
    optimizer.zero_grad(set_to_none=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = net(x)
    loss = nn.functional.cross_entropy(out.float(), y)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    assert math.isfinite(loss.item())
    correct += (out.argmax(1) == y).sum().item()
    print(f"{loss:.3f} {loss}")
"""
LARGE = PROGRAM.replace("else 64", "else 16384")  # 34 GiB of weights


@pytest.fixture
def script(tmp_path):
    """Return the path of a program."""
    path = tmp_path / "train.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return str(path)


@pytest.fixture
def setting(script):
    """Return a setting for two machines with four devices."""
    told, = dry_run.run(script, [], 300)
    return strategies.Setting(told["step"], costs.Roofline(1e12, 1e11), network.Network(1e9, 1e8), 2, 4)


def test_memory_is_what_the_engine_counts(script):
    foretold, = dry_run.run(script, [], 300)
    measured, = dry_run.run(script, [], 300, steps=3, real=True)
    alone = strategies.Setting(foretold["step"], costs.Roofline(1e12, 1e11), network.Network(1e9, 1e8), 1, 1)
    total = strategies.plan(alone, strategies.Layout())["memory"]["total"]
    assert total == pytest.approx(measured["step"]["peak"], rel=0.02)
    assert foretold["asked"] == [[script, 17, 1]] and measured["asked"] == []


# Where a processor has no instructions for 16 bits, kernels widen what they read and write, as workspace of one call.
@pytest.mark.parametrize("is_wide, most", ((True, 1.1), (False, 2)), ids=("wide", "16 bits"))
def test_a_program_with_a_loader_and_checkpoints(tmp_path, is_wide, most):
    path = str(tmp_path / "loader.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(LOADER.replace("dtype=torch.bfloat16", "enabled=False") if is_wide else LOADER)
    foretold, = dry_run.run(path, [], 300)
    measured, = dry_run.run(path, [], 300, steps=4, real=True)
    alone = strategies.Setting(foretold["step"], costs.Roofline(1e12, 1e11), network.Network(1e9, 1e8), 1, 1)
    total = strategies.plan(alone, strategies.Layout())["memory"]["total"]
    assert 0.9 * total <= measured["step"]["peak"] <= most * total


def test_two_processes_take_what_was_foretold(script, tmp_path, execute):
    path = tmp_path / "parallel.py"
    wrapped = PROGRAM.replace("optimizer = ", "import torch.distributed as dist\ndist.init_process_group('gloo')\n"
                              "model = nn.parallel.DistributedDataParallel(model)\noptimizer = ")
    path.write_text(wrapped + "\nfrom dragon import _C\nif dist.get_rank() == 0:\n"
                    "    print('peak', _C.memory_stats()['peak'])\ndist.destroy_process_group()\n", encoding="utf-8")
    said = execute("run", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", path,
                   env={"OMP_NUM_THREADS": "1"}).stdout
    peak = int(said.partition("peak ")[2].split()[0])
    for program in (script, str(path)):  # a program of one process, and one that has its groups
        told, = dry_run.run(program, [], 300)
        two = strategies.Setting(told["step"], costs.Roofline(1e12, 1e11), network.Network(1e9, 1e8), 1, 2)
        assert strategies.plan(two, strategies.Layout(data=2))["memory"]["total"] == pytest.approx(peak, rel=0.1)


def test_what_no_machine_could_hold(tmp_path, execute):
    (tmp_path / "large.py").write_text(LARGE, encoding="utf-8")
    words = ["plan", "large.py", "--world", "1x1,1x8,128x8", "--device-memory", "80G", "--flops", "312T",
             "--memory-speed", "2T", "--bandwidth", "300G", "--network", "50G", "--json"]
    told = json.loads(execute(*words, status=1).stdout)
    one, eight, thousand = told["worlds"]
    assert one["best"] is None and eight["best"] and thousand["best"]
    assert told["program"]["parameters"] == 8 * 16384 * 4 * 16384 + 4 * 5 * 16384 + 17 * 16384 + 2 * 16384 + 163850
    by_name = {plan["layout"]: plan for plan in eight["plans"]}
    assert by_name["data 8"]["memory"]["total"] > 80e9 > by_name["zero-3 8"]["memory"]["total"]
    assert by_name["data 8"]["traffic"] == pytest.approx(2 * 7 / 8 * 4 * told["program"]["parameters"])
    assert all(plan["data"] * plan["tensor"] * plan["pipeline"] == 1024 for plan in thousand["plans"])
    table = execute(*words[:-1], status=1).stdout
    assert "128 x 8" in table and "nothing fits" in table and "zero-3 8" in table


def test_sharing_lowers_memory(setting):
    plans = [strategies.plan(setting, strategies.Layout(8, zero=zero)) for zero in range(4)]
    totals = [plan["memory"]["total"] for plan in plans]
    assert totals == sorted(totals, reverse=True)
    assert plans[1]["memory"]["state"] == round(plans[0]["memory"]["state"] / 8)
    assert plans[3]["traffic"] == pytest.approx(1.5 * plans[1]["traffic"])
    split = strategies.plan(setting, strategies.Layout(2, tensor=4))
    assert split["memory"]["weights"] < plans[0]["memory"]["weights"] and split["bubble"] == 0
    stages = strategies.plan(setting, strategies.Layout(2, pipeline=4))
    assert len(stages["stages"]) == 4 and 0 < stages["bubble"] < 1
    assert sum(stage["weights"] for stage in stages["stages"]) == pytest.approx(plans[0]["memory"]["weights"], abs=4)
    assert [first for first, _ in stages["units"]] == [unit.name for unit in setting.units if unit.name in
                                                       [first for first, _ in stages["units"]]]


def test_schedules():
    for name in schedule.SCHEDULES:
        total, bubble = schedule.simulate([1.0] * 4, [2.0] * 4, [0.0] * 3, 8, name)
        assert total == pytest.approx(3 * (8 + 3)) and bubble == pytest.approx(3 / 11)
    assert schedule.in_flight(4, 8, "gpipe") == [8] * 4 and schedule.in_flight(4, 8, "1f1b") == [4, 3, 2, 1]
    assert schedule.simulate([1.0], [1.0], [], 1, "1f1b") == (2.0, 0.0)
    with_sends, _ = schedule.simulate([1.0] * 2, [1.0] * 2, [0.5], 1, "gpipe")
    assert with_sends == pytest.approx(5.0)


def test_runs_of_units_are_even():
    parts = [chain.Unit(str(place), forward=seconds) for place, seconds in enumerate((1, 1, 1, 5, 1, 1, 2))]
    runs = chain.cut(parts, 3)
    assert [unit.name for run in runs for unit in run] == list("0123456")
    assert max(sum(unit.forward for unit in run) for run in runs) == 5
    assert [len(run) for run in chain.cut(parts, 7)] == [1] * 7


def test_costs_are_interpolated(tmp_path):
    table = costs.Table({"relu": [(100.0, 1e-4), (10000.0, 1e-2)]}, between=1e-6, about={"threads": 1})

    def seconds(count):
        return table.seconds(["relu", 0, "forward", count // 2, [[count // 8]], False]) - 1e-6
    assert seconds(1000) == pytest.approx(1e-3, rel=0.01) and seconds(80000) == pytest.approx(8e-2, rel=0.01)
    path = str(tmp_path / "costs.json")
    table.save(path)
    assert costs.Table.load(path).calls == table.calls
    merged = table.merge(costs.Table({"relu": [(100.0, 2e-4)]}))
    assert merged.calls["relu"][0] == (100.0, 2e-4) and merged.between == 1e-6


def test_units_with_powers():
    assert units.amount("80G") == 80e9 and units.amount("1.5GiB") == 1.5 * 2 ** 30
    assert units.amount("312 TFLOPS") == 312e12
    assert units.duration("5us") == pytest.approx(5e-6) and units.worlds("8x4,1x1") == [(8, 4), (1, 1)]
    for read, text in ((units.amount, "eighty"), (units.amount, "0"), (units.worlds, "8"), (units.worlds, "0x4"),
                       (units.duration, "5")):
        with pytest.raises(ValueError):
            read(text)


@pytest.mark.parametrize("program, letter", [
    ("print(1)", "ended after no step, expected one of an optimizer"),
    ("import torch\ntorch.ones(3) @ torch.ones(4)", "expected a step of an optimizer"),
    ("import sys\nsys.exit(3)", "ended after no step"),
])
def test_programs_without_a_step(tmp_path, program, letter):
    (tmp_path / "no.py").write_text(program, encoding="utf-8")
    with pytest.raises(Mistake, match=letter):
        dry_run.run(str(tmp_path / "no.py"), [], 300)


@pytest.mark.parametrize("words, letter", [
    (["x.py"], "got a program and no --world, expected one, such as 2x4"),
    (["x.py", "--world", "8"], "got '8' for --world, expected machines x processes on each"),
    (["x.py", "--world", "1x2", "--flops", "1T"], "got --flops alone, expected --flops and --memory-speed"),
    (["x.py", "--world", "1x2", "--flops", "1T", "--memory-speed", "1T"], "got --flops without --bandwidth"),
    (["x.py", "--world", "2x2"], "without --network, expected the bytes per second between them"),
    (["x.py", "--world", "2x2", "--flops", "1T", "--costs", "y"], "got --flops alone"),
    (["x.py", "--world", "1x2", "--level", "3"], "got --level with 'x.py', expected it with a saved graph"),
    (["x.dragon", "--world", "1x2"], "got --world with 'x.dragon', expected it with a program that ends in .py"),
    (["x.py", "--world", "1x2", "--device-memory", "much"], "got 'much' for --device-memory, expected a number with"),
    (["nowhere.py", "--world", "1x2"], "expected a file that can be used"),
    (["x.dragon", "--", "3"], "got '3' behind --, expected nothing"),
])
def test_mistakes_are_letters(execute, tmp_path, words, letter):
    if words[0] != "nowhere.py":
        (tmp_path / words[0]).write_text("", encoding="utf-8")
    assert letter in execute("plan", *words, status=2, env={"XDG_CACHE_HOME": os.fspath(tmp_path)}).stderr
