"""Processes that a program starts, by whatever means, have its guests; those of another Python have not."""
import os
import shutil
import subprocess
import sys
import venv

import pytest

import dragon
from dragon.start import dragon_guests
from dragon.vm import alias

HERE = os.path.dirname(os.path.abspath(dragon.__file__))
START = os.path.join(HERE, "start")
ASK = """
import importlib.metadata, sys
before = "dragon" in sys.modules
import torch
print(before, torch.__file__, importlib.metadata.version("torch"))
"""
MINE = f"False {os.path.join(HERE, 'vm', 'torch', '__init__.py')} {alias.VERSIONS['torch']}\n"
PROGRAM = """
import subprocess, sys
print(subprocess.run([sys.executable, "-c", sys.argv[1]], capture_output=True, text=True, cwd="/", check=True).stdout,
      end="")
"""


@pytest.fixture
def child(tmp_path):
    """Return a function that runs code in a child of a program, and gives what it prints."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def call(code, *options, execute):
        return execute("run", *options, "program.py", code).stdout
    return call


def run_here(code, **environment):
    """Run code in a process with these variables besides what is there, elsewhere; return what came of it."""
    names = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", alias.VARIABLE)}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/", timeout=300,
                          env={**names, **environment})


def test_a_child_has_the_guest_and_imports_dragon_when_it_asks(execute, child):
    assert child(ASK, execute=execute) == MINE


def test_a_child_that_asks_nothing_pays_nothing(execute, child):
    code = "import sys; print(sorted(name for name in sys.modules if name.partition('.')[0] == 'dragon'))"
    assert child(code, execute=execute) == "[]\n"


def test_a_child_of_a_child_has_it_too(execute, child):
    code = f"import subprocess, sys\nprint(subprocess.check_output([sys.executable, '-c', {ASK!r}], text=True), end='')"
    assert child(code, execute=execute) == MINE


@pytest.mark.parametrize("question", ["importlib.metadata.version('torch')",
                                      "importlib.util.find_spec('torch').origin"])
def test_questions_are_answered(execute, child, question):
    answer = child(f"import importlib.metadata, importlib.util; print({question})", execute=execute)
    assert answer.strip() in (alias.VERSIONS["torch"], os.path.join(HERE, "vm", "torch", "__init__.py"))


def test_what_stays_genuine_does_so_in_children(execute, child):
    code = "import importlib.util; print([importlib.util.find_spec(name).origin for name in ('torch', 'json')])"
    found = child(code, "--as", "torch", execute=execute)
    assert os.path.join(HERE, "vm", "torch") in found
    code = "import os; print(os.environ['DRAGON_GUESTS'])"
    assert child(code, "--as", "torch", execute=execute) == "torch,torchvision\n"


def test_children_are_told_what_has_been_wanted_meanwhile(execute, tmp_path):
    (tmp_path / "wants.py").write_text("import os\nbefore = os.environ['DRAGON_GUESTS']\nimport keras\n"
                                       "print(before, os.environ['DRAGON_GUESTS'])\n")
    before, after = (set(words.split(",")) for words in execute("run", "wants.py").stdout.split())
    assert before == {guest + "?" for guest in alias.VERSIONS}
    assert "keras" in after and "tensorflow?" in after


def test_a_library_that_looks_around_finds_in_a_child_what_its_program_imports(execute, tmp_path):
    """The child's program is asked for its imports, not the parent's."""
    package = tmp_path / "site-packages/looks"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import importlib.util\n"
                                         "found = importlib.util.find_spec('keras') is not None\n")
    for name, more in (("without", ""), ("within", "\ndef late():\n    import keras\n")):
        (tmp_path / f"{name}.py").write_text(f"import sys\nsys.path.append('site-packages')\nimport looks\n"
                                             f"print(looks.found)\n{more}")
    (tmp_path / "parent.py").write_text("import subprocess, sys\nfor name in ('without.py', 'within.py'):\n"
                                        "    print(subprocess.check_output([sys.executable, name], text=True).strip())")
    assert execute("run", "parent.py").stdout == "False\nTrue\n"


def test_another_python_is_left_alone(execute, child, tmp_path):
    venv.create(tmp_path / "other", symlinks=True)
    code = f"""import subprocess; print(subprocess.check_output([{str(tmp_path / 'other/bin/python')!r}, "-c",
        "import sys; print([type(finder).__name__ for finder in sys.meta_path])"], text=True))"""
    found = child(code, execute=execute)
    assert "PathFinder" in found or "type" in found
    assert "Door" not in found


def test_another_sitecustomize_runs_as_well(execute, child, tmp_path):
    (tmp_path / "customs").mkdir()
    (tmp_path / "customs/sitecustomize.py").write_text("import builtins\nbuiltins.customs = 'theirs'\n")
    found = execute("run", "program.py", f"print(customs, __import__('sitecustomize').__file__)\n{ASK}",
                    path=[tmp_path / "customs"]).stdout
    assert found == f"theirs {tmp_path / 'customs/sitecustomize.py'}\n{MINE}"


def test_the_file_of_an_installed_dragon_reads_the_variable(tmp_path):
    """What lies beside the package where it was installed by pip: `site` reads it at the start of each process."""
    for name in ("dragon_guests.py", "dragon_guests.pth"):
        shutil.copy(os.path.join(START, name), tmp_path)
    (tmp_path / "dragon").symlink_to(HERE)
    begin = f"import site, sys; site.addsitedir({str(tmp_path)!r})\n"
    shown = "print([type(finder).__name__ for finder in sys.meta_path])\n"
    done = run_here(begin + shown + ASK, DRAGON_GUESTS="torch")
    assert "Door" in done.stdout and "dragon/vm/torch/__init__.py" in done.stdout, done.stderr
    assert "Door" not in run_here(begin + shown).stdout


def test_the_variable_alone_is_enough_to_be_set_by_hand():
    done = run_here(f"import dragon_guests\n{ASK}", DRAGON_GUESTS="torch, keras?",
                    PYTHONPATH=os.pathsep.join([START, os.path.dirname(HERE)]))
    assert done.stdout == MINE, done.stderr


def test_a_name_that_is_none_is_told():
    done = run_here(f"import dragon_guests\n{ASK}", DRAGON_GUESTS="troch",
                    PYTHONPATH=os.pathsep.join([START, os.path.dirname(HERE)]))
    assert "DRAGON_GUESTS: got 'troch' in the environment, expected some of torch, " in done.stderr


def test_companions_of_genuine_packages_are_not_there(execute, child):
    code = "try:\n    import functorch\nexcept ModuleNotFoundError as error:\n    print(error)"
    assert child(code, execute=execute) == "No module named 'functorch'\n"


def test_verify_has_the_genuine_framework_whatever_the_environment_says(execute, tmp_path):
    pytest.importorskip("torch", reason="PyTorch itself is one of the two sides")
    (tmp_path / "s.py").write_text("import torch\nprint(torch.ones(2).tolist())\n")
    execute("verify", "s.py", env={"DRAGON_GUESTS": "torch"}, path=[START])


def test_names_are_those_of_the_tables():
    tables = {*alias.VERSIONS, *(name for names in alias.COMPANIONS.values() for name in names),
              *(name.partition(".")[0] for name in alias.NESTED)}
    assert dragon_guests.NAMES == tables and dragon_guests.VARIABLE == alias.VARIABLE
