"""Programs that are run twice, under Dragon and genuinely, and whose printed lines are laid beside each other.

What they print genuinely is recorded (`harness/answers`).
"""
import os
import pathlib
import re

from harness import answers, interpreter

NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def run_program(arguments, folder, preload="", **environment):
    """Return the lines that a program prints, which must end well.

    It runs elsewhere than in the checkout, so that what was installed is what runs, forked where `preload` has run.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    done = interpreter.run(arguments, folder, env=environment, preload=preload)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def genuine_lines(room, script, folder, tolerance, **environment):
    """Return the lines that a program prints by itself, with the genuine packages that it imports."""
    def difference(mine, theirs):
        return len(mine) != len(theirs) or any(differ(*pair, tolerance) for pair in zip(mine, theirs)) or None
    return answers.ask(room, ["lines of", pathlib.Path(script).read_text(encoding="utf-8"), environment],
                       lambda: run_program([script], folder, **environment), f"lines of {script}", difference)


def differ(mine, theirs, tolerance):
    """Return whether two lines differ in words, or in numbers by more than the tolerance."""
    if NUMBER.sub("#", mine) != NUMBER.sub("#", theirs):
        return True
    for a, b in zip(NUMBER.findall(mine), NUMBER.findall(theirs)):
        last_digit = 10.0 ** -len(a.partition(".")[2])
        if abs(float(a) - float(b)) > tolerance * max(abs(float(a)), abs(float(b))) + 1.5 * last_digit:
            return True
    return False


def check_lines(mine, theirs, tolerance, peer):
    """Fail unless both programs printed the same lines."""
    assert len(mine) == len(theirs) > 0, "\n".join(["dragon:", *mine[:40], f"{peer}:", *theirs[:40]])
    apart = [(a, b) for a, b in zip(mine, theirs) if differ(a, b, tolerance)]
    assert not apart, "\n".join(f"dragon:  {a}\n{peer}: {b}" for a, b in apart[:5])
