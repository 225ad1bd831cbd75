"""Every operator, called with hostile arguments whose tensors lie on the device: only the promised errors may come."""
import pathlib
import sys

import pytest

import dragon

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))

import hunt  # noqa: E402  (stands in that folder)

COUNT, CHUNK = 12, 40
NAMES = sorted(dragon._C.op_names())


@pytest.mark.timeout(400)
@pytest.mark.parametrize("start", range(0, len(NAMES), CHUNK), ids=lambda start: f"from {NAMES[start]}")
def test_hostile_calls(start, device, tmp_path):
    findings = hunt.run_names("cuda", NAMES[start:start + CHUNK], 0, COUNT, folder=tmp_path)
    shown = "\n".join(finding.words() for finding in findings[:20])
    assert not findings, f"{len(findings)} hostile calls were not answered as they should be:\n{shown}"
