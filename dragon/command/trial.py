"""`dragon check --run`: a program run for a while in a process of its own, and what happened there."""
import json
import os
import signal
import subprocess
import sys
import tempfile

from dragon.core.units import count_bytes
from dragon.command.program import one_line, short

GRACE_SECONDS = 10  # between asking a program to end and ending it
START = "from dragon.command.witness import main; main()"


def run(script, words, steps, timeout):
    """Run a script under Dragon, bounded, and return what its witness wrote down.

    Parameters
    ----------
    script : str
        The program.
    words : Sequence[str]
        Its own words.
    steps : int
        After how many steps of its optimizers it is ended, or None.
    timeout : float
        After how many seconds it is ended.

    Returns
    -------
    dict
        The report.

    """
    with tempfile.TemporaryDirectory(prefix="dragon-check-") as folder:
        report = os.path.join(folder, "report.json")
        options = {"report": report, "steps": steps}
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        with open(os.path.join(folder, "out"), "wb") as out, open(os.path.join(folder, "err"), "wb") as err:
            process = subprocess.Popen([sys.executable, "-c", START, json.dumps(options), script, *words],
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                                       env={"MPLBACKEND": "Agg", **os.environ, "PYTHONPATH": path})
            cut = wait(process, timeout)
        with open(os.path.join(folder, "err"), encoding="utf-8", errors="replace") as file:
            last = (file.read().strip().splitlines() or [""])[-1]
        try:
            with open(report, encoding="utf-8") as file:
                found = {**json.load(file), "last": last}
        except (OSError, ValueError):
            found = {"steps": 0, "seconds": None, "absent": [], "warnings": [], "hot": [], "peak memory": None,
                     "error": {"type": f"status {process.returncode}", "message": last or "no word", "place": None}}
        if cut:
            found["ended"] = f"after {timeout:g} seconds"
            found["error"] = None if found["error"] is None or found["error"]["type"] == "Enough" else found["error"]
        return found


def wait(process, timeout):
    """Wait for a process; ask it to end when its time is over, then end it; return whether that was so."""
    try:
        process.wait(timeout)
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGUSR1)
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # its workers, and itself if it did not hear
        except ProcessLookupError:
            pass
        process.wait()
    return True


def judge(found):
    """Return (verdict, reason) of a run."""
    end = f", as far as it was run ({found['ended']})" if found.get("ended") else ""
    if found["error"]:
        place = found["error"]["place"]
        where = f"{short(place[0])}:{place[1]}: " if place else ""
        return "fails", f"{where}{found['error']['type']}: {one_line(found['error']['message'])}"
    if found.get("status"):
        said = f": {found['last']}" if found["last"] else ""
        return "fails", f"it ended with status {found['status']}{said}"
    slow = [entry for entry in found["warnings"] if entry["kind"] == "CaptureWarning"]
    if slow:
        return "runs slower", f"{short(slow[0]['file'])}:{slow[0]['line']}: {slow[0]['message']}{end}"
    return "runs", f"no error and no fall-back{end}"


def as_lines(found):
    """Return what happened, as lines."""
    seconds = "" if found["seconds"] is None else f" in {found['seconds']:.2f} s"
    memory = "" if found["peak memory"] is None else f", peak {count_bytes(found['peak memory'])}"
    lines = [f"ran: {found['steps']} optimizer steps{seconds}{memory}"]
    lines += [f"{short(entry['file'])}:{entry['line']}: asked for `{entry['name']}`, which is not there"
              + (f"; the nearest is {entry['nearest']}" if entry["nearest"] else "") for entry in found["absent"]]
    lines += [f"{short(entry['file'])}:{entry['line']}: {entry['kind']}: {entry['message']}"
              for entry in found["warnings"]]
    return lines + [f"time: {entry['share']:4.0%} at {short(entry['file'])}:{entry['line']}: {entry['source']}"
                    for entry in found["hot"]]
