"""`dragon run` is `python` with another torch: the same output, errors and exit status, and nothing genuine inside."""
import os
import signal
import subprocess
import sys

import pytest

REPORT = "import sys; print(sys.argv, __name__, {0}, sys.path[0], __doc__, __package__, __spec__ and __spec__.name)\n"
# Name: (files, words of the command line, standard input).
PROGRAMS = {
    "script": ({"s.py": '"""words"""\n' + REPORT.format("__file__")}, ["s.py", "a", "-m", "--as", "torch"], ""),
    "folder": ({"f/__main__.py": REPORT.format("__file__"), "f/other.py": ""}, ["f", "a"], ""),
    "module": ({"m.py": REPORT.format("__file__")}, ["-m", "m", "a"], ""),
    "package": ({"p/__init__.py": "print(__name__)", "p/__main__.py": "from . import a\n" + REPORT.format("__file__"),
                 "p/a.py": ""}, ["-m", "p", "-x"], ""),
    "code": ({}, ["-c", REPORT.format("0"), "a", "b"], ""),
    "stdin": ({}, ["-"], REPORT.format("0")),
    "stdin with words": ({}, ["-", "a"], REPORT.format("0")),
    "neighbour": ({"s/s.py": "import n", "s/n.py": "print(__name__)"}, ["s/s.py"], ""),
    "error": ({"s.py": "def f():\n    raise ValueError('no')\n\n\nf()\n"}, ["s.py"], ""),
    "error in error": ({"s.py": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    int('x')\n"}, ["s.py"], ""),
    "syntax": ({"s.py": "a = = 1\n"}, ["s.py"], ""),
    "exit": ({"s.py": "import sys\nsys.exit(7)\n"}, ["s.py"], ""),
    "exit with words": ({"s.py": "raise SystemExit('bye')\n"}, ["s.py"], ""),
    "own hook": ({"s.py": "import sys\nsys.excepthook = lambda *error: print('hook', error[0])\n1 / 0\n"}, ["s.py"],
                 ""),
    "at exit": ({"s.py": "import atexit\natexit.register(print, 'last')\n1 / 0\n"}, ["s.py"], ""),
    # Jobs in the background are born deaf to interrupts.
    "interrupt": ({"s.py": "import os, signal, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
                           "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)\n"}, ["s.py"], ""),
    "class of main": ({"s.py": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))))\n"},
                      ["s.py"], ""),
}


def execute(words, folder, stdin="", **environment):
    """Return what a Python process does with a command line."""
    return subprocess.run([sys.executable, *words], cwd=folder, input=stdin, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": find_root(), **environment})


def find_root():
    """Return the folder that the package under test is imported from."""
    import dragon
    return os.path.dirname(os.path.dirname(dragon.__file__))


def write(folder, files):
    """Write files with their folders."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_behaves_as_under_python(name, tmp_path):
    files, words, stdin = PROGRAMS[name]
    write(tmp_path, files)
    expected = execute(words, tmp_path, stdin)
    got = execute(["-m", "dragon", "run", *words], tmp_path, stdin)
    assert (got.returncode, got.stdout) == (expected.returncode, expected.stdout)
    # Under `python -m`, frames of runpy stand on top; here nothing does.
    assert got.stderr == expected.stderr
    if name == "interrupt":
        assert got.returncode == -signal.SIGINT


def test_empty_words_read_the_standard_input(tmp_path):
    assert execute(["-m", "dragon", "run"], tmp_path, "import sys; print(sys.argv)").stdout == "['']\n"


ALIASES = """
import importlib, importlib.metadata, importlib.util, pickle, pkgutil, sys
import torch
import dragon.vm.torch
from dragon.vm import torch as same
from torch.core import size
import dragon.vm.torch.core.size as same_size
import dragon.vm.torch.core.numbers
assert torch is same is dragon.vm.torch and size is same_size
assert importlib.import_module("torch.core.numbers") is dragon.vm.torch.core.numbers
assert importlib.import_module(".layout", "torch.core") is sys.modules["dragon.vm.torch.core.layout"]
assert torch.__name__ == torch.__spec__.name == torch.__package__ == "torch"
assert importlib.util.find_spec("torch") is torch.__spec__
assert importlib.util.find_spec("torch.core.device").name == "torch.core.device"
assert importlib.util.find_spec("torch.nothing") is None
assert importlib.metadata.version("torch") == torch.__version__ == "2.13.0"
assert "size" in [name for _, name, _ in pkgutil.iter_modules(torch.core.__path__)]
assert torch.Tensor.__module__ == torch.Size.__module__ == "torch"
assert pickle.loads(pickle.dumps(torch.Size((1, 2)))) == (1, 2)
assert torch.tensor([1.5]).item() == 1.5
for name in ("torch.nothing", "functorch"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name == name
    else:
        raise AssertionError(name)
genuine = [name for name, module in sys.modules.items() if name.split(".")[0] in ("torch", "functorch", "torchgen")
           and module is not None and "site-packages/torch/" in (getattr(module, "__file__", None) or "")]
assert not genuine, genuine
print("fine")
"""


def test_names_are_the_very_modules(tmp_path):
    result = execute(["-m", "dragon", "run", "-c", ALIASES], tmp_path)
    assert (result.stdout, result.stderr) == ("fine\n", "")


def test_install_from_code(tmp_path):
    code = "import dragon.vm\ndragon.vm.install('torch')\ndragon.vm.install()\n" + ALIASES
    assert execute(["-c", code], tmp_path).stdout == "fine\n"


def test_install_after_import_shares_the_modules(tmp_path):
    code = ("from dragon.vm import torch as mine\nimport dragon.vm\ndragon.vm.install('torch')\nimport torch\n"
            "import torch.core.size\nimport torch.types as types\nimport dragon.vm.torch.types as mine_types\n"
            "assert mine is torch and types is mine_types\n"
            "print(torch.Size.__module__, types.__name__)\n")
    result = execute(["-c", code], tmp_path)
    assert (result.stdout, result.stderr) == ("dragon.vm.torch dragon.vm.torch.types\n", "")


def test_install_refuses_what_is_too_late(tmp_path):
    write(tmp_path, {"torch/__init__.py": ""})
    code = "import torch, dragon.vm\ndragon.vm.install('torch')"
    assert "RuntimeError: install: got 'torch' imported already" in execute(["-c", code], tmp_path).stderr
    assert "expected one of torch" in execute(["-c", "import dragon.vm as v; v.install('torc')"], tmp_path).stderr


CHILDREN = """
import multiprocessing
import sys
import torch


class Own:
    value = 3


def work(queue, own):
    queue.put((torch.tensor([own.value]).item(), torch.__spec__.name, "dragon" in torch.__file__, __name__))


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    queue = context.Queue()
    child = context.Process(target=work, args=(queue, Own()))
    child.start()
    print(queue.get())
    child.join()
    print(child.exitcode)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_find_the_guest(method, tmp_path):
    write(tmp_path, {"s.py": CHILDREN})
    result = execute(["-m", "dragon", "run", "s.py", method], tmp_path)
    name = "__main__" if method == "fork" else "__mp_main__"
    assert result.stdout == f"(3, 'torch', True, '{name}')\n0\n", result.stderr


# Words after `dragon`: (status, what is said on either stream).
WORDS = [
    (["run", "nothing.py"], 2, "can't open file"),
    (["run", "-m", "nothing"], 1, "No module named nothing"),
    (["run", "-m"], 2, "expected a module after it"),
    (["run", "--as", "jax", "s.py"], 2, "expected one of torch"),
    (["run", "--as"], 2, "expected a framework"),
    (["run", "--bad", "s.py"], 2, "got '--bad'"),
    (["run", "--as=torch", "-c", "import torch; print(torch.__version__)"], 0, "2.13.0"),
    (["run", "--as", "torch", "-c", "print('ok')"], 0, "ok"),
    (["--help"], 0, "usage: dragon COMMAND"),
    ([], 2, "usage: dragon COMMAND"),
    (["--version"], 0, "Dragon 0."),
    (["fly"], 2, "expected one of run, check, verify"),
    (["info"], 0, "cpu level"),
    (["info", "--json"], 0, '"operators": '),
]


@pytest.mark.parametrize("words, status, said", WORDS, ids=lambda value: str(value)[:40])
def test_words_of_the_command(words, status, said, tmp_path):
    result = execute(["-m", "dragon", *words], tmp_path)
    assert result.returncode == status and said in result.stdout + result.stderr
