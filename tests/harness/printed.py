"""Programs that are run twice, under Dragon and genuinely, and whose printed lines are laid beside each other."""
import os
import re

from harness import interpreter

NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def run_program(arguments, folder, preload="", **environment):
    """Return the lines that a program prints, which must end well.

    It runs elsewhere than in the checkout, so that what was installed is what runs, forked where `preload` has run.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    done = interpreter.run(arguments, folder, env=environment, preload=preload)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


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
