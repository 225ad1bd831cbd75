"""Write which of the engine's operators have an ONNX expression: the page `onnx_coverage`, which can be searched."""
import collections

from dragon import _C
from dragon.dialects.onnx.table import rows
from dragon.onnx import families  # noqa: F401: fills the table
from dragon.onnx.table import MAPPINGS, find_mapping
from makers.coverage_pages import write_bar, write_filter
from makers.doors import DOCS
from makers.files import write_if_new

NOT_FORWARD = ("_backward", "_step", "fused"), ("pack_", "foreach_", "clip_grad")


def family_of(name):
    """Return the family that an operator's mapping, or its row, is in."""
    mapping = MAPPINGS.get(name)
    return mapping.__module__.rpartition(".")[2] if mapping else rows()[name].place.partition(".")[0]


def list_operators():
    """Return ({family: names with a mapping}, names of forward operators without, others without)."""
    found, missing, others = collections.defaultdict(list), [], []
    for name in sorted(_C.op_names()):
        if _C.schema(name)["composite"]:
            continue
        if find_mapping(name):
            found[family_of(name)].append(name)
        elif name.endswith(NOT_FORWARD[0]) or name.startswith(NOT_FORWARD[1]):
            others.append(name)
        else:
            missing.append(name)
    return found, missing, others


def write_coverage(app=None):
    """Write the page."""
    found, missing, others = list_operators()
    count = sum(map(len, found.values()))
    rows = {name: ("there", f"nodes by the table of {family}")
            for family, names in found.items() for name in names}
    rows.update((name, ("missing", "exporting names it in an UnsupportedOperatorError")) for name in missing)
    lines = ["# Operators as ONNX", "",
             f"Of {count + len(missing)} primitive operators that a forward pass may call, {count} have an ONNX "
             "expression; compositions are made of these. The others raise an `UnsupportedOperatorError` that names "
             "all of them at once. Gradients, optimizers and what passes make of calls are not exported.", "",
             "```{raw} html", write_bar({"there": count, "partly": 0, "missing": len(missing)}),
             *[line.replace("conv2d", "softmax") for line in write_filter("operators")],
             '<div class="names-box" role="region" tabindex="0" aria-label="Operators and their states">'
             '<table class="table names"><thead><tr><th scope="col">operator</th><th scope="col">state</th>'
             '<th scope="col">note</th></tr></thead><tbody>']
    for name, (state, note) in sorted(rows.items()):
        lines.append(f'<tr data-state="{state}"><td><code>{name}</code></td><td class="state-{state}">{state}</td>'
                     f"<td>{note}</td></tr>")
    lines += ["</tbody></table></div>", "```", "", "## Not for forward passes", "",
              " ".join(f"`{name}`" for name in others)]
    write_if_new(DOCS / "onnx_coverage.md", "\n".join(lines) + "\n")
    return count, len(missing)


if __name__ == "__main__":
    print("%d operators with an expression, %d without" % write_coverage())
