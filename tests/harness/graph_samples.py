"""Small graphs that together hold every kind of thing a graph can hold."""
import dragon
from dragon import _C


def make_network(batch=2, symbolic=True):
    """Return a little convolutional network with a symbolic input."""
    graph = dragon.Graph("network")
    with graph.edit():
        x = graph.add_input((batch, 3, 8, 8), "float32", "image", symbolic={0: "batch"} if symbolic else {})
        weight = graph.add_constant(dragon.arange(4 * 3 * 3 * 3, dtype="float32").reshape((4, 3, 3, 3)) / 64, "weight")
        (y,) = graph.add_call("conv2d", [x, weight], padding=1, stride=(2, 2), scope="conv1")
        (y,) = graph.add_call("relu", [y], scope="conv1")
        (pooled,) = graph.add_call("mean", [y], axis=[2, 3])
        (scores,) = graph.add_call("linear", [pooled, graph.add_constant(dragon.ones((5, 4)), "classes")], scope="head")
        graph.set_name(scores, "scores")
        graph.outputs = graph.add_call("softmax", [scores], axis=-1) + [scores]
    return graph


def make_updates():
    """Return a graph that writes an input, and lists tensors with gaps."""
    graph = dragon.Graph("updates")
    with graph.edit():
        x, index = graph.add_input((4, 3), "float64", "x"), graph.add_constant(dragon.tensor([0, 2]), "index")
        (picked,) = graph.add_call("index", [x, [None, index]])
        (joined,) = graph.add_call("cat", [[picked, x, picked]], axis=1)
        (more,) = graph.add_call("mul", [x, graph.add_constant(dragon.tensor(2.0, dtype="float64"))])
        graph.outputs, graph.updates = [joined, joined, x], [(0, more)]
    return graph


def make_attributes():
    """Return calls that have every kind of attribute."""
    graph = dragon.Graph("Merkmale, ✓")
    with graph.edit():
        x = graph.add_input((1, 2, 4, 4), "float32", "x")
        z = graph.add_input((2,), "complex64", "z")
        graph.add_call("add", [z, z], alpha=1.5 - 0.0j)
        graph.add_call("add", [x, x], alpha=True)
        graph.add_call("add", [x, x], alpha=-(2**63))
        graph.add_call("cast", [x], dtype="bfloat16")
        graph.add_call("full", [], shape=[], value=-0.0, dtype="float64", device="cpu")

        graph.add_call("interpolate", [x], scale_factor=[2.0, 2.0], mode="nearest")
        graph.add_call("gelu", [x], approximate="tanh")
        graph.add_call("bernoulli", [graph.add_constant(dragon.full((3,), 0.5))])
        graph.add_call("clamp", [x], max=graph.add_constant(1.0))
        graph.add_call("topk", [x], k=2)
    return graph


def make_constants():
    """Return constants of every dtype, and of unusual shapes and strides."""
    graph = dragon.Graph("constants")
    with graph.edit():
        for dtype in dragon.core.dtypes.NATIVE:
            graph.add_constant(dragon.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype), f"of {dtype}")
        grid = dragon.arange(6, dtype="float32").reshape((2, 3))
        for number, odd in enumerate((grid.T, grid[:, ::2], grid[:1].expand((4, 3)), dragon.zeros((0, 3)), grid[1, 1])):
            graph.outputs = graph.outputs + [graph.add_constant(odd, f"odd {number}")]
    return graph


def make_nested():
    """Return a graph whose call holds a graph, with a constant of its own."""
    body = dragon.Graph("body")
    with body.edit():
        x, y = body.add_input((2, 3), name="x"), body.add_input((2, 3), name="y")
        (product,) = body.add_call("mul", [x, y])
        body.outputs = body.add_call("add", [product, body.add_constant(dragon.tensor(0.5))]) + [product]
    graph = dragon.Graph("nested")
    with graph.edit():
        x = graph.add_input((2, 3), name="x")
        graph.outputs = graph.add_call("fused", [[x, x]], body=_C.GraphBody(body))
    return graph


SAMPLES = {make.__name__[5:]: make for make in (make_network, make_updates, make_attributes, make_constants,
                                                make_nested)}


def same(graph, other):
    """Return whether two graphs are one another's copies."""
    return _C.encode_graph(graph) == _C.encode_graph(other)
