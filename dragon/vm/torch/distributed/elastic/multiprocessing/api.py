"""Where outputs of processes go."""
import os
import tempfile
from enum import IntFlag


class SignalException(Exception):
    """A signal has come to whoever watches processes.

    Parameters
    ----------
    msg : str
        What to say.
    sigval : signal.Signals
        Which signal.

    """

    def __init__(self, msg, sigval):
        super().__init__(msg)
        self.sigval = sigval


class Std(IntFlag):
    """Outputs: none, the ordinary one, that of errors, both."""

    NONE = 0
    OUT = 1
    ERR = 2
    ALL = 3

    @classmethod
    def from_str(cls, vm):
        """Return what a text such as "3" or "0:1,1:2" (by local ranks) says."""
        parts = vm.split(",")
        if len(parts) == 1 and ":" not in vm:
            if vm not in "0123" or len(vm) != 1:
                raise ValueError(f"{vm} does not match: <(0|1|2|3)>, expected 0 to 3 or <local rank>:<0 to 3>,...")
            return cls(int(vm))
        found = {}
        for part in parts:
            rank, _, which = part.partition(":")
            if not rank.isdigit() or which not in ("0", "1", "2", "3"):
                raise ValueError(f"{vm} does not match: <local rank>:<0 to 3>,...: got {part!r}")
            found[int(rank)] = cls(int(which))
        return found


class LogsSpecs:
    """Where outputs go.

    Parameters
    ----------
    log_dir : str, optional
        A folder.
    redirects : Union[Std, Dict[int, Std]], optional, default=Std.NONE
        What goes to files alone; of all processes, or by local rank.
    tee : Union[Std, Dict[int, Std]], optional, default=Std.NONE
        What goes to files as well; asks for `redirects` here.
    local_ranks_filter : Set[int], optional
        Whose outputs are seen at all; those of others go to files.

    """

    def __init__(self, log_dir=None, redirects=Std.NONE, tee=Std.NONE, local_ranks_filter=None):
        if tee != Std.NONE:
            raise NotImplementedError(f"{type(self).__name__}: got tee={tee!r}, expected Std.NONE: outputs go to files "
                                      "(redirects) or where the launcher's go")
        self._root_log_dir, self._redirects, self._local_ranks_filter = log_dir, redirects, local_ranks_filter

    @property
    def root_log_dir(self):
        """str: the folder; None where there is none."""
        return self._root_log_dir

    def which(self, local_rank):
        """Return what of a process goes to files."""
        if self._local_ranks_filter is not None and local_rank not in self._local_ranks_filter:
            return Std.ALL
        if isinstance(self._redirects, dict):
            return self._redirects.get(local_rank, Std.NONE)
        return self._redirects

    def open(self, run, attempt, local_rank):
        """Return the open files of a process's output and errors; None for what goes where the launcher's do."""
        which = self.which(local_rank)
        if not which:
            return None, None
        if self._root_log_dir is None:
            self._root_log_dir = tempfile.mkdtemp(prefix="torchelastic_")
        folder = os.path.join(self._root_log_dir, run, f"attempt_{attempt}", str(local_rank))
        os.makedirs(folder, exist_ok=True)
        return tuple(open(os.path.join(folder, name), "w", encoding="utf-8") if which & bit else None
                     for bit, name in ((Std.OUT, "stdout.log"), (Std.ERR, "stderr.log")))


class DefaultLogsSpecs(LogsSpecs):
    """Where outputs go, in folders by run, attempt and local rank."""
