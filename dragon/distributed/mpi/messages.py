"""Messages between two processes over MPI, and how one waits for what MPI has begun."""
import time

from dragon.distributed.errors import DistributedError, StoreTimeout

_leaving = []  # sends that nobody waits for any more, with their bytes
QUICK_LOOKS = 200  # at a request, before the thread rests between them
FIRST_REST_SECONDS, LONGEST_REST_SECONDS = 2e-5, 1e-3


def await_request(request, seconds, late, look=None):
    """Return the status of a request once it is done.

    Parameters
    ----------
    request : mpi4py.MPI.Request
        The request.
    seconds : float
        How long to wait; negative for ever.
    late : Callable
        Returns what is raised then.
    look : Callable, optional
        Raises, while there is time, if it will never be done; called now and then.

    """
    from mpi4py import MPI
    status, end, looks, rest = MPI.Status(), None, 0, FIRST_REST_SECONDS
    while not request.Test(status):
        looks += 1
        if looks < QUICK_LOOKS:
            time.sleep(0)  # others may have the lock, and the processor
            continue
        now = time.monotonic()
        end = now + seconds if end is None else end
        if look is not None:
            look()
        if 0 <= seconds and end <= now:
            raise late()
        time.sleep(rest)
        rest = min(rest * 2, LONGEST_REST_SECONDS)
    return status


class Message:
    """A message on its way.

    Parameters
    ----------
    request : mpi4py.MPI.Request
        What MPI has begun.
    memory : Union[bytes, memoryview]
        What is sent, a copy, for its owner may go before it has gone; or what is to be filled.
    rank : int
        The other side; -1 for a message of anybody.
    tag : int
        Its tag.
    comes_in : bool
        Whether it is received.
    look : Callable[[int, bool], None]
        Given the other side, and whether the message goes out, raises if the other side has left.

    """

    def __init__(self, request, memory, rank, tag, comes_in, look):
        self.request, self.memory, self.rank, self.tag, self.comes_in = request, memory, rank, tag, comes_in
        self._look = lambda: look(rank, not comes_in)

    def is_done(self):
        """Return whether it has gone, or come."""
        if self.request is None:
            return True
        from mpi4py import MPI
        status = MPI.Status()
        if not self.request.Test(status):
            return False
        self._end(status)
        return True

    def wait(self, seconds):
        """Wait until it has; negative seconds are no limit."""
        if self.request is not None:
            self._end(await_request(self.request, seconds, lambda: StoreTimeout(
                f"message: got none {'from' if self.comes_in else 'taken by'} "
                f"{'any rank' if self.rank < 0 else f'rank {self.rank}'} with the tag {self.tag} within {seconds:g} "
                "seconds, expected one"), self._look))

    def cancel(self):
        """Forget it; what is on its way out goes on."""
        if self.request is None:
            return
        from mpi4py import MPI
        if not MPI.Is_finalized():
            _leaving[:] = [(request, memory) for request, memory in _leaving if not request.Test()]
            if self.comes_in:
                self.request.Cancel()
                self.request.Wait()
            elif not self.request.Test():
                _leaving.append((self.request, self.memory))
        self.request = None

    def _end(self, status):
        self.request = None
        if self.comes_in:
            from mpi4py import MPI
            self.rank, came = status.Get_source(), status.Get_count(MPI.BYTE)
            if came != len(self.memory):
                raise DistributedError(f"receive: got a message of {came} bytes from rank {self.rank} for a tensor of "
                                       f"{len(self.memory)} bytes, expected the same")
