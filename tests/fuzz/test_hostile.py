"""Every operator and every public callable of the faces, called with hostile arguments: only the promised errors may
come, and no crash, no hang, no memory beyond the limit. `make hunt` is the same for hours."""
import json
import os
import pathlib
import sys
import types

import pytest

import dragon

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import hunt  # noqa: E402  (stands beside this file)

SEED = int(os.environ.get("HUNT_SEED", "0"))
COUNT = int(os.environ.get("HUNT_COUNT", "200"))
BINDINGS_COUNT = 3
CHUNK = 16
NAMES = sorted(dragon._C.op_names())
CHUNKS = [NAMES[start:start + CHUNK] for start in range(0, len(NAMES), CHUNK)]
IDS = [f"{chunk[0]} to {chunk[-1]}" for chunk in CHUNKS]
# What a face's short hunt calls: so many calls of one name of so many, other names with another seed.
SHORT = {"native": (3, 6), "torch": (6, 3), "torchvision": (6, 3)}


def fail(findings):
    """Fail with the words of findings, if there are any."""
    if findings:
        shown = "\n".join(finding.words() for finding in findings[:40])
        pytest.fail(f"{len(findings)} hostile calls were not answered as they should be:\n{shown}", pytrace=False)


@pytest.mark.parametrize("names", CHUNKS, ids=IDS)
@pytest.mark.long("each of some operators is called hundreds of times with wrong arguments")
def test_hostile_calls(names, tmp_path):
    fail(hunt.run_names("operators", names, SEED, COUNT, folder=tmp_path))


def test_a_genuine_guest_that_does_not_start_is_none(tmp_path, monkeypatch):
    """Every call would be answered by how its process ended, as if that were an error of the guest."""
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "__init__.py").write_text("raise RuntimeError('operator does not exist')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path) + os.pathsep + os.environ.get("PYTHONPATH", ""))
    assert not hunt.has_genuine("torchvision")
    assert not hunt.has_genuine("native")


@pytest.mark.parametrize("step, raised", ((1, "KeyError"), (2, None)))
def test_a_call_is_compared_with_its_own_answer(step, raised, monkeypatch):
    """What an earlier call of the same instance raises is no answer to this one."""
    monkeypatch.setenv("DRAGON_ALLOCATOR", "naive")
    import worker
    told = []
    face = types.SimpleNamespace(
        kit=types.SimpleNamespace(use=id, restore=list),
        attempt=lambda *place: [("made", list, [], {}), ("first", {}.__getitem__, [3], {}), ("second", len, ["a"], {})])
    worker.replay(face, types.SimpleNamespace(seed=0), "name", 0, step, told.append)
    assert json.loads(told[0])["raised"] == raised


@pytest.mark.long("it makes thousands of calls with wrong arguments")
def test_few_hostile_calls_of_bindings(tmp_path):
    """Each place of each binding gets wrong objects, other ones with another seed: `make hunt HUNT_FACE=bindings`."""
    names = hunt.list_names("bindings")
    assert len(names) > 700
    fail(hunt.run_names("bindings", names, SEED, BINDINGS_COUNT, folder=tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("face", SHORT)
@pytest.mark.long("every function of a face is called with wrong arguments")
def test_hostile_calls_of_a_face(face, tmp_path):
    """Nothing crashes or hangs. Errors of a wrong class are told by `make hunt` until there are none left."""
    count, every = SHORT[face]
    names = hunt.list_names(face)[SEED % every::every]
    findings = hunt.hunt(face, SEED, count * len(names), 1, names=names, folder=tmp_path)
    fail([finding for finding in findings if finding["trouble"] not in ("class", "empty message")])
