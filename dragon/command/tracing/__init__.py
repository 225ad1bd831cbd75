"""What `dragon verify` has run in each of two processes: the program, seeded, with a tracer beside it."""
import json
import os
import sys
import threading
import time

STOPPED = 240  # the status of a program that was ended since enough lines were looked at


def main():
    """Run a program beside a tracer; the words are options as JSON, then the script and its own words."""
    options, script, *rest = json.loads(sys.argv[1]), *sys.argv[2:]
    from dragon.command import run
    from dragon.command.tracing.tracer import Enough, Tracer
    if options["side"] == "dragon":
        import dragon
        dragon.__version__  # reads the package, which stands unread in `sys.modules` (see `dragon/command/unread.py`)
        run.alias.install()
    seed = make_seeder(options["seed"])
    seed()
    # Without a buffer: what was seen is there however the program ends, and no forked process has a part of it.
    with open(options["events"], "wb", buffering=0) as file:
        os.register_at_fork(after_in_child=lambda: leave_alone(tracer))
        tracer = Tracer(file, os.path.dirname(os.path.realpath(script)), options["lines"], options["thorough"], seed)
        start, said = time.perf_counter(), {}
        hook, sys.excepthook = sys.excepthook, remember(said, tracer, Enough)
        try:
            threading.settrace(None)
            sys.settrace(tracer.on_call)
            run.run_file(script, rest)
        except Enough:
            said["stopped"] = True
        except SystemExit as leaving:
            said["status"] = leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 1
        except BaseException:  # was told by the hook
            pass
        finally:
            sys.settrace(None)
            sys.excepthook = hook
            tracer.over = True
        said["seconds"] = time.perf_counter() - start - tracer.spent
        said["traced"] = tracer.lines
        tracer.write("end", json.dumps(said))
        sys.stdout.flush()
    # Threads of the program's own may go on; what they do is no longer looked at.
    sys.exit(STOPPED if "stopped" in said else 0)


def leave_alone(tracer):
    """Look no longer, and write no more, in a process that the program forked: the file is its parent's."""
    sys.settrace(None)
    threading.settrace(None)
    tracer.over = True
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, tracer.file.fileno())
    os.close(nowhere)


def remember(said, tracer, enough):
    """Return an exception hook that notes what a program died of, and where in its own files."""
    from dragon.command.tracing.tracer import kinds_of

    def hook(kind, error, traceback):
        if kind is enough:
            return
        place = None
        while traceback is not None:
            path = traceback.tb_frame.f_code.co_filename
            if tracer.is_own(path):
                place = [path, traceback.tb_lineno]
            traceback = traceback.tb_next
        said["error"] = {"type": kind.__name__, "message": str(error), "place": place, "kinds": kinds_of(kind)}
        sys.__excepthook__(kind, error, error.__traceback__)
    return hook


def make_seeder(seed):
    """Return a function that seeds the generators of whatever has been imported since it was last called."""
    import random
    done = set()

    def seeded():
        for name, find in SEEDED.items():
            module = sys.modules.get(name)
            if module is not None and name not in done:
                function = find(module)
                if function is not None:
                    done.add(name)
                    function(seed)
    random.seed(seed)
    import numpy
    numpy.random.seed(seed)
    return seeded


SEEDED = {
    "torch": lambda torch: getattr(torch, "manual_seed", None),
    "tensorflow": lambda tensorflow: getattr(getattr(tensorflow, "random", None), "set_seed", None),
    "keras": lambda keras: getattr(getattr(keras, "utils", None), "set_random_seed", None),
}
