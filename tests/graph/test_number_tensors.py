"""Tensors that a program makes of sizes are followed: one capture serves all sizes."""
import pytest

from dragon.vm import tensorflow as tf
from dragon.vm import torch
from harness.subresults import each

SHAPES = [(4, 6), (5, 8), (7, 10), (3, 12), (9, 2), (1, 4)]
TENSORFLOW = {
    "reshape": lambda x: tf.reshape(x, [tf.shape(x)[0], -1]) + 1,
    "zeros": lambda x: tf.zeros((tf.shape(x)[0], 4)),
    "range": lambda x: tf.range(tf.shape(x)[1]),
    "product": lambda x: tf.reshape(x, [tf.reduce_prod(tf.shape(x))]) * 2,
    "least": lambda x: x[:tf.minimum(tf.shape(x)[0], 5)] * 2,
    "stack": lambda x: tf.reshape(x, tf.stack([tf.shape(x)[0], tf.shape(x)[1] // 2, 2])) * 2,
    "concat": lambda x: tf.broadcast_to(x[None], tf.concat([[3], tf.shape(x)], 0)) * 1,
    "cast": lambda x: x / tf.cast(tf.shape(x)[0], tf.float32),
    "unstack": lambda x: tf.reshape(x, [tf.unstack(tf.shape(x))[1], -1]) * 1,
    "size": lambda x: tf.reshape(x, [tf.size(x)]) * 3,
    "tile": lambda x: tf.tile(x[:1], [tf.shape(x)[1], 1]) * 1.0,
    "eye": lambda x: tf.eye(tf.shape(x)[0]) * 2.0,
    "fill": lambda x: tf.fill([tf.shape(x)[0], 2], 3.0) * 2.0,
    "ones": lambda x: tf.ones(tf.shape(x)) * x,
    "mask": lambda x: tf.cast(tf.sequence_mask([1, 2], tf.shape(x)[1]), tf.float32),
    "slice": lambda x: tf.slice(x, [0, 1], [tf.shape(x)[0], tf.shape(x)[1] - 1]) * 1.0,
}
TORCH = {
    "product": lambda x: x / torch.tensor(x.shape).prod(),
    "item": lambda x: x.reshape(torch.tensor(x.shape).prod().item()) * 2,
    "list": lambda x: x.new_zeros(torch.tensor(x.shape).tolist()) + 1,
    "arange": lambda x: torch.arange(torch.tensor(x.shape[0])) * 2,
    "bound": lambda x: x[:torch.tensor(x.shape)[1] // 2] * 2,
    "scale": lambda x: x * torch.tensor([x.shape[0] / 2, 1.0]).sum(),
}


@each("name", TENSORFLOW)
def test_tensorflow(name):
    call = TENSORFLOW[name]
    graph = tf.function(call, reduce_retracing=True)
    for shape in SHAPES:
        x = tf.random.normal(shape)
        found, wanted = graph(x), call(x)
        assert found.shape == wanted.shape and bool(tf.reduce_all(found == wanted))
    assert graph.experimental_get_tracing_count() <= 2, graph.explain()


@pytest.mark.parametrize("name", TORCH)
def test_torch(name):
    call = TORCH[name]
    graph = torch.compile(call, dynamic=True)
    for shape in SHAPES[:-1]:
        x = torch.randn(shape)
        assert torch.equal(graph(x), call(x))
    assert "1 graphs" in graph.explain(), graph.explain()


def test_decisions_on_such_numbers_are_decisions_on_sizes():
    def call(x):
        count = torch.tensor(x.shape).prod()
        return x + 1 if count > 30 else x - 1
    graph = torch.compile(call, dynamic=True)
    for shape in ((4, 6), (5, 5), (5, 8), (6, 8), (3, 3)):
        x = torch.randn(shape)
        assert torch.equal(graph(x), call(x))
    assert "2 graphs" in graph.explain(), graph.explain()


def test_plain_numbers_are_held_to_what_they_were():
    def call(x):
        return x * len(list(range(int(torch.tensor(x.shape)[0]))))
    graph = torch.compile(call, dynamic=True)
    for shape in ((4, 6), (5, 6), (4, 7), (6, 8)):
        x = torch.randn(shape)
        assert torch.equal(graph(x), call(x))


def written(x):
    sizes = torch.tensor(x.shape)
    sizes[0] += 1
    return torch.zeros(sizes.tolist())


def filled(x):
    size = torch.zeros(1, dtype=torch.int64)
    size.fill_(x.shape[0])
    return x.reshape(size.item(), -1) * 2


def made_of_written(x):
    sizes = torch.zeros(2, dtype=torch.int64)
    sizes[0] = x.shape[0]
    more = sizes + 1
    before = sizes.tolist()
    sizes[0] = 7
    return x.new_zeros(more[0].item(), before[0], sizes.tolist()[0]) + x.sum()


def read_before(x):
    sizes = torch.tensor([4, 4])
    before = sizes.tolist()[0]
    sizes[0] = x.shape[0]
    return x.new_zeros(before, sizes.tolist()[0]) + x.sum()


@pytest.mark.parametrize("call", [written, filled, made_of_written, read_before], ids=lambda call: call.__name__)
def test_numbers_that_are_written_follow(call):
    graph = torch.compile(call, dynamic=True)
    for shape in SHAPES[:-1]:
        x = torch.randn(shape)
        assert torch.equal(graph(x), call(x))
    assert "1 graphs" in graph.explain(), graph.explain()


def test_memory_that_is_filled_later_is_not_known():
    def call(x):
        size = torch.empty(1, dtype=torch.int64)
        size.fill_(x.shape[0])
        return x.reshape(size.item(), -1) * 2
    graph = torch.compile(call, dynamic=True)
    for shape in SHAPES:
        x = torch.randn(shape)
        assert torch.equal(graph(x), call(x))


def test_numbers_that_are_drawn_are_not_known():
    def call(x):
        places = torch.randint(0, 3, (2,))
        return x.new_zeros(places.max().item() + 1, x.shape[0])
    graph = torch.compile(call, dynamic=True)
    for shape in SHAPES:
        torch.manual_seed(shape[0])
        found = graph(torch.zeros(shape))
        torch.manual_seed(shape[0])
        assert found.shape == call(torch.zeros(shape)).shape


def test_what_was_there_before_is_written_once():
    class Count(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(2, dtype=torch.int64))

        def forward(self, x):
            self.seen += x.shape[0]
            return x.new_zeros(self.seen[0].item(), 2) + x.sum()
    plain, module = Count(), Count()
    graph = torch.compile(module, dynamic=True)
    for shape in SHAPES:
        x = torch.randn(shape)
        assert torch.equal(graph(x), plain(x)) and torch.equal(module.seen, plain.seen)


def test_many_numbers_made_of_sizes_decide():
    def call(x):
        places = torch.arange(x.shape[0]).unsqueeze(0) + torch.arange(x.shape[1]).unsqueeze(1)
        return x + 1 if bool((places < 60).all()) else x - 1
    graph = torch.compile(call, dynamic=True)
    for shape in ((4, 6), (5, 8), (20, 30), (31, 30), (40, 50), (200, 300)):
        x = torch.randn(shape)
        assert torch.equal(graph(x), call(x))
    assert "2 graphs" in graph.explain(), graph.explain()


def test_a_size_as_a_constant():
    graph = tf.function(lambda x: tf.constant(x.shape[0]) * 1, reduce_retracing=True)
    for size in (3, 4, 5):
        assert int(graph(tf.zeros((size, 1)))) == size
