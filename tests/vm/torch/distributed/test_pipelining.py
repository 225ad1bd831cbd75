"""Pipelines: stages in several processes learn what one process learns, with any schedule."""
import itertools

import pytest
from harness.ranks import run_ranks

from dragon.vm.torch.distributed.pipelining import _orders

HEAD = """
import sys
rank, size, port = (int(word) for word in sys.argv[1:4])
if {ours}:
    import dragon.vm
    dragon.vm.install()
from datetime import timedelta
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import *
from torch.distributed.pipelining.microbatch import TensorChunkSpec
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{{port}}", rank=rank, world_size=size,
                        timeout=timedelta(seconds=60))
cpu = torch.device("cpu")
class Block(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.linear = nn.Linear(6, 6)
        with torch.no_grad():
            self.linear.weight.copy_((torch.arange(36.0).reshape(6, 6) * (number + 3) % 7 - 3) / 8)
            self.linear.bias.copy_(torch.arange(6.0) / 10 - 0.2 * number)
    def forward(self, x, scale=1.0):
        return torch.tanh(self.linear(x)) * scale + x
class Model(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.layers = nn.ModuleList([Block(number) for number in range(count)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
x = (torch.arange(96).reshape(16, 6) * 5 % 11 - 5) / 5.0
y = (torch.arange(96).reshape(16, 6) * 3 % 7 - 3) / 3.0
loss_fn = nn.MSELoss()
"""

TRAINING = """
def learn_alone(count):
    model = Model(count)
    optimizer, losses = torch.optim.SGD(model.parameters(), 0.1), []
    for _ in range(2):
        output = model(x)
        loss = loss_fn(output, y)
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        losses.append(loss.item())
    return model, output.detach(), losses
def compare(kind, count, mine, pieces):
    alone, expected, expected_losses = learn_alone(count)
    model = Model(count)
    stages = [PipelineStage(model.layers[number], number, count, cpu) for number in mine]
    schedule = kind(stages if count > size else stages[0], pieces, loss_fn=loss_fn)
    optimizer = torch.optim.SGD([p for stage in stages for p in stage.submod.parameters()], 0.1)
    args, is_last = (x,) if 0 in mine else (), count - 1 in mine
    for step in range(2):
        losses = []
        optimizer.zero_grad()
        output = schedule.step(*args, **(dict(target=y, losses=losses) if is_last else {}))
        optimizer.step()
        assert (output is not None) == is_last and len(losses) == (pieces if is_last else 0)
        if is_last:
            assert abs(sum(losses).item() / pieces - expected_losses[step]) < 1e-6
    assert output is None or torch.allclose(output, expected, atol=1e-6)
    for number in mine:
        for mean, other in zip(model.layers[number].parameters(), alone.layers[number].parameters()):
            assert torch.allclose(mean, other, atol=1e-6), (kind, number)
    output = schedule.eval(*args)
    assert output is None or torch.allclose(output, alone(x), atol=1e-6)
    print(kind.__name__, pieces)
loop, back = range(rank, 2 * size, size), (rank, 2 * size - 1 - rank)
for pieces in (4, 8):
    compare(ScheduleGPipe, size, [rank], pieces)
    compare(Schedule1F1B, size, [rank], pieces)
    compare(ScheduleLoopedBFS, 2 * size, loop, pieces)
    compare(ScheduleInterleaved1F1B, 2 * size, loop, pieces)
    compare(ScheduleInterleavedZeroBubble, 2 * size, loop, pieces)
    compare(ScheduleZBVZeroBubble, 2 * size, back, pieces)
compare(ScheduleDualPipeV, 2 * size, back, 8)
block = Block(rank)  # pieces of 6, 5 and 5
schedule = ScheduleGPipe(PipelineStage(block, rank, size, cpu), 3, scale_grads=False,
                         loss_fn=lambda output, target: (output - target).square().sum())
schedule.step(*((x,) if rank == 0 else ()), **(dict(target=y) if rank == size - 1 else {}))
alone = Model(size)
(alone(x) - y).square().sum().backward()
assert torch.allclose(block.linear.weight.grad, alone.layers[rank].linear.weight.grad, rtol=1e-4, atol=1e-4)
"""


@pytest.mark.parametrize("size", [2, 3])
def test_all_schedules_learn_what_one_process_learns(size):
    outputs = run_ranks(TRAINING, size, HEAD.format(ours=True))
    assert len(set(outputs)) == 1 and len(outputs[0].splitlines()) == 13


PROGRAM = """
def show(tensor):
    return [[round(number, 2) for number in row] for row in tensor.tolist()]
for kind in (ScheduleGPipe, Schedule1F1B):
    block = Block(rank)
    schedule = kind(PipelineStage(block, rank, size, cpu), 4, loss_fn=loss_fn)
    losses = []
    output = schedule.step(*((x,) if rank == 0 else ()), **(dict(target=y, losses=losses) if rank == size - 1 else {}))
    print([round(loss.item(), 5) for loss in losses], None if output is None else show(output))
    print(show(block.linear.weight.grad))
# No division of gradients, named arguments, and pieces along another axis.
block = Block(rank)
wide = torch.stack([x, x + 1, x - 1])
schedule = ScheduleGPipe(PipelineStage(block, rank, size, cpu), 2, args_chunk_spec=(TensorChunkSpec(1),),
                         output_merge_spec=TensorChunkSpec(1), scale_grads=False,
                         loss_fn=lambda output, target: (output - target).square().sum())
output = schedule.step(*((wide,) if rank == 0 else ()), scale=0.5,
                       **(dict(target=torch.zeros(2, 1)) if rank == size - 1 else {}))
print(None if output is None else output.shape, show(block.linear.weight.grad))
for call in (lambda: ScheduleGPipe(PipelineStage(block, 5, 2, cpu), 2),
             lambda: PipelineStage(block, 0, 1, cpu),
             lambda: Schedule1F1B(PipelineStage(block, rank, size, cpu), 1, loss_fn),
             lambda: ScheduleInterleaved1F1B([PipelineStage(block, rank, 2 * size, cpu),
                                              PipelineStage(block, rank + size, 2 * size, cpu)], 5, loss_fn),
             lambda: ScheduleZBVZeroBubble([PipelineStage(block, rank, size, cpu)], 4, loss_fn),
             lambda: schedule.step(x, losses=3) if rank == 0 else schedule.step(target=y, losses=3)):
    try:
        call(); print("no error")
    except Exception as error:
        print(type(error).__name__)
try:
    with torch.no_grad():
        schedule.step()
except RuntimeError as error:
    print(str(error)[:40])
"""


def test_programs_print_what_they_print_with_pytorch():
    assert run_ranks(PROGRAM, 2, HEAD.format(ours=True)) == run_ranks(PROGRAM, 2, HEAD.format(ours=False))


CUT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 6)
        self.blocks = nn.ModuleDict({str(number): Block(number) for number in range(4)})
        self.head = nn.Linear(6, 3, bias=False)
        self.scale = nn.Parameter(torch.arange(6.0))
        self.register_buffer("shift", torch.ones(6))
    def forward(self, words, mask=None, negative=False):
        hidden = self.embedding(words) * self.scale + self.shift
        first = hidden
        for block in self.blocks.values():
            hidden = block(hidden) if mask is None else block(hidden) * mask
        if negative:
            hidden = -hidden
        total = hidden.sum(1)
        return self.head(hidden + first), total  # what the first stage has made is passed on by the second
torch.manual_seed(0)
net, words = Net(), torch.arange(8)
cuts = {"blocks.0": SplitPoint.END, "blocks.2": SplitPoint.BEGINNING, "head": SplitPoint.END}
for named in ({}, {"mask": torch.ones(8, 1) / 2}, {"mask": None, "negative": True}):
    pipe = pipeline(net, (words,), named, split_spec=cuts)
    stages = [pipe.get_stage_module(number) for number in range(pipe.num_stages)]
    assert [sorted(name for name, _ in stage.named_children()) for stage in stages] == [
        ["blocks", "embedding"], ["blocks"], ["blocks", "head"]]
    assert set().union(*(stage.state_dict() for stage in stages)) == set(net.state_dict())
    assert all(torch.equal(*pair) for pair in zip(net(words, **named), pipe(words, **named)))
    assert "forward" not in vars(net.blocks["0"])  # the model is as it was
pipe = pipeline(net, (words[:4],), split_spec={"blocks.2": SplitPoint.BEGINNING})
stage = pipe.build_stage(rank, cpu)
losses = []
schedule = Schedule1F1B(stage, 2, lambda output, target: (output[0] - target).square().mean() + output[1].mean())
output = schedule.step(*((words,) if rank == 0 else ()),
                       **(dict(target=torch.ones(8, 3), losses=losses) if rank == 1 else {}))
alone = net(words)
((alone[0] - 1).square().mean() + alone[1].mean()).backward()
for name, parameter in stage.submod.named_parameters():
    # The stage's parameters are the net's own: what the pipeline gave them is there twice.
    other = Net(); other.load_state_dict(net.state_dict())
    made = other(words)
    ((made[0] - 1).square().mean() + made[1].mean()).backward()
    assert torch.allclose(parameter.grad, 2 * dict(other.named_parameters())[name].grad, atol=1e-5), name
class Cut(nn.Module):
    def __init__(self, tied=False):
        super().__init__()
        self.one, self.two = nn.Linear(2, 2), nn.Linear(2, 2)
        if tied:
            self.two.weight = self.one.weight
    def forward(self, x):
        x = self.one(x)
        pipe_split()
        return self.two(x)
class Deciding(Cut):
    def forward(self, x):
        pipe_split()
        return self.one(x) if x.sum() > 0 else x
some = torch.ones(1, 2)
assert pipeline(Cut(), (some,)).num_stages == 2 and Cut()(some).shape == (1, 2)
for call in (lambda: pipeline(Cut(True), (some,)),
             lambda: pipeline(Cut(), (some,), split_spec={"three": SplitPoint.END}),
             lambda: pipeline(Cut(), (some,), split_spec={"one": 3}), lambda: pipeline(Deciding(), (some,)),
             lambda: pipeline(Cut(), (some,), split_spec={}, split_policy=print), lambda: pipe.get_stage_module(7)):
    try:
        call(); print("no error")
    except Exception as error:
        print(type(error).__name__, str(error)[:60])
"""


def test_models_are_cut_by_their_parts():
    said = run_ranks(CUT, 2, HEAD.format(ours=True))
    assert said[0] == said[1] and said[0].splitlines() == [
        "NotImplementedError pipeline: got one.weight of stage 0 as two.weight in stage 1",
        "AttributeError Specified target three referenced nonexistent module three",
        "ValueError Unknown split point type: got 3 for one, expected a SplitPoi",
        "RuntimeError pipeline: the code between the cuts decides by the values of",
        "ValueError Cannot specify both `split_spec` and `split_policy`. Please ",
        "ValueError Invalid stage index 7!"]


COPIES = """
# Two copies of a pipeline of two stages: gradients are averaged after the last piece.
pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
copies = [dist.new_group([0, 2]), dist.new_group([1, 3])]
stage_number, copy_number = rank % 2, rank // 2
for kind, wanted in ((ScheduleGPipe, 1), (Schedule1F1B, 1)):
    block = Block(stage_number)
    wrapped = nn.parallel.DistributedDataParallel(block, process_group=copies[stage_number])
    stage = PipelineStage(wrapped, stage_number, 2, cpu, group=pairs[copy_number])
    half = slice(8 * copy_number, 8 * copy_number + 8)
    kind(stage, 4, loss_fn=loss_fn).step(*((x[half],) if stage_number == 0 else ()),
                                         **(dict(target=y[half]) if stage_number == 1 else {}))
    model = Model(2)
    loss_fn(model(x), y).backward()
    assert torch.allclose(block.linear.weight.grad, model.layers[stage_number].linear.weight.grad, atol=1e-6)
print("same")
"""


def test_copies_of_stages_average_their_gradients():
    assert run_ranks(COPIES, 4, HEAD.format(ours=True)) == ["same\n"] * 4


FAULTS = """
class Failing(nn.Module):
    def forward(self, x):
        raise ValueError("a mistake of the model's")
stage = PipelineStage(Failing() if rank == 0 else Block(1), rank, size, cpu, input_args=torch.ones(4, 6))
schedule = ScheduleGPipe(stage, 4, loss_fn=loss_fn)
if rank == 0:
    try:
        schedule.step(x)
    except RuntimeError as error:
        print(error)
    try:
        ScheduleGPipe(PipelineStage(Block(0), 0, size, cpu, input_args=torch.ones(3, 6)), 4, loss_fn=loss_fn).step(x)
    except RuntimeError as error:
        print(error)
else:
    try:
        schedule.step(target=y)
    except Exception as error:
        print(type(error).__name__, "rank 0" in str(error))
"""


def test_mistakes_are_told():
    first, second = run_ranks(FAULTS, 2, HEAD.format(ours=True))
    assert first.splitlines() == [
        "[Stage 0] failed to run forward: got ValueError: a mistake of the model's; args: ['torch.float32(4, 6)'], "
        "kwargs: []",
        "Stage 0: input 0 does not match: got torch.float32 of shape (4, 6), expected torch.float32 of shape (3, 6)"]
    assert second.endswith("True\n")


def check_order(orders, stages_of, count):
    """Play orders through: each action must have what it needs, and nothing is left out or done twice."""
    last, done, places = max(map(max, stages_of)), set(), [0] * len(orders)

    def is_ready(stage, kind, piece):
        if kind == "F":
            return stage == 0 or (stage - 1, "F", piece) in done
        if kind == "W":
            return (stage, "I", piece) in done
        return (stage, "F", piece) in done and (stage == last or (stage + 1, "I", piece) in done)
    while any(place < len(order) for place, order in zip(places, orders)):
        before = list(places)
        for rank, order in enumerate(orders):
            while places[rank] < len(order):
                stage, kind, piece = order[places[rank]]
                assert stage in stages_of[rank]
                if not is_ready(stage, str(kind), piece):
                    break
                for letter in {"B": "IW"}.get(str(kind), str(kind)):
                    assert (stage, letter, piece) not in done
                    done.add((stage, letter, piece))
                places[rank] += 1
        assert places != before, "all wait for each other"
    assert len(done) == 3 * count * (last + 1)


@pytest.mark.parametrize("ranks, turns, count", list(itertools.product((1, 2, 3, 4), (1, 2, 3), (1, 4, 6, 9))))
def test_orders_come_to_an_end(ranks, turns, count):
    loop = [list(range(rank, ranks * turns, ranks)) for rank in range(ranks)]
    check_order([_orders.breadth_first(stages, count) for stages in loop], loop, count)
    check_order(_orders.without_bubbles(loop, count, ranks * (turns + 1)), loop, count)
    check_order(_orders.without_bubbles(loop, count, 1), loop, count)
    if turns == 1:
        check_order([_orders.gpipe(rank, count) for rank in range(ranks)], loop, count)
        check_order([_orders.one_there_one_back(rank, ranks, count) for rank in range(ranks)], loop, count)
    if turns == 2:
        back = [[rank, 2 * ranks - 1 - rank] for rank in range(ranks)]
        check_order(_orders.without_bubbles(back, count, 2 * ranks), back, count)
    if count % max(1, count // ranks) == 0:
        of_round = _orders.pieces_of_round(count, ranks, "the test")
        check_order([_orders.interleaved(rank, ranks, stages, count, of_round) for rank, stages in enumerate(loop)],
                    loop, count)


def test_actions_are_short_texts():
    for action in _orders.gpipe(3, 2):
        assert _orders._Action.from_str(str(action)) == action
    with pytest.raises(RuntimeError, match="Invalid computation type X"):
        _orders._Action.from_str("1X2")
    with pytest.raises(RuntimeError, match="Invalid action string"):
        _orders._Action.from_str("12")
