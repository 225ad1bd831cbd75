"""Write the golden file of the present version: run once when the version rises, and never again for a version."""
import pathlib

import dragon
from dragon import _C
from harness.graph_samples import make_attributes, make_constants, make_nested, make_network, make_updates

HERE = pathlib.Path(__file__).parent


def make_reference(inputs, results):
    """Return a graph of constants only: what goes in and what comes out."""
    reference = dragon.Graph("reference")
    for name, tensor in inputs.items():
        reference.add_constant(tensor, f"input {name}")
    for place, tensor in enumerate(results):
        reference.add_constant(tensor, f"output {place}")
    return reference


def main():
    """Write graphs and references."""
    ops = dragon.ops
    image = dragon.arange(2 * 3 * 8 * 8, dtype="float32").reshape((2, 3, 8, 8)) / 64 - 3
    network = make_network()
    weight, classes = (network.constants[network.find(name)] for name in ("weight", "classes"))
    pooled = ops.mean(ops.relu(ops.conv2d(image, weight, padding=1, stride=2)), axis=[2, 3])
    scores = ops.linear(pooled, classes)
    small = image[0, 0, :2, :3]
    x = dragon.arange(12, dtype="float64").reshape((4, 3)) / 7
    picked = ops.index(x, [None, dragon.tensor([0, 2])])
    joined = ops.cat([picked, x, picked], axis=1)
    constants = make_constants()
    goldens = {
        "network": (network, {"image": image}, [ops.softmax(scores, axis=-1), scores]),
        "updates": (make_updates(), {"x": x}, [joined, joined, x]),
        "attributes": (make_attributes(), {"x": dragon.zeros((1, 2, 4, 4)),
                                           "z": dragon.zeros((2,), dtype="complex64")}, []),
        "nested": (make_nested(), {"x": small}, [small ** 2 + 0.5, small ** 2]),
        "constants": (constants, {}, [constants.constants[number] for number in constants.outputs]),
    }
    for name, (graph, inputs, results) in goldens.items():
        path = HERE / f"{name}-v{_C.graph_version}.dragon"
        graph.save(path)
        make_reference(inputs, results).save(path.with_suffix(".reference"))


if __name__ == "__main__":
    main()
