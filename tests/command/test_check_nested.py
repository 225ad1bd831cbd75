"""What `dragon check` reads of guests that lie within a package which others share: of `nvidia.dali`."""
import pytest

from dragon.command.check import check

HEAD = """from nvidia import dali
import nvidia.dali.fn as fn, nvidia.dali.plugin.pytorch
import nvidia.other, dali_of_mine
"""


def test_operators_for_devices_run_on_the_host(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + "from nvidia.dali import ops\nops.Resize(device='gpu', size=3)\nfn.resize(1, device='gpu')\n"
                    "nvidia.dali.fn.flip(1, device='gpu')\nimport torch\ntorch.ones(2, device='cuda')\n")
    assert [entry["name"] for entry in check([str(path)])["devices"]] in ([], ["ones('cuda')"])  # where there is one


@pytest.mark.parametrize("text, missing", [
    ("fn.resize(fn.readers.file(file_root='.')[0], size=3, device='gpu', minibatch_size=2)", []),
    ("fn.resizee(1)", ["nvidia.dali.fn.resizee"]), ("dali.types.FLOATT", ["nvidia.dali.types.FLOATT"]),
    ("nvidia.dali.plugin.pytorch.DALIClassificationIterator, dali.ops.readers.File", []),
    ("fn.resize(1, sizee=3)", ["nvidia.dali.fn.resize(sizee)"]),
    ("fn.optical_flow(1)", ["nvidia.dali.fn.optical_flow"]),
    ("dali.ops.Resize(sizee=3)", ["nvidia.dali.ops.Resize(sizee)"]),
    ("nvidia.other.thing(), dali_of_mine.fn.nothing", []), ("dali.pipeline_def().is_cuda", [])])
def test_names_within_a_shared_package_are_read(text, missing, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + text)
    report = check([str(path)])
    assert [entry["name"] + (f"({entry['keyword']})" if entry["keyword"] else "")
            for entry in report["missing"]] == missing
