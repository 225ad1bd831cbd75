"""A guest answers as installed where the program asks for it, and not where a library only looks for it."""
import os
import pathlib
import subprocess
import sys

import pytest

import dragon

ROOT = str(pathlib.Path(dragon.__file__).resolve().parents[1])
# Libraries, as they lie in an environment: the names of packages, what they require, and their modules.
LIBRARIES = {
    "prober": (["torch>=2; extra == 'torch'", "tensorflow>2; extra == 'tf'"], """
import importlib.metadata
import importlib.util


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def found():
    return " ".join(name for name in ("torch", "torchvision", "tensorflow", "keras")
                    if importlib.util.find_spec(name) is not None and version(name))


def tried():
    try:
        import tensorflow
    except ImportError:
        return "no tensorflow"
    return tensorflow.__version__


first = found(), tried()
"""),
    "trial": ([], "try:\n    from trial.flow import x\nexcept ImportError:\n    x = 'no tensorflow'\n"
                  "def skip(name):\n    import importlib\n    try:\n"
                  "        return importlib.import_module(name).__name__\n"
                  "    except ImportError as error:\n        return str(error)\n"),
    "quiet": ([], "import contextlib, importlib.util\nspec = importlib.util.find_spec('torch')\n"
                  "keras = importlib.util.find_spec('keras')\nx = 'nothing'\n"
                  "with contextlib.suppress(ImportError):\n    import tensorflow as x\n"),
    "layers": (["keras>=3"], "import importlib.util\nspec = importlib.util.find_spec('keras')\nimport keras\n"),
    "bare": ([], "import tensorflow\n"),
}
# Programs: the words before them, their text, and what they print.
PROGRAMS = {
    "a torch program": ("", "import prober\nimport torch\nprint(*prober.first, prober.found(), sep='; ')",
                        "torch torchvision; no tensorflow; torch torchvision"),
    "a program of libraries": ("", "import prober\nprint(*prober.first, sep='; ')",
                               "torch torchvision; no tensorflow"),
    "a tensorflow program": ("", "import prober\ndef f():\n    import tensorflow\n"
                                 "print(*prober.first, sep='; ')", "torch torchvision tensorflow keras; 2.21.0"),
    "its neighbour": ("", "import prober, helper\nprint(prober.first[1])", "2.21.0"),
    "said": ("--guests tensorflow", "import prober\nprint(*prober.first, sep='; ')",
             "torch torchvision tensorflow keras; 2.21.0"),
    "both said": ("--guests=torch,keras", "import prober\nprint(*prober.first, sep='; ')",
                  "torch torchvision keras; no tensorflow"),
    "late": ("", "import prober, importlib\nbefore = prober.tried()\nimportlib.import_module('tensor' + 'flow')\n"
                 "print(before, prober.tried(), sep='; ')", "no tensorflow; 2.21.0"),
    "made code": ("", "import prober\nexec('import ' + 'tensor' + 'flow')\nprint(prober.tried())", "2.21.0"),
    "a module tried by another": ("", "import trial\nprint(trial.x)", "no tensorflow"),
    "handed over": ("", "import trial\nprint(trial.skip('tensorflow'))", "tensorflow"),
    "suppressed": ("", "import quiet\nprint(quiet.x, quiet.spec, quiet.keras)", "nothing None None"),
    "a library that needs it": ("", "import layers\nprint(layers.spec is not None, layers.keras.__version__)",
                                "True 3.15.1"),
    "an import that is not tried": ("", "import bare\nprint(bare.tensorflow.__version__)", "2.21.0"),
    "its own question": ("", "import importlib.util, importlib.metadata as m, prober\n"
                             "print(m.version('keras'), importlib.util.find_spec('tensorflow') is not None, "
                             "prober.tried())", "3.15.1 True no tensorflow"),
    "children": ("", "import multiprocessing, prober\ndef f(queue):\n    queue.put(prober.first)\n"
                     "if __name__ == '__main__':\n    context = multiprocessing.get_context('spawn')\n"
                     "    queue = context.SimpleQueue()\n"
                     "    process = context.Process(target=f, args=(queue,))\n    process.start()\n"
                     "    print(*queue.get(), sep='; ')\n    process.join()", "torch torchvision; no tensorflow"),
}


@pytest.fixture
def start(tmp_path):
    """Return a function that runs a program beside the libraries, with or without genuine packages on the disk."""
    folder = tmp_path / "lib" / "site-packages"

    def run(text, *words, genuine=False):
        for name, (needs, code) in LIBRARIES.items():
            write(folder / name / "__init__.py", code)
            write(folder / f"{name}-1.0.dist-info" / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
                  + "".join(f"Requires-Dist: {need}\n" for need in needs))
        write(folder / "trial" / "flow.py", "import tensorflow\nx = tensorflow.__version__\n")
        for name in ("torch", "tensorflow", "keras") if genuine else ():
            write(folder / name / "__init__.py", "raise SystemExit('the genuine one was read')\n")
            write(folder / f"{name}-1.9.dist-info" / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.9\n")
        write(tmp_path / "helper.py", "try:\n    import tensorflow\nexcept ImportError:\n    pass\n")
        write(tmp_path / "program.py", text)
        done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), ROOT])})
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")
    return run


def write(path, text):
    """Write a file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("genuine", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(start, name, genuine):
    words, text, said = PROGRAMS[name]
    assert start(text, "-m", "dragon", "run", *words.split(), "program.py", genuine=genuine) == said


def test_modules_and_code_are_read_too(start):
    text = "import prober\nprint(prober.first[1])\ndef f():\n    import tensorflow\n"
    assert start(text, "-m", "dragon", "run", "-m", "program") == "2.21.0"


def test_offered_and_named_in_code(start):
    text = "import dragon.vm\ndragon.vm.install({})\nimport prober\nprint(*prober.first, sep='; ')\n"
    assert start(text.format(""), "program.py") == "torch torchvision; no tensorflow"
    assert start(text.format("'tensorflow'"), "program.py", genuine=True).endswith("; 2.21.0")
    assert start(text.format("'tensorflow'), dragon.vm.install("), "program.py").endswith("keras; 2.21.0")


def test_letters_of_the_command_line(tmp_path):
    for words, said in ((["--guests"], "got --guests alone, expected a framework after it"),
                        (["--guests", "torch,jax", "x.py"], "got --guests torch,jax, expected some of torch"),
                        (["--guest", "torch", "x.py"], "did you mean --guests?")):
        done = subprocess.run([sys.executable, "-m", "dragon", "run", *words], cwd=tmp_path, capture_output=True,
                              text=True, env={**os.environ, "PYTHONPATH": ROOT})
        assert done.returncode == 2 and said in done.stderr, done.stderr
