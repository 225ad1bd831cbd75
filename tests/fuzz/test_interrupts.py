"""Exceptions of signal handlers at moments of small programs; `make hunt-interrupts` walks all moments of all."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

HUNT = pathlib.Path(__file__).with_name("interrupts.py")
SEED = os.environ.get("HUNT_SEED", "0")
# Programs, and how many of the moments of each.
SHORT = {"capture": 6, "modes": 20, "backward": 10, "dispatch": 6, "gradient_tape": 10, "quiet": 10,
         "onnx": 6, "export": 2}


def test_programs_are_interrupted(tmp_path):
    """One process for all: each begins with imports, which take most of the time."""
    programs = [f"{name}={most}" for name, most in SHORT.items()]
    done = subprocess.run([sys.executable, str(HUNT), "--child", "--timers", "0", "--seed", SEED, *programs],
                          capture_output=True, text=True, timeout=300, cwd=tmp_path)
    reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"program"')]
    assert [report["program"] for report in reports] == list(SHORT), done.stderr[-2000:]
    findings = [finding for report in reports for finding in report["findings"]]
    if findings:
        pytest.fail("\n".join(json.dumps(finding) for finding in findings[:10]), pytrace=False)
    assert all(report["interrupts"] >= SHORT[report["program"]] // 2 for report in reports)


def test_an_error_of_a_handler_is_told_apart():
    """By the handler in its traceback, where its class does not tell."""
    import signal

    from dragon.core.interrupts import is_interrupt

    def handler(*_):
        raise ValueError("late")
    former = signal.signal(signal.SIGUSR1, handler)
    try:
        try:
            signal.raise_signal(signal.SIGUSR1)
        except ValueError as error:
            assert is_interrupt(error)
        try:
            int("no number")
        except ValueError as error:
            assert not is_interrupt(error)
    finally:
        signal.signal(signal.SIGUSR1, former)
    assert is_interrupt(KeyboardInterrupt())


class Undone:
    """A list of what was done."""

    def __init__(self):
        self.told = []

    def switch(self, value):
        """Become a value; return what was."""
        self.told.append(value)
        return len(self.told) - 1


def test_scopes_undo_in_reverse_and_again_after_an_interrupt():
    from dragon.core.scopes import ExitStack

    undone, calls = Undone(), []

    def interrupted():
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt
    stack = []
    with pytest.raises(KeyboardInterrupt):
        with ExitStack() as exits:
            assert exits.switch(undone.switch, "new") == 0
            exits.callback(interrupted)
            exits.push(stack, 1)
            assert stack == [1]
            assert exits.set(undone, "other", 5) is None
            assert undone.other == 5
    assert len(calls) == 2
    assert undone.told == ["new", 0]
    assert stack == [] and not hasattr(undone, "other")


def test_a_generator_scope_is_as_pythons():
    """Exceptions go through, or are taken; what does not stop is refused."""
    import contextlib

    from dragon.core import scopes

    def both(function):
        return scopes.contextmanager(function), contextlib.contextmanager(function)

    def plain():
        try:
            yield 3
        except KeyError:
            pass

    def endless():
        yield
        yield

    def empty():
        return
        yield

    def other():
        try:
            yield
        except ValueError as error:
            raise TypeError("other") from error

    def outcome(make, error):
        try:
            with make() as value:
                if error is not None:
                    raise error
            return value
        except Exception as problem:
            return type(problem), str(problem), type(problem.__cause__)
    for function in (plain, endless, empty, other):
        ours, theirs = both(function)
        for error in (None, KeyError("k"), ValueError("v"), StopIteration("s"), RuntimeError("r")):
            assert outcome(ours, error) == outcome(theirs, error), (function.__name__, error)


@pytest.mark.parametrize("read", [len, lambda x: x.__len__(), lambda x: x.shape[0]])
def test_an_interrupt_while_a_number_is_written_down(monkeypatch, read):
    """The line of the user's program is looked for from within slots of C."""
    import dragon
    from dragon.core.capture import procedure

    def interrupted():
        raise KeyboardInterrupt
    step = dragon.function(lambda x: (x * x).sum(0) / read(x))
    monkeypatch.setattr(procedure, "user_line", interrupted)
    for size in (1, 2, 3, 5):
        try:
            step(dragon.ones(size))
        except KeyboardInterrupt:
            pass
    monkeypatch.undo()
    assert float(step(dragon.ones(7))) == 1
