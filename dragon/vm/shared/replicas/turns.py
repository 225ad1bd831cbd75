"""Functions of replicas that run in turns: one until it ends or waits for the others, then the next one.

Only one of them runs at any time, so nothing that they share has to be locked, and the order is always the same.
"""
import contextlib
import threading

from dragon.core.capture import settings
from dragon.vm.shared.strategies import local

UNEVEN = "Some replicas made a different number of replica_context().merge_call() calls."


class _Abandoned(BaseException):
    """Another replica has failed: this one is not to go on."""


class Replica:
    """The code of one replica.

    Parameters
    ----------
    team : Team
        All of them.
    number : int
        Which one.

    """

    def __init__(self, team, number):
        self.team, self.number, self.memory = team, number, team.memory
        self.meeting = self.result = self.error = None
        self.ended = False

    def merge(self, function, *args):
        """Return what a function returns for this replica: it gets a list of all replicas' values of each argument.

        Parameters
        ----------
        function : Callable
            Called once, by the first replica; returns a list of what each replica gets.
        *args : Any
            This replica's values.

        """
        self.meeting = function, args
        return self.team.meet(self)


class _Seat:
    """A thread for a replica; it stays, since the engine keeps what it has planned by threads."""

    def __init__(self):
        self.go, self.back = threading.Semaphore(0), threading.Semaphore(0)
        self.task = None
        threading.Thread(target=self._run, name="dragon replica", daemon=True).start()

    def _run(self):
        while True:
            self.go.acquire()
            if self.task is None:
                return
            self.task()
            self.task = None
            self.back.release()

    def turn(self):
        """Have the thread run until it pauses or ends."""
        self.go.release()
        self.back.acquire()

    def pause(self):
        """Within the thread, wait for the next turn."""
        self.back.release()
        self.go.acquire()


class Team:
    """Several replicas; the first one runs in the thread that asks.

    Parameters
    ----------
    count : int
        How many.
    memory : Memory
        What variables are to each of them.
    surroundings : Callable[[], Callable[[], ContextManager]]
        Called in the thread that asks; what it returns opens the same surroundings in another one.

    """

    def __init__(self, count, memory, surroundings):
        self.count, self.memory, self._surroundings = count, memory, surroundings
        self._seats, self._failed = [], False
        self._replicas = [Replica(self, 0)] if count == 1 else []  # graphs know it by who it is

    def run(self, functions):
        """Return what functions return, one for each replica."""
        while len(self._seats) < self.count - 1:
            self._seats.append(_Seat())
        before = self._replicas, self._failed
        if self.count > 1:
            self._replicas, self._failed = [Replica(self, number) for number in range(self.count)], False
        within = self._surroundings()
        for replica, seat, function in zip(self._replicas[1:], self._seats, functions[1:]):
            seat.task = lambda replica=replica, function=function: self._work(replica, function, within)
        try:
            # One replica alone waits for nobody here: what it captures may be a graph, collectives and all.
            with contextlib.nullcontext() if self.count == 1 and not settings.is_capturing() else settings.given_up():
                first = self._replicas[0]
                first.result = self._call(first, functions[0])
                first.ended = True
                for replica in self._replicas[1:]:
                    self._turn(replica)
                    if not replica.ended:
                        raise RuntimeError(UNEVEN)
            return [replica.result for replica in self._replicas]
        finally:
            self._leave()
            self._replicas, self._failed = before

    def _call(self, replica, function):
        """Run a function in this thread as a replica's."""
        outer, local.replica = local.replica, replica
        try:
            self.memory.switch(replica.number)
            return function()
        finally:
            local.replica = outer
            self.memory.switch(None)

    def _work(self, replica, function, within):
        """Run a function in a seat's thread."""
        try:
            with within(), settings.eager():
                replica.result = self._call(replica, function)
        except _Abandoned:
            pass
        except BaseException as error:  # it belongs to who asked
            replica.error = error
        replica.ended = True

    def _turn(self, replica):
        """Let a replica run until it ends or meets the others; raise what it raised."""
        self._seats[replica.number - 1].turn()
        if replica.error is not None:
            error, replica.error = replica.error, None
            raise error

    def meet(self, replica):
        """Wait for all replicas; the first one then calls the function of the meeting."""
        if self.count == 1:  # there is one memory, and in a graph it is not to be exchanged
            self._meet_all()
            return self._taken(replica)
        self.memory.switch(None)
        if replica.number:
            self._seats[replica.number - 1].pause()
            if self._failed:
                raise _Abandoned
        else:
            self._meet_all()
        self.memory.switch(replica.number)
        return self._taken(replica)

    @staticmethod
    def _taken(replica):
        result, replica.result, replica.meeting = replica.result, None, None
        return result

    def _meet_all(self):
        first, *others = self._replicas
        for replica in others:
            self._turn(replica)
            if replica.ended:
                raise RuntimeError(UNEVEN)
        if others:
            self.memory.switch(None)
        local.replica = None
        try:
            function = first.meeting[0]
            results = function(*(list(values) for values in zip(*(each.meeting[1] for each in self._replicas))))
        finally:
            local.replica = first
        for replica, result in zip(self._replicas, results):
            replica.result = result

    def _leave(self):
        """End what still waits, after an error."""
        self._failed = True
        for replica, seat in zip(self._replicas[1:], self._seats):
            if not replica.ended:
                if replica.meeting is None and seat.task is not None:
                    seat.task = None  # it has not begun
                else:
                    seat.turn()
