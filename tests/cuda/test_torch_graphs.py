"""Graphs of a device: what a program notes down itself, with random numbers that are new in each run."""
import gc

import numpy
import pytest
from harness.device_ranks import SIMT
from harness.ranks import run_ranks

from dragon import ops
from dragon.vm import torch as dt


def noted(work, before=None):
    """Return a graph of what a function does, and what it returned."""
    graph = dt.cuda.CUDAGraph()
    if before is not None:
        before(graph)
    with dt.cuda.graph(graph):
        made = work()
    return graph, made


def test_graph(device):
    graph, x = dt.cuda.CUDAGraph(), dt.ones(3, device="cuda")
    with pytest.raises(RuntimeError, match="captured on a non-default stream"):
        graph.capture_begin()
    with pytest.raises(RuntimeError, match="got a graph that nothing was noted down in"):
        graph.replay()
    with dt.cuda.graph(graph):
        assert dt.cuda.is_current_stream_capturing()
        y = x * 2 + 1
    assert not dt.cuda.is_current_stream_capturing()
    assert dt.cuda.current_stream() == dt.cuda.default_stream()
    x.fill_(4)
    graph.replay()
    assert y.tolist() == [9, 9, 9]
    x.fill_(5)
    graph.replay()
    assert y.tolist() == [11, 11, 11]
    graph.reset()
    with pytest.raises(RuntimeError, match="got a graph that nothing was noted down in"):
        graph.replay()


def test_graphed_callables(device):
    x = dt.arange(3.0, device="cuda", requires_grad=True)
    square = dt.cuda.make_graphed_callables(lambda x: x * x, (x,))
    y = square(x)
    assert y.tolist() == [0, 1, 4] and y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [0, 2, 4]
    other = dt.full((3,), 3.0, device="cuda", requires_grad=True)
    square(other).sum().backward()
    assert other.grad.tolist() == [6, 6, 6]


KINDS = {
    "dropout": lambda x, g: dt.nn.functional.dropout(x, 0.5),
    "alpha_dropout": lambda x, g: dt.nn.functional.alpha_dropout(x, 0.5, training=True),
    "rrelu": lambda x, g: dt.nn.functional.rrelu(-x, training=True),
    "rand": lambda x, g: dt.rand(70, device="cuda", generator=g),
    "randn": lambda x, g: dt.randn(70, device="cuda", generator=g),
    "randint": lambda x, g: dt.randint(0, 1000, (70,), device="cuda", generator=g),
    "randint64": lambda x, g: dt.randint(0, 2**40, (70,), device="cuda", generator=g),
    "randperm": lambda x, g: dt.randperm(70, device="cuda", generator=g),
    "bernoulli": lambda x, g: dt.bernoulli(x / 2, generator=g),
    "bernoulli_": lambda x, g: dt.empty(70, device="cuda").bernoulli_(0.5, generator=g),
    "random_": lambda x, g: dt.empty(70, device="cuda").random_(generator=g),
    "exponential": lambda x, g: dt.empty(70, device="cuda").exponential_(generator=g),
    "cauchy": lambda x, g: dt.empty(70, device="cuda").cauchy_(generator=g),
    "log_normal": lambda x, g: dt.empty(70, device="cuda").log_normal_(generator=g),
    "geometric": lambda x, g: dt.empty(70, device="cuda").geometric_(0.1, generator=g),
    "poisson": lambda x, g: dt.poisson(x * 20, generator=g),
    "binomial": lambda x, g: dt.binomial(x * 40, x / 2, generator=g),
    "gamma": lambda x, g: ops.standard_gamma(x * 3, generator=g),
    "multinomial": lambda x, g: dt.multinomial(x, 40, replacement=True, generator=g),
    "multinomial_once": lambda x, g: dt.multinomial(x, 40, generator=g),
    "attention": lambda x, g: dt.nn.functional.scaled_dot_product_attention(
        *[x[:64].reshape(1, 1, 16, 4)] * 3, dropout_p=0.5),
}
UNNAMED = {"dropout", "alpha_dropout", "rrelu", "attention"}  # they take no generator


@pytest.mark.parametrize("kind", KINDS)
def test_random_numbers_are_new_in_each_run(device, kind):
    """Runs of a graph draw what as many calls outside of one draw, from the default generator or a registered one."""
    draw, x = KINDS[kind], dt.ones(70, device="cuda")
    own = None if kind in UNNAMED else dt.Generator("cuda")
    for generator in {None, own}:
        def seed():
            return (generator or dt).manual_seed(7)
        draw(x, generator)
        graph, made = noted(lambda: draw(x, generator),
                            lambda graph: generator and graph.register_generator_state(generator))
        seed()
        wanted = [draw(x, generator).tolist() for _ in range(3)]
        seed()
        found = []
        for _ in range(3):
            graph.replay()
            found.append(made.tolist())
        assert found == wanted and found[0] != found[1] != found[2]
        after = dt.rand(3, generator=generator) if generator is None else None
        seed()
        for _ in range(3):
            draw(x, generator)
        assert after is None or dt.rand(3).tolist() == after.tolist()


def test_many_draws_of_a_graph(device):
    """Seeds of more calls than one piece of memory holds, among them those of two generators."""
    own = dt.Generator("cuda")

    def work():
        return dt.stack([dt.rand(2, device="cuda", generator=own if i % 3 == 0 else None) for i in range(700)])
    graph, made = noted(work, lambda graph: graph.register_generator_state(own))
    for generator in (dt, own):
        generator.manual_seed(3)
    wanted = [work().tolist() for _ in range(2)]
    for generator in (dt, own):
        generator.manual_seed(3)
    for numbers in wanted:
        graph.replay()
        assert made.tolist() == numbers


def test_generators_of_graphs(device):
    own = dt.Generator("cuda")
    graph = dt.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="Attempt to increase offset for a CUDA generator not in capture mode"):
        with dt.cuda.graph(graph):
            dt.rand(3, device="cuda", generator=own)
    with dt.cuda.graph(dt.cuda.CUDAGraph()):
        with pytest.raises(RuntimeError, match="only if new seed is the same as the original seed"):
            dt.manual_seed(dt.initial_seed() + 1)
        with pytest.raises(RuntimeError, match="Cannot call set_state during CUDA graph capture"):
            dt.set_rng_state(dt.get_rng_state())
    dt.manual_seed(1)
    shared = own.graphsafe_get_state()
    graph, made = noted(lambda: dt.rand(3, device="cuda", generator=own),
                        lambda graph: graph.register_generator_state(own))
    shared.manual_seed(11)
    assert own.initial_seed() == 11
    wanted = dt.rand(3, device="cuda", generator=shared).tolist()
    shared.manual_seed(11)
    graph.replay()
    assert made.tolist() == wanted
    other = dt.Generator("cuda").manual_seed(5)
    own.graphsafe_set_state(other)
    assert own.initial_seed() == 5
    shared.manual_seed(11)  # the graph keeps its stream
    graph.replay()
    assert made.tolist() == wanted


def test_masks_fall_alike(device):
    """Each mask of a replayed dropout keeps its share, and no two are the same."""
    x = dt.ones(4000, device="cuda")
    graph, made = noted(lambda: dt.nn.functional.dropout(x, 0.25))
    masks = []
    for _ in range(10):
        graph.replay()
        masks.append((made != 0).tolist())
    shares = numpy.mean(masks, axis=1)
    assert numpy.all(numpy.abs(shares - 0.75) < 0.05)
    assert abs(numpy.corrcoef(masks[0], masks[1])[0, 1]) < 0.1


WAITING = {"unique": lambda x: dt.unique(x), "count_marked": lambda x: dt.nonzero(x),
           "copy to the host": lambda x: x.sum().item(), "synchronize": lambda x: dt.cuda.synchronize()}


@pytest.mark.parametrize("name", WAITING)
def test_waits_cannot_be_noted_down(device, name):
    """They say who waits; the device, the pool and the generator are as they were."""
    x = dt.ones(5, device="cuda")
    graph = dt.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match=f"{name}: operation not permitted when stream is capturing"):
        with dt.cuda.graph(graph):
            y = x + 1
            WAITING[name](y)
    assert not dt.cuda.is_current_stream_capturing() and (x + 1).sum().item() == 10
    assert dt.rand(3, device="cuda").shape == (3,)
    with dt.cuda.graph(graph):
        y = x + 1
    x.fill_(2)
    graph.replay()
    assert y.tolist() == [3] * 5


def test_tables_of_the_host_are_kept(device):
    """Tables that the host makes for one launch are the graph's."""
    x = dt.rand(1, 1, 9, 9, device="cuda")

    def work():
        return dt.nn.functional.interpolate(x, size=(5, 5), mode="bilinear", antialias=True, align_corners=False)
    graph, made = noted(work)
    dt.cuda.synchronize()
    gc.collect()
    x.copy_(dt.rand(1, 1, 9, 9))
    graph.replay()
    numpy.testing.assert_array_equal(made.cpu().numpy(), work().cpu().numpy())


def test_the_first_call_that_indexes_may_be_noted_down(device):
    """Where kernels note wrong indices is made then, although a graph is under way."""
    run_ranks(SIMT + """
from dragon.vm import torch as dt
x, at = dt.arange(6.0, device="cuda"), dt.tensor([4, 1], device="cuda")
graph = dt.cuda.CUDAGraph()
with dt.cuda.graph(graph):
    y = dt.gather(x, 0, at)
at.copy_(dt.tensor([0, 5]))
graph.replay()
assert y.tolist() == [0, 5]
""", 1)
