"""`dragon guest` puts packages that hand over to Dragon into an environment, whole or not at all, and removes them."""
import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import venv

import pytest

import dragon
from dragon.command import guest, guest_files, guest_place
from dragon.command.parser import Mistake
from dragon.vm.alias import VERSIONS
from harness import interpreter

ROOT = str(pathlib.Path(dragon.__file__).resolve().parents[1])


@pytest.fixture
def environment(tmp_path):
    """A folder for packages, and a function that runs Python with it in its path."""
    folder = tmp_path / "packages"

    def run(*words, status=0):
        path = os.pathsep.join([str(folder), ROOT])
        done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PYTHONPATH": path})
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr
    return folder, run


@pytest.fixture
def bare(monkeypatch):
    """Install without stubs, which are many files and take part in nothing else."""
    monkeypatch.setattr(guest_files, "write_stubs", lambda name, home, folder: 0)


def tell(folder):
    """Return {guest: state} of a folder."""
    return {name: guest_place.survey(folder, name).state for name in VERSIONS}


def files(folder):
    """Return what is in a folder, bytecode left out."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts)


@pytest.mark.long("programs start in processes that import what was installed")
def test_programs_find_what_is_installed(environment):
    folder, run = environment
    said = run("-m", "dragon", "guest", "install", "torch", "tensorflow", "--target", str(folder))
    assert f"torch 2.13.0: Dragon's, in {folder}" in said and "keras 3.15.1" in said and "torchvision" in said
    assert set(tell(folder).values()) == {"whole"}
    (folder.parent / "program.py").write_text(
        "import importlib.metadata, importlib.util\n"
        "if __name__ == '__main__':  # in children of multiprocessing Dragon's finder stands before it\n"
        "    assert importlib.util.find_spec('torch').origin.endswith('packages/torch/__init__.py')\n"
        "assert importlib.metadata.version('tensorflow') == '2.21.0'\n"
        "assert importlib.metadata.distribution('torch').read_text('INSTALLER') == 'dragon\\n'\n"
        "assert importlib.metadata.packages_distributions()['keras'][0] == 'keras'\n"
        "import torch.nn.functional as F, torch\n"
        "from torch.utils.data import DataLoader\n"
        "import tensorflow.keras, keras, torchvision\n"
        "import dragon.vm.torch\n"
        "assert dragon.vm.torch is torch and tensorflow.keras is keras and 'dragon' in torchvision.__file__\n"
        "def work(queue):\n    import torch\n    queue.put(torch.__file__)\n"
        "if __name__ == '__main__':\n"
        "    import multiprocessing, subprocess, sys\n"
        "    context = multiprocessing.get_context('spawn')\n    queue = context.SimpleQueue()\n"
        "    process = context.Process(target=work, args=(queue,))\n    process.start()\n"
        "    assert queue.get() == torch.__file__\n    process.join()\n"
        "    told = subprocess.check_output([sys.executable, '-c', 'import torch; print(torch.__file__)'], text=True)\n"
        "    assert told.strip() == torch.__file__\n"
        "    print('fine', float(F.relu(torch.tensor(3.))))\n")
    assert run("program.py").endswith("fine 3.0\n")
    assert "Dragon" in run("-m", "torch.utils.collect_env")


def test_metadata_are_those_of_a_wheel(tmp_path):
    guest_place.Installation(tmp_path, ["torchvision"]).run()
    info = tmp_path / "torchvision-0.28.0.dist-info"
    rows = list(csv.reader((info / "RECORD").open()))
    assert {row[0] for row in rows} == {name for name in files(tmp_path) if (tmp_path / name).is_file()}
    assert rows[-1] == [f"{info.name}/RECORD", "", ""] and not guest_files.damaged(info)
    metadata = (info / "METADATA").read_text()
    assert "Name: torchvision\nVersion: 0.28.0\n" in metadata and "Requires-Dist: torch==2.13.0\n" in metadata
    (tmp_path / "torchvision" / "__init__.py").write_text("")
    assert guest_files.damaged(info) == ["torchvision/__init__.py"]
    assert guest_place.survey(tmp_path, "torchvision").state == "torn"


def test_pip_takes_them_away(tmp_path, bare):
    pytest.importorskip("pip")
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    folder = pathlib.Path(subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True).strip())
    guest_place.Installation(folder, ["keras"]).run()
    (folder / "keras" / "__pycache__").mkdir()
    cached = importlib.util.cache_from_source(str(folder / "keras" / "__init__.py"))
    pathlib.Path(cached).write_bytes(b"")

    def pip(*words):
        return subprocess.run([sys.executable, "-m", "pip", "--python", python, *words], cwd=tmp_path,
                              capture_output=True, text=True)
    assert json.loads(pip("list", "--format", "json").stdout) == [{"name": "keras", "version": "3.15.1"}]
    assert "keras 3.15.1 requires h5py" in pip("check").stdout
    assert "Requirement already satisfied: keras>=3" in pip("install", "--no-index", "--no-deps", "keras>=3").stdout
    assert "Successfully uninstalled keras-3.15.1" in pip("uninstall", "--yes", "keras").stdout
    assert tell(folder)["keras"] == "absent" and not files(folder)


@pytest.mark.long("four processes install and remove, in an environment that is made for it")
def test_remove_takes_what_stands_on_it(environment):
    folder, run = environment
    run("-m", "dragon", "guest", "install", "torch", "tensorflow", "--target", str(folder))
    said = run("-m", "dragon", "guest", "remove", "keras", "torch", "--target", str(folder))
    assert said == ("torch 2.13.0: removed\ntorchvision 0.28.0: removed\ntensorflow 2.21.0: removed\n"
                    "keras 3.15.1: removed\n")
    assert not files(folder)
    said = run("-m", "dragon", "guest", "remove", "keras", "--target", str(folder), status=2)
    assert said == (f"dragon guest: got no keras in {folder}, expected one that `dragon guest install` put there\n")


@pytest.mark.parametrize("there", ["torch/__init__.py", "torch.py", "torch-2.9.0.dist-info/METADATA",
                                   "Torch.egg-link", "torch/nn/module.py", "torchvision/__init__.py"])
def test_nothing_genuine_is_touched(tmp_path, bare, there):
    path = tmp_path / there
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("mine")
    before = files(tmp_path)
    options = type("Options", (), {"guests": ["torch"], "target": str(tmp_path)})
    with pytest.raises(Mistake, match=r"expected a name that nothing genuine has: .* is not Dragon's"):
        guest.install(tmp_path, options)
    assert files(tmp_path) == before
    if not there.startswith("torchvision"):
        with pytest.raises(Mistake, match="which is not Dragon's, expected one that"):
            guest.remove(tmp_path, options)
    assert files(tmp_path) == before and path.read_text() == "mine"


def test_what_an_uninstaller_leaves_is_no_package(tmp_path, bare):
    (tmp_path / "torch" / "__pycache__").mkdir(parents=True)
    (tmp_path / "torch" / "__pycache__" / "__init__.cpython-311.pyc").write_bytes(b"")
    assert guest_place.survey(tmp_path, "torch").state == "absent"
    guest_place.Installation(tmp_path, ["torch"]).run()
    assert guest_place.survey(tmp_path, "torch").state == "whole"


@pytest.mark.parametrize("moves", [0, 1, 3, 5, 6])
@pytest.mark.parametrize("before", [False, True])
def test_what_fails_in_the_middle_is_undone(tmp_path, bare, monkeypatch, moves, before):
    if before:
        guest_place.Installation(tmp_path, ["torch"]).run()
    there, state = files(tmp_path), tell(tmp_path)
    rename, left = os.rename, [moves]

    def fail(source, target):
        left[0] -= 1
        if left[0] == -1:
            raise OSError(28, "No space left on device")
        rename(source, target)
    monkeypatch.setattr(os, "rename", fail)
    if moves < (6 if before else 4):
        with pytest.raises(Mistake, match="No space left on device"):
            guest_place.Installation(tmp_path, ["torch", "keras"]).run()
        assert files(tmp_path) == there and tell(tmp_path) == state
    else:
        guest_place.Installation(tmp_path, ["torch", "keras"]).run()
        assert tell(tmp_path)["torch"] == tell(tmp_path)["keras"] == "whole"


@pytest.mark.parametrize("mend", ["install", "remove"])
@pytest.mark.parametrize("moves", range(4))
def test_a_kill_in_the_middle_is_mended(tmp_path, bare, moves, mend):
    folder = tmp_path
    guest_place.Installation(folder, ["torchvision"]).run()
    child = os.fork()
    if not child:
        rename, left = os.rename, [moves]

        def kill(source, target):
            left[0] -= 1
            os._exit(9) if left[0] < 0 else rename(source, target)
        os.rename = kill
        guest_place.Installation(folder, ["torchvision"]).run()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert guest_place.survey(folder, "torchvision").state == "torn"
    assert "not whole" in "".join(guest.list_guests(folder, None)["lines"])
    options = type("Options", (), {"guests": ["torchvision"], "target": str(folder)})
    if mend == "install":
        guest_place.Installation(folder, ["torchvision"]).run()
        assert guest_place.survey(folder, "torchvision").state == "whole"
    else:
        guest.remove(folder, options)
        assert not files(folder)


INTERRUPTED = """
import os, signal, sys
from dragon.command import main
signal.signal(signal.SIGINT, signal.default_int_handler)
rename, left = os.rename, [int(sys.argv[1])]
def interrupt(source, target):
    left[0] -= 1
    if sys.argv[2] == "after":
        rename(source, target)
    if left[0] == -1:
        os.kill(os.getpid(), signal.SIGINT)
    if sys.argv[2] == "before":
        rename(source, target)
os.rename = interrupt
main(["guest", "install", "torch", "--target", "here"])
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("moves", range(5))
def test_an_interrupt_is_undone(tmp_path, moves, when):
    """Before and after each of the four moves; whoever presses the keys late finds it done."""
    done = interpreter.run(["-c", INTERRUPTED, moves, when], tmp_path, preload="import dragon.command",
                           env={**os.environ, "PYTHONPATH": ROOT})
    assert (done.returncode, done.stderr) == ((0, "") if moves == 4 else (130, "dragon: interrupted\n"))
    found = tell(tmp_path / "here")
    assert found["torch"] == found["torchvision"] == ("whole" if moves == 4 else "absent")
    assert moves == 4 or not files(tmp_path / "here")


def test_letters(environment, tmp_path):
    folder, run = environment
    (tmp_path / "file").write_text("")
    for words, said in ((["install"], "got install alone, expected one of torch, torchvision"),
                        (["install", "toch"], "expected one of torch, torchvision, tensorflow, keras; did you mean"),
                        (["list", "torch"], "got list with torch, expected it alone"),
                        (["instal", "torch"], "did you mean install?"),
                        (["install", "torch", "--target", "file"], "got --target file, expected a folder"),
                        (["install", "torch", "--target", "file/below"], "expected a folder that can be written to")):
        assert said in run("-m", "dragon", "guest", *words, status=2), words


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(Mistake, match="expected a folder that can be written to"):
        guest_place.Installation(tmp_path, ["torch"]).run()


def test_folders_that_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(guest_place.site, "ENABLE_USER_SITE", False)
    with pytest.raises(Mistake, match="got --user, expected a Python that reads"):
        guest_place.choose_folder(user=True)
    (tmp_path / "EXTERNALLY-MANAGED").write_text("")
    monkeypatch.setattr(guest_place.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(guest_place.sys, "prefix", guest_place.sys.base_prefix)
    with pytest.raises(Mistake, match="expected a virtual environment, or --target FOLDER"):
        guest_place.choose_folder()


def test_without_dragon_the_letter_says_what_to_do(tmp_path, bare):
    guest_place.Installation(tmp_path, ["torch"]).run()
    done = subprocess.run([sys.executable, "-S", "-E", "-c", f"import sys; sys.path.append({str(tmp_path)!r})\n"
                           "try: import torch\nexcept ImportError as error: print(error)"], cwd="/",
                          capture_output=True, text=True)
    assert done.stdout == ("torch: got no package `dragon`, to which this `torch` hands over; expected Dragon in this "
                           "environment, or `pip uninstall torch`\n")


def test_commands_take_no_guest_for_a_genuine_framework(environment):
    folder, run = environment
    run("-m", "dragon", "guest", "install", "keras", "--target", str(folder))
    said = run("-c", "from types import SimpleNamespace as Made\nimport importlib.util\n"
                     "from dragon.command import probes, verify\n"
                     "made = Made(spec=importlib.util.find_spec)\n"
                     "for found in probes.genuine(made, None):\n    print(found.reason)\n"
                     "import sys\ntry: verify.check_genuine(sys.executable, ['keras'])\n"
                     "except verify.Mistake as mistake: print(mistake)")
    assert "keras: plain `python` runs on Dragon" in said and "got no genuine keras in" in said


def test_json(environment):
    folder, run = environment
    told = json.loads(run("-m", "dragon", "guest", "install", "torch", "--json", "--target", str(folder)))
    assert [entry["guest"] for entry in told["guests"]] == ["torch", "torchvision"] and told["folder"] == str(folder)
    told = json.loads(run("-m", "dragon", "guest", "list", "--json", "--target", str(folder)))
    assert [entry["state"] for entry in told["guests"]] == ["whole", "whole", "absent", "absent"]
    assert [entry["guest"] for entry in told["guests"]] == list(VERSIONS)
