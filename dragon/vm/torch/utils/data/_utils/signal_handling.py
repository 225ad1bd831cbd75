"""Deaths of worker processes, told where they are waited for: for loaders that start processes of their own."""
import faulthandler
import os
import signal
import threading

_watched = {}  # {key of a loader: {pids of its workers}}
_handler_set = False


def _set_worker_pids(loader_id, child_pids):
    """Watch the worker processes of a loader."""
    if not isinstance(child_pids, tuple):
        raise TypeError(f"_set_worker_pids expects a tuple for child_pids, but got {type(child_pids).__name__}.")
    if loader_id in _watched:
        raise ValueError("_set_worker_pids should be called only once for each _BaseDataLoaderIter.")
    _watched[loader_id] = set(child_pids)


def _remove_worker_pids(loader_id):
    """Watch the worker processes of a loader no longer."""
    if loader_id not in _watched:
        raise ValueError(f"Cannot find worker information for _BaseDataLoaderIter with id {loader_id}")
    del _watched[loader_id]


def _error_if_any_worker_fails():
    """Raise a RuntimeError if a watched process was killed or has left with a code that is not 0."""
    for pids in list(_watched.values()):  # other threads may begin and end loaders meanwhile
        for pid in list(pids):
            trouble = _trouble_of(pid)
            if trouble:
                pids.clear()  # told once
                raise RuntimeError(f"DataLoader worker (pid {pid}) {trouble}")


def _trouble_of(pid):
    """Return how a process ended, None if it is alive or ended well; whoever joins it finds it as it was."""
    try:
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None  # joined, or a process of another's
    if ended is None:
        return None
    if ended.si_code == os.CLD_EXITED:
        if not ended.si_status:
            return None
        return (f"exited unexpectedly with exit code {ended.si_status}. Details are lost due to multiprocessing. "
                "Rerunning with num_workers=0 may give better error trace.")
    memory = ("It is possible that dataloader's workers are out of shared memory. Please try to raise your shared "
              "memory limit." if ended.si_status == signal.SIGBUS else "")
    return f"is killed by signal: {signal.strsignal(ended.si_status)}. {memory}"


def _set_worker_signal_handlers():
    """Have a worker that crashes say where on its standard error."""
    if not faulthandler.is_enabled():
        try:
            faulthandler.enable(all_threads=False)
        except (AttributeError, OSError, ValueError):
            pass  # there is no standard error to write to


def _set_SIGCHLD_handler():
    """Have `_error_if_any_worker_fails` called when a child of this process ends."""
    global _handler_set
    if _handler_set or threading.current_thread() is not threading.main_thread():
        return
    before = signal.getsignal(signal.SIGCHLD)

    def handle(number, frame):
        _error_if_any_worker_fails()
        if callable(before):
            before(number, frame)
    signal.signal(signal.SIGCHLD, handle)
    _handler_set = True
