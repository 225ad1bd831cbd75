"""What `dragon check --run` has beside a program in its process: absent names, warnings, steps, and where time goes."""
import collections
import json
import linecache
import os
import re
import signal
import sys
import threading
import time
import warnings

PERIOD_SECONDS = 0.01  # between two looks at the line that runs
HOTTEST = 5


class Enough(BaseException):
    """Ends a program that has run for long enough."""


class Witness:
    """What is written down about a program.

    Parameters
    ----------
    folder : str
        The program's folder; lines of files below it are its own.
    steps : int
        After how many steps of its optimizers the program ends, or None.

    """

    def __init__(self, folder, steps):
        self.folder, self.limit = folder + os.sep, steps
        self.steps, self.samples, self.places = 0, 0, collections.Counter()
        self.absent, self.warnings, self.done = {}, {}, threading.Event()

    def own_line(self, frame):
        """Return (file, line) of the innermost line of the program's own, or None."""
        while frame is not None:
            path = frame.f_code.co_filename
            if path.startswith(self.folder) and "site-packages" not in path:
                return path, frame.f_lineno
            frame = frame.f_back
        return None

    def watch_names(self):
        """Note names that the program asks for and Dragon lacks, whether it can do without or not."""
        from dragon.vm import guest
        explain = guest.explain

        def noting(module, name, known):
            error = explain(module, name, known)
            place = self.own_line(sys._getframe(1))
            if place is not None:
                near = re.search(r"(?:the nearest name is|did you mean) '([^']+)'", str(error))
                self.absent.setdefault((*place, f"{module}.{name}"), near and near[1])
            return error
        guest.explain = noting

    def watch_warnings(self):
        """Note warnings, as well as show them."""
        show = warnings.showwarning

        def noting(message, category, filename, lineno, file=None, line=None):
            place = (filename, lineno) if filename.startswith(self.folder) else (
                self.own_line(sys._getframe(1)) or (filename, lineno))
            self.warnings.setdefault((*place, category.__name__, str(message)), None)
            show(message, category, filename, lineno, file, line)
        warnings.showwarning = noting

    def watch_steps(self, name, module):
        """Count the steps of a guest's optimizers, once the program has imported it."""
        if name == "torch":
            module.optim.optimizer.register_optimizer_step_post_hook(lambda *_: self.step())
        else:
            kind = module.optimizers.Optimizer
            apply = kind.apply

            def counting(optimizer, *args, **kwargs):
                answer = apply(optimizer, *args, **kwargs)
                self.step()
                return answer
            kind.apply = counting

    def step(self):
        """Note a step; end the program after the last."""
        self.steps += 1
        if self.limit and self.steps >= self.limit:
            raise Enough

    def sample(self, thread):
        """Look at the line that a thread runs, again and again; a thread of its own does."""
        while not self.done.wait(PERIOD_SECONDS):
            place = self.own_line(sys._current_frames().get(thread))
            self.samples += 1
            if place is not None:
                self.places[place] += 1

    def report(self):
        """Return what was seen, as a dict that JSON can hold."""
        hot = [{"file": path, "line": line, "share": count / self.samples,
                "source": linecache.getline(path, line).strip()}
               for (path, line), count in self.places.most_common(HOTTEST)]
        return {"steps": self.steps, "hot": hot,
                "absent": [{"file": path, "line": line, "name": name, "nearest": near}
                           for (path, line, name), near in self.absent.items()],
                "warnings": [{"file": path, "line": line, "kind": kind, "message": message}
                             for path, line, kind, message in self.warnings]}


def main():
    """Run a program beside a witness; the words are options as JSON, then the script and its own words."""
    options, script, *rest = json.loads(sys.argv[1]), *sys.argv[2:]
    from dragon.command import run
    run.alias.install()
    witness = Witness(os.path.dirname(os.path.realpath(script)), options["steps"])
    witness.watch_names()
    witness.watch_warnings()
    watch_imports(witness)
    error, start = {}, time.perf_counter()
    sys.excepthook = remember(error, witness)
    signal.signal(signal.SIGUSR1, lambda *_: enough())
    threading.Thread(target=witness.sample, args=(threading.get_ident(),), daemon=True).start()
    status = None
    try:
        run.run_file(script, rest)
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 1
    except BaseException:  # was told to the hook
        pass
    witness.done.set()
    finish(options["report"], witness, error, status, time.perf_counter() - start)


def enough():
    """End the program."""
    raise Enough


def watch_imports(witness):
    """Count steps from the moment on when the program's guest has been imported."""
    import builtins
    plain, waiting = builtins.__import__, ["torch", "keras"]

    def importing(*args, **kwargs):
        module = plain(*args, **kwargs)
        for name in list(waiting):
            found = sys.modules.get(name)
            if found is not None and not getattr(found.__spec__, "_initializing", False):
                waiting.remove(name)
                witness.watch_steps(name, found)
        return module
    builtins.__import__ = importing


def remember(error, witness):
    """Return an exception hook that notes what the program died of."""
    def hook(kind, raised, traceback):
        if kind is Enough:
            error["ended"] = True
            return
        place = None
        while traceback is not None:
            path = traceback.tb_frame.f_code.co_filename
            place = [path, traceback.tb_lineno] if path.startswith(witness.folder) else place
            traceback = traceback.tb_next
        error["error"] = {"type": kind.__name__, "message": str(raised) or kind.__name__, "place": place}
        sys.__excepthook__(kind, raised, raised.__traceback__)
    return hook


def finish(path, witness, error, status, seconds):
    """Write the report."""
    import resource
    told = {**witness.report(), "error": error.get("error"), "seconds": seconds, "status": status,
            "peak memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
    if error.get("ended"):
        told["ended"] = f"after {witness.steps} steps"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file)
    sys.stdout.flush()
    os._exit(0)  # threads of the program's own may go on for ever
