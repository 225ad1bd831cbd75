"""The short form of the hunt with threads: a seeded part of its programs, and some hundred calls of each."""
import pathlib
import random
import sys
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import thread_programs  # noqa: E402  (stands beside this file)
import threads  # noqa: E402

CALLS = 160
# By every face, and by what keeps state from one call to the next.
ALWAYS = ("torch.compile.sized.None", "torch.compile.sized.True", "torch.compile.looking.None", "torch.compile.module",
          "torch.compile.broken.None", "torch.compile.gradients", "torch.jit.trace", "torch.export", "torch.vmapped",
          "torch.autocast", "tf.function.branch.", "tf.function.scale.reduce_retracing", "keras.predict", "torch.hooks",
          "function.add", "function.softmax")
SAMPLE = 24


@pytest.fixture(scope="module")
def programs():
    """Return {name: (a program, the same made anew)}."""
    return {pair[0].name: pair for pair in threads.pairs("")}


def test_every_thread_gets_the_answers_of_one(programs):
    """Six threads call the same functions; the sample of other programs is seeded."""
    names = [*ALWAYS, *random.Random(20261128).sample(sorted(set(programs) - set(ALWAYS)), SAMPLE)]
    hunt = threads.Hunt(threads=6, seed=1)
    hunt.run([programs[name] for name in names], CALLS)
    assert hunt.calls == sum(CALLS // 6 * 6 for _ in names)
    assert not hunt.findings, hunt.findings[:3]


def test_with_a_change_of_threads_between_lines_of_the_capture(programs):
    names = [name for name in ALWAYS if "compile" in name]
    hunt = threads.Hunt(threads=4, seed=2, yields=True)
    hunt.run([programs[name] for name in names], 48)
    assert not hunt.findings, hunt.findings[:3]


def test_the_hunt_notices_another_calls_answer():
    """A function that keeps its argument where all threads see it."""
    kept = {}
    turn = threading.Event()

    def call(index):
        kept["index"] = index
        turn.wait(0.0005)  # others come in between
        return [[kept["index"]]]
    alone = thread_programs.Program("kept", lambda index: [[index]])
    hunt = threads.Hunt(threads=4, seed=3, interval=sys.getswitchinterval())
    hunt.run([(thread_programs.Program("kept", call), alone)], 200)
    assert hunt.findings and "another call's answer" in hunt.findings[0]["what"]
