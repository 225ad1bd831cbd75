"""Programs run in processes of their own, with shapes only or for real, and what a step of each was."""
import json
import os
import subprocess
import sys
import tempfile

from dragon.command.parser import Mistake
from dragon.command.program import one_line, short

# A program for several processes finds itself alone: what others would do, the plan works out.
ALONE = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1",
         "MASTER_PORT": "29500"}
START = "from dragon.command.planning.child import main; main()"


def run(script, words, timeout, copies=1, environment=None, **options):
    """Run a program until some steps are done, and return what each copy of it wrote down.

    Parameters
    ----------
    script : str
        The program.
    words : Sequence[str]
        Its own words.
    timeout : float
        After how many seconds it is given up.
    copies : int, optional, default=1
        How many run at once, each alone in its world.
    environment : Dict[str, str], optional
        What they find in their environment, besides this process's.
    **options
        "steps": how many; "real": whether they are computed, and timed.

    Returns
    -------
    List[dict]
        One for each copy. A program that fails, or takes no step, is a `Mistake`.

    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory(prefix="dragon-plan-") as folder:
        started = []
        try:
            for copy in range(copies):
                report = os.path.join(folder, f"{copy}.json")
                told = {"steps": 2, "real": False, **options, "report": report}
                log = open(os.path.join(folder, f"{copy}.txt"), "w+b")
                process = subprocess.Popen([sys.executable, "-c", START, json.dumps(told), script, *words], stdout=log,
                                           stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                                           env={"MPLBACKEND": "Agg", **os.environ, **ALONE, **(environment or {}),
                                                "PYTHONPATH": path})
                started.append((process, report, log))
            return [_read(script, *one, timeout) for one in started]
        finally:
            for process, _, log in started:
                process.kill()
                process.wait()
                log.close()


def _read(script, process, report, log, timeout):
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        raise Mistake(f"got {short(script)!r}, which took no step of an optimizer within {timeout:g} seconds, expected "
                      "one; --timeout gives it longer") from None
    try:
        with open(report, encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError):
        log.seek(0)
        last = (log.read().decode(errors="replace").strip().splitlines() or ["no word"])[-1]
        raise Mistake(f"got {short(script)!r}, which ended with status {process.returncode} ({one_line(last)}), "
                      "expected a step of an optimizer") from None
    error = told["error"]
    if "step" not in told and error:
        where = f"{short(error['place'][0])}:{error['place'][1]}: " if error["place"] else ""
        raise Mistake(f"got {where}{error['type']}: {one_line(error['message'])}, expected a step of an optimizer")
    if "step" not in told:
        raise Mistake(f"got {short(script)!r}, which ended after no step, expected one of an optimizer of torch.optim")
    return told
