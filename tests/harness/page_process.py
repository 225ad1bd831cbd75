"""Runs a page in a process of its own, in an empty folder, and checks its commands that a test cannot run."""
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

from harness import interpreter, pages

RUNNER = pathlib.Path(__file__).with_name("page_runner.py")
# For what hangs: a page takes a few seconds, a tutorial less than a minute, on a busy machine many times that.
SECONDS = 420
# Commands that prepare a machine. What follows `make` and `pip install` is looked up; others are taken at their word.
PREPARING = ("make", "pip", "git", "cd", "apt", "apt-get", "sudo", "dnf", "source", ".", "export", "curl")
CHECKOUT = ("benchmarks/", "examples/", "tools/", "tests/", ".ci/", "docs/")


def split_commands(text):
    """Return the lines of a block of commands, without comments, prompts and continuations."""
    lines = [line.removeprefix("$ ") for line in text.replace("\\\n", " ").splitlines()]
    return [line for line in lines if shlex.split(line, comments=True)]


def first_words(line):
    """Return the words of a command behind the variables that it sets."""
    words = shlex.split(line, comments=True)
    while words and re.match(r"^\w+=", words[0]):
        words = words[1:]
    return words


def is_prepared(words):
    """Return whether a command is looked up instead of run."""
    python = words[0] in ("python", "python3", "bash", "sh") or words[0].endswith("/bin/python")
    if python and words[1:3] == ["-m", "pip"]:
        return True
    return words[0] in PREPARING or python and (len(words) < 2 or words[1].startswith(CHECKOUT))


def find_mistakes(words):
    """Return what is wrong with a command that is looked up: targets, extras, files that do not exist."""
    if "pip" in words and "install" in words:
        return find_pip_mistakes(words[words.index("install") + 1:])
    if "make" in words[:2]:
        targets = re.findall(r"^([\w-]+):(?!=)", (pages.ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        asked = [word for word in words[words.index("make") + 1:] if not re.match(r"-|\w+=", word)]
        return [f"make has no target {target!r}" for target in asked if target not in targets]
    return [f"there is no {word}" for word in words if word.startswith(CHECKOUT) and not (pages.ROOT / word).exists()]


def find_pip_mistakes(words):
    """Return what is wrong with the arguments of `pip install`."""
    project = (pages.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    wrong = []
    for word in words:
        found = re.match(r"^([\w.-]+)?(?:\[([\w,]+)\])?", word)
        name, extras = found[1] or "", (found[2] or "").split(",")
        if word.startswith("-") or name.endswith(".whl") or "/" in word:
            continue
        ours = name in (".", "dragon-engine", "dragon_engine")
        if not ours and (name == "dragon" or f'"{name}' not in project):  # a stranger's package has our import's name
            wrong.append(f"pip: {name!r} is neither this project nor a package that it names")
        if ours:
            wrong += [f"pip: there is no extra {extra!r}" for extra in extras
                      if extra and not re.search(rf"^{extra} = \[", project, re.MULTILINE)]
    return wrong


def make_steps(blocks):
    """Return the steps that a child process runs, and what is wrong with commands that it does not."""
    steps, wrong = [], []
    for block in blocks:
        if block.kind in ("output", "words", "excerpt"):
            continue
        text = block.text
        if block.kind == "commands":
            lines = split_commands(text)
            prepared = [line for line in lines if is_prepared(first_words(line))]
            wrong += [f"line {block.line}: {mistake}" for line in prepared
                      for mistake in find_mistakes(first_words(line))]
            text = "\n".join(line for line in lines if line not in prepared)
        if block.reason is None and text.strip():
            steps.append({"kind": block.kind, "text": text, "line": block.line, "name": block.name,
                          "output": block.output})
    return steps, wrong


def write_commands(folder):
    """Write `python`, `python3` and `dragon` as a user has them behind an installation."""
    folder.mkdir()
    for name, words in {"python": "", "python3": "", "dragon": " -m dragon"}.items():
        file = folder / name
        file.write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n', encoding="utf-8")
        file.chmod(0o755)


def make_environment(commands):
    """Return the environment of a page's process: paths that hold in any folder, one thread, no window."""
    path = os.pathsep.join(os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)
                           if entry)
    return {**os.environ, "PYTHONPATH": path, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "MPLBACKEND": "Agg", "DRAGON_NUM_THREADS": os.environ.get("DRAGON_PAGE_THREADS", "1"), "COLUMNS": "100"}


def run_page(path, blocks, folder, cells=False):
    """Run the blocks of a page.

    Parameters
    ----------
    path : str
        The page, relative to the repository.
    blocks : List[harness.pages.Block]
        Its blocks.
    folder : pathlib.Path
        An empty folder, in which the page finds the examples and nothing else.
    cells : bool, optional, default=False
        Whether an expression at the end of a block is shown, as in a notebook.

    Returns
    -------
    Tuple[List[str], Dict]
        What is wrong, and what happened: `answers` for each step, and how many `figures` were drawn.

    """
    steps, wrong = make_steps(blocks)
    for step in steps:
        step["cell"] = cells
    if wrong or not steps:
        return wrong, {"answers": [], "figures": 0}
    home, work, answers = folder / "home", folder / "steps.json", folder / "answers.json"
    home.mkdir()
    (home / "examples").symlink_to(pages.ROOT / "examples")  # which pages name as they lie in the repository
    write_commands(folder / "bin")
    work.write_text(json.dumps({"path": str(pages.ROOT / path), "steps": steps,
                                "figures": os.environ.get("DRAGON_PAGE_FIGURES")}), encoding="utf-8")
    child = interpreter.Program([RUNNER, work, answers], home, make_environment(folder / "bin"), new_session=True,
                                merged=True, preload="import numpy, dragon")
    try:
        said, _ = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        wrong.append(f"{path}: not done after {SECONDS} s")
    finally:
        stop_group(child)
    if not answers.exists():
        return [*wrong, f"{path}: nothing came back; the process said\n{said[-3000:]}"], {"answers": [], "figures": 0}
    found = json.loads(answers.read_text(encoding="utf-8"))
    wrong += [text for answer in found["answers"] for text in answer["wrong"]]
    if not wrong and (child.returncode or len(found["answers"]) < len(steps)):
        wrong.append(f"{path}: the process ended with {child.returncode}\n{said[-3000:]}")
    return wrong, found


def stop_group(child):
    """End a process and all that it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.communicate()
