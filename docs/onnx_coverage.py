"""Print which of the engine's operators have an ONNX expression: the page `onnx_coverage`."""
import collections
import pathlib

from dragon import _C
from dragon.onnx import families  # noqa: F401: fills the table
from dragon.onnx.table import MAPPINGS, find_mapping

HERE = pathlib.Path(__file__).parent


def family_of(name):
    """Return the family that an operator's mapping is in."""
    mapping = MAPPINGS.get(name)
    return mapping.__module__.rpartition(".")[2] if mapping else "one node"


def list_operators():
    """Return ({family: names with a mapping}, names of forward operators without, others without)."""
    found, missing, others = collections.defaultdict(list), [], []
    for name in sorted(_C.op_names()):
        if _C.schema(name)["composite"]:
            continue
        if find_mapping(name):
            found[family_of(name)].append(name)
        elif name.endswith(("_backward", "_step", "fused")) or name.startswith(("pack_", "foreach_", "clip_grad")):
            others.append(name)
        else:
            missing.append(name)
    return found, missing, others


def write_coverage(app=None):
    """Write the page."""
    found, missing, others = list_operators()
    count = sum(map(len, found.values()))
    lines = ["# Operators as ONNX", "",
             f"Of {count + len(missing)} primitive operators that a forward pass may call, {count} have an ONNX "
             "expression; compositions are made of these. The others raise an `UnsupportedOperatorError` that names "
             "all of them at once. Gradients, optimizers and what passes make of calls are not exported.", "",
             "| family | operators |", "|---|---|"]
    for family, names in sorted(found.items()):
        lines.append(f"| {family} | {' '.join(f'`{name}`' for name in names)} |")
    lines += ["", "## Without an expression", "", " ".join(f"`{name}`" for name in missing), "",
              "## Not for forward passes", "", " ".join(f"`{name}`" for name in others)]
    (HERE / "onnx_coverage.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return count, len(missing)


if __name__ == "__main__":
    print("%d operators with an expression, %d without" % write_coverage())
