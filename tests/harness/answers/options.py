"""pytest's options for recorded answers: how they are found, and what is said of them at the end."""
import os
import random
import shutil
import tempfile

import pytest

from harness import answers


def pytest_addoption(parser):
    """Say which answers of genuine packages are asked for anew."""
    group = parser.getgroup("answers", "answers of genuine packages, recorded in tests/oracles")
    group.addoption("--answers", choices=answers.MODES, default=os.environ.get(answers.MODE, answers.MODES[0]),
                    help="recorded: ask for what is not; twentieth: for a seeded part as well, and compare; check: for "
                         "all, and compare; record: keep what was not; renew: ask for all, keep nothing else")
    group.addoption("--answers-seed", type=int, default=None, help="which twentieth is asked for")


def configure(config):
    """Pass the options on to this process and its children."""
    if hasattr(config, "workerinput"):
        return
    if config.option.answers_seed is None:
        config.option.answers_seed = random.SystemRandom().randrange(10 ** 6)
    os.environ[answers.MODE] = config.option.answers
    os.environ[answers.SEED] = str(config.option.answers_seed)
    os.environ[answers.SPOOL] = tempfile.mkdtemp(prefix="dragon-answers-")


def header(config):
    """Return the line on the twentieth."""
    if config.option.answers != "twentieth":
        return []
    return [f"answers: a twentieth is asked for anew, that of --answers-seed={config.option.answers_seed}"]


def summarize(terminalreporter, config):
    """Record what was asked for, or say how much of it is not recorded."""
    found = answers.collected(os.environ[answers.SPOOL])
    if config.option.answers in ("record", "renew"):
        drops = config.option.answers == "renew" and is_whole(config) and not terminalreporter.stats.get("failed")
        for line in answers.record(found, drops):
            terminalreporter.write_line(f"answers: {line}")
    elif found:
        counts = ", ".join(f"{len(entries)} of {room}" for room, entries in sorted(found.items()))
        terminalreporter.write_line(f"answers: not recorded were {counts}: `make oracles`, or pytest --answers=record")


def is_whole(config):
    """Whether a run is of all tests, so that what nobody asks for is of no test."""
    choices = ("keyword", "markexpr", "deselect", "quick", "changed_since", "only")
    return config.args_source is not pytest.Config.ArgsSource.ARGS and not any(
        getattr(config.option, name, None) for name in choices)


def unconfigure(config):
    """Remove what processes have left."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(answers.SPOOL, ""), ignore_errors=True)
