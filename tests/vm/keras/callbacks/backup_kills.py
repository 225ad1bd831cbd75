"""A training with `BackupAndRestore`, which is killed in the middle of an epoch or of a backup, and started anew.

    python backup_kills.py train FACE FOLDER OPTIONS EPOCH BATCH   trains; kills itself at a batch of an epoch
    python backup_kills.py kill FOLDER OPTIONS EPOCH BATCH ...     trains, is killed at each of these, and trains on
    python backup_kills.py hunt FOLDER OPTIONS EVERY KILLS SEED    dies at each EVERY-th step of a backup, and at random

FACE is "dragon" or "genuine"; OPTIONS are those of the callback, as JSON.
"""
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

EPOCHS, BATCHES = 5, 5
# What a backup does to files, each a moment to die at: before it, and after it.
STEPS = ("open", "fsync", "replace", "remove", "unlink", "rmdir", "mkdir")


def load(face):
    """Return Keras."""
    if face == "genuine":
        os.environ.update(KERAS_BACKEND="tensorflow", TF_CPP_MIN_LOG_LEVEL="3")
        import keras
    else:
        from dragon.vm import keras
    return keras


def make(keras):
    """Return a compiled model and its data, always the same."""
    import numpy as np
    chance = np.random.RandomState(0)
    x, y = chance.standard_normal((8 * BATCHES, 6)).astype("float32"), chance.randint(0, 3, 8 * BATCHES)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(3)])
    model.set_weights([0.3 * chance.standard_normal(value.shape).astype("float32") for value in model.get_weights()])
    model.compile(keras.optimizers.Adam(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model, x, y


def train(keras, folder, options, epoch=-1, batch=-1, around=None):
    """Train, and die at the end of a batch of an epoch; `around` is called with the backups' method."""
    model, x, y = make(keras)

    class Note(keras.callbacks.Callback):
        """Writes losses down, and ends the process."""

        def on_epoch_begin(self, epoch, logs=None):
            self.epoch = epoch

        def on_train_batch_end(self, at, logs=None):
            if (self.epoch, at) == (epoch, batch):
                os.kill(os.getpid(), signal.SIGKILL)

        def on_epoch_end(self, epoch, logs=None):
            with open(os.path.join(folder, "losses"), "a") as file:
                file.write(f"{epoch} {float(logs['loss']).hex()}\n")

    backup = keras.callbacks.BackupAndRestore(os.path.join(folder, "backup"), **options)
    if around is not None:
        backup._save_model = around(backup._save_model)
    model.fit(x, y, batch_size=8, epochs=EPOCHS, shuffle=False, verbose=0, callbacks=[Note(), backup])


def die_at(number):
    """Have this process die at a step of its third backup, or of the end, as STEPS and those before them count."""
    backups, steps = [0], [0]

    def counted(work):
        def call(*args, **kwargs):
            steps[0] += backups[0] >= 3
            if backups[0] >= 3 and steps[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return work(*args, **kwargs)
        return call

    def around(save):
        def call():
            backups[0] += 1
            save()
        return call
    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))
    return around


def die_after(seconds):
    """Have this process die some time after its third backup has begun, or when that has ended."""
    count = [0]

    def around(save):
        def call():
            count[0] += 1
            if count[0] == 3:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process at once, as SIGKILL would
                signal.setitimer(signal.ITIMER_REAL, seconds)
            save()
        return call
    return around


def in_child(work):
    """Return how a child ended that does some work."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            import traceback
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def read(folder):
    """Return {epoch: its losses, each once}."""
    found = {}
    for line in pathlib.Path(folder, "losses").read_text().splitlines():
        epoch, loss = line.split()
        found.setdefault(int(epoch), set()).add(loss)
    return found


def load_warm(folder):
    """Return Keras after a training, so that those of children need not import what a training needs: half a second."""
    keras = load("dragon")
    with tempfile.TemporaryDirectory(dir=folder) as place:
        train(keras, place, {})
    keras.utils.clear_session()
    return keras


def kill(folder, options, *places):
    """Train, die at each (epoch, batch), and train to the end; return 1 if anything ended otherwise."""
    keras = load_warm(folder)
    ends = [in_child(lambda: train(keras, folder, options, *place)) for place in zip(places[::2], places[1::2])]
    ends.append(in_child(lambda: train(keras, folder, options)))
    if ends != [-signal.SIGKILL] * (len(ends) - 1) + [0]:
        print(f"ended with {ends}")
        return 1
    return 0


def hunt(folder, options, every, kills, seed):
    """Kill trainings, each once, and begin them anew; print what went wrong, and how many there were."""
    keras, chance, told = load_warm(folder), random.Random(seed), 0

    def play(name, around):
        place = os.path.join(folder, name)
        os.mkdir(place)
        status = in_child(lambda: train(keras, place, options, around=around()))
        again = in_child(lambda: train(keras, place, options)) if status else None
        left = sorted(os.listdir(place))
        if status > 0 or again or read(place) != calm or left != ["losses"]:
            print(f"{name}: ended with {status}, then with {again}, left {left}, losses {read(place)}")
            return status, 1
        return status, 0
    os.mkdir(os.path.join(folder, "calm"))
    begun = time.monotonic()
    in_child(lambda: train(keras, os.path.join(folder, "calm"), options))
    seconds, calm, status, count = time.monotonic() - begun, read(os.path.join(folder, "calm")), -1, 0
    while status:
        count += every
        status, wrong = play(f"step-{count}", lambda: die_at(count))
        told += wrong
    for number in range(kills):
        told += play(f"random-{number}", lambda: die_after(max(chance.random() * seconds / 5, 1e-4)))[1]
    print(f"{count // every - 1} steps, {kills} at random, {told} went wrong")
    return told


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(load(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]), *map(int, sys.argv[5:]))
    elif sys.argv[1] == "kill":
        sys.exit(kill(sys.argv[2], json.loads(sys.argv[3]), *map(int, sys.argv[4:])))
    else:
        sys.exit(bool(hunt(sys.argv[2], json.loads(sys.argv[3]), *map(int, sys.argv[4:]))))
