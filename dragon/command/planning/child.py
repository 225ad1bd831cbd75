"""The process of a dry run: a program that is run with shapes only, as one rank, and its step as JSON."""
import contextlib
import json
import os
import sys

from dragon.core import modes
from dragon.core.scopes import ExitStack


def main():
    """Run a program; the words are options as JSON, then the script and its own words."""
    options, script, *rest = json.loads(sys.argv[1]), *sys.argv[2:]
    from dragon.command import run
    run.alias.install()
    from dragon.command.planning import timeline
    from dragon.command.planning.answers import Answers
    from dragon.command.planning.watcher import Enough, Watcher
    from dragon.distributed.work import Runner
    from dragon.vm import torch
    from dragon.command.planning.timing import Stopwatch
    answers, error = Answers(), {}
    watcher = (Stopwatch if options["real"] else Watcher)(options["steps"])
    sys.excepthook = _remember(error, Enough, os.path.dirname(os.path.realpath(script)))
    status = 0
    with contextlib.ExitStack() as stack:
        if not options["real"]:
            stack.enter_context(answers.given(torch.Tensor))
            Runner.begin = begin_here
        modes.set_phantom(not options["real"])
        watcher.start()
        try:
            run.run_file(script, rest)
        except SystemExit as leaving:
            status = leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 1
        except BaseException:  # was told to the hook
            pass
    modes.set_phantom(False)
    told = {"error": error.get("error"), "status": status, "steps": watcher.steps,
            "asked": [[path, line, count] for (path, line), count in answers.places.items()]}
    step = watcher.tell() if options["real"] else watcher.step and timeline.tell(watcher)
    if step:
        told["step"] = step
    with open(options["report"], "w", encoding="utf-8") as file:
        json.dump(told, file)
    sys.stdout.flush()
    os._exit(0)  # threads of the program's own may go on for ever


def begin_here(runner, call, result=None, like=None):
    """Make a call that a group would make in the background, where shapes are enough: there is nobody to wait for."""
    from dragon.distributed.work import Work
    work, error = Work(result), None
    with ExitStack() as exits:
        exits.switch(modes.set_recording, False)
        try:
            call()
        except Exception as problem:  # it belongs to who waits
            error = problem
    work.finish(error)
    return work


def _remember(error, enough, folder):
    """Return an exception hook that notes what the program died of."""
    def hook(kind, raised, traceback):
        if kind is enough:
            return
        place = None
        while traceback is not None:
            path = traceback.tb_frame.f_code.co_filename
            place = [path, traceback.tb_lineno] if path.startswith(folder + os.sep) else place
            traceback = traceback.tb_next
        error["error"] = {"type": kind.__name__, "message": str(raised) or kind.__name__, "place": place}
    return hook
