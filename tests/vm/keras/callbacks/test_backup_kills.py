"""Trainings with `BackupAndRestore` that are killed go on as if nothing had been, as those of genuine Keras do."""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile

import pytest

from harness import answers

PROGRAM = pathlib.Path(__file__).with_name("backup_kills.py")


def run(*words, ends=0):
    """Run the program; return what it printed."""
    done = subprocess.run([sys.executable, str(PROGRAM), *map(str, words)], capture_output=True, text=True, timeout=900,
                          cwd=tempfile.gettempdir())
    assert done.returncode == ends, done.stdout + done.stderr[-3000:]
    return done.stdout


def read(folder):
    """Return the losses of a training that has ended well, [(epoch, loss), ...]."""
    assert not (folder / "backup").exists()
    lines = [line.split() for line in (folder / "losses").read_text().splitlines()]
    return [(int(epoch), float.fromhex(loss)) for epoch, loss in lines]


def train(folder, options, *kills):
    """Train, die at each of some (epoch, batch), and train to the end; return [(epoch, loss), ...]."""
    folder.mkdir()
    run("kill", folder, json.dumps(options), *(number for place in kills for number in place))
    return read(folder)


def train_genuine(options, kill):
    """Train with genuine Keras, die at (epoch, batch), and train to the end; return [[epoch, loss], ...]."""
    pytest.importorskip("tensorflow", reason="genuine Keras, the oracle, runs on it")
    with tempfile.TemporaryDirectory() as folder:
        run("train", "genuine", folder, json.dumps(options), *kill, ends=-signal.SIGKILL)
        run("train", "genuine", folder, json.dumps(options))
        return [list(pair) for pair in read(pathlib.Path(folder))]


def test_a_death_in_a_backup_changes_no_loss(tmp_path):
    assert run("hunt", tmp_path, "{}", 9, 3, 1).endswith(" 3 at random, 0 went wrong\n")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("options", [{}, {"double_checkpoint": True}], ids=str)  # by batches, epochs are begun again
@pytest.mark.long("a training is killed at many moments and begun anew each time")
def test_a_death_in_a_backup_of_either_kind_changes_no_loss(options, tmp_path):
    """At every fourth step; the program by itself dies at each, as often as one likes."""
    assert run("hunt", tmp_path, json.dumps(options), 4, 5, 2).endswith(" 5 at random, 0 went wrong\n")


@pytest.mark.parametrize("options", [{}, {"save_freq": 3}], ids=str)
def test_losses_are_those_of_genuine_keras_killed_as_well(options, tmp_path):
    mine = train(tmp_path / "dragon", options, (2, 2))
    theirs = answers.ask("keras", [PROGRAM.read_text(encoding="utf-8"), options, [2, 2]],
                         lambda: train_genuine(options, (2, 2)), title="losses of a training that is killed")
    assert [epoch for epoch, _ in mine] == [epoch for epoch, _ in theirs] == [0, 1, 2, 3, 4]
    assert [loss for _, loss in mine] == pytest.approx([loss for _, loss in theirs], rel=1e-5)


def test_several_deaths_change_no_loss(tmp_path):
    calm = train(tmp_path / "calm", {})
    assert train(tmp_path / "killed", {}, (0, 1), (2, 2), (2, 0), (4, 4)) == calm


def test_the_epoch_is_known_to_a_training_that_is_killed_twice_in_it(tmp_path):
    losses = train(tmp_path / "killed", {"save_freq": 3}, (2, 2), (2, 4))  # genuine Keras begins with 0 then
    assert [epoch for epoch, _ in losses] == [0, 1, 2, 3, 4]


def test_a_backup_without_weights_is_none(tmp_path):
    calm = train(tmp_path / "calm", {})
    (tmp_path / "other" / "backup").mkdir(parents=True)
    (tmp_path / "other" / "backup" / "training_metadata.json").write_text('{"epoch": 4, "batch": 0}')
    (tmp_path / "other" / "backup" / "next.weights.h5").write_bytes(b"cut off")
    run("train", "dragon", tmp_path / "other", "{}")
    assert read(tmp_path / "other") == calm
