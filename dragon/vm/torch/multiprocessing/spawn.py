"""Run one function in several processes and hear of the first that fails."""
import multiprocessing
import multiprocessing.connection
import signal
import sys
import time
import traceback

from dragon.core import warnings


class ProcessException(Exception):
    """A process failed.

    Parameters
    ----------
    msg : str
        How.
    error_index : int
        Which of the processes.
    pid : int
        Its number in the system.

    """

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process raised an exception; its traceback is in the message."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """A process was killed or left with a code."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _wrap(function, index, args, errors):
    """Run the function in a process; its traceback goes home by a pipe."""
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass  # the parent has been interrupted too
    except Exception:
        errors.send(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """The processes that `start_processes` started."""

    def __init__(self, processes, error_files):
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self):
        """Return the processes' numbers in the system."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Wait for processes; raise if one failed, after ending the others.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait; for ever by default.
        grace_period : float, optional
            Seconds that the others have to end before they are killed.

        Returns
        -------
        bool
            Whether all have ended well.

        """
        if not self.sentinels:
            return True
        failed = None
        for sentinel in multiprocessing.connection.wait(list(self.sentinels), timeout=timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._end_others(grace_period)
        self._raise(failed)

    def _end_others(self, grace_period):
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        deadline = None if grace_period is None else time.monotonic() + grace_period
        for process in self.processes:
            process.join(None if deadline is None else max(deadline - time.monotonic(), 0))
            if process.is_alive():
                process.kill()
                process.join()

    def _raise(self, index):
        process = self.processes[index]
        errors = self.error_files[index]
        try:
            message = errors.recv() if errors.poll() else None
        except EOFError:
            message = None
        if message is not None:
            raise ProcessRaisedException(f"\n\n-- Process {index} terminated with the following error:\n{message}",
                                         index, process.pid)
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            raise ProcessExitedException(f"process {index} terminated with signal {name}", index, process.pid, code,
                                         name)
        raise ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


class SpawnContext(ProcessContext):
    """The processes that `spawn` started."""


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run `fn(index, *args)` in processes.

    Parameters
    ----------
    fn : Callable
        The function, of a module's top level where processes are spawned.
    args : tuple, optional, default=()
        Its arguments after the index.
    nprocs : int, optional, default=1
        How many processes.
    join : bool, optional, default=True
        Whether to wait for them.
    daemon : bool, optional, default=False
        Whether they end with this process.
    start_method : str, optional, default="spawn"
        "spawn", "fork" or "forkserver".

    Returns
    -------
    Optional[ProcessContext]
        The processes, unless they were waited for.

    """
    context = multiprocessing.get_context(start_method)
    processes, pipes = [], []
    for index in range(nprocs):
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=_wrap, args=(fn, index, args, writer), daemon=daemon)
        process.start()
        writer.close()
        processes.append(process)
        pipes.append(reader)
    started = (SpawnContext if start_method == "spawn" else ProcessContext)(processes, pipes)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run `fn(index, *args)` in spawned processes; see `start_processes`."""
    if start_method != "spawn":
        warnings.warn(f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different "
                      "start_method use:\n\t\t torch.multiprocessing.start_processes(...)", FutureWarning)
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
