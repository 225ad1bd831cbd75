"""The side of a worker: functions come, run on copies of the variables, and what they write goes to the servers."""
import threading

from dragon.distributed.serving.link import Link
from dragon.vm.shared import errors, strategies
from dragon.vm.shared.tensors.tensor import IdentityDictionary
from dragon.vm.tensorflow.core.servers import parcels
from dragon.vm.tensorflow.core.servers.copies import Copies
from dragon.vm.tensorflow.core.servers.values import plain

_turn = threading.RLock()  # of servers in one process, one runs at a time
here = threading.local()


def _refuse(variable):
    raise RuntimeError(f"ClusterCoordinator.schedule: got a function that makes the variable {variable.name!r} on a "
                       "worker, expected one whose variables are there: make them, or build model and optimizer, "
                       "within `strategy.scope()`")


class Absent:
    """What scheduled functions may hold, and not use."""

    def __getattr__(self, name):
        raise RuntimeError(f"ClusterCoordinator.{name}: got a call within a scheduled function, expected one in the "
                           "process of the coordinator")


class Worker:
    """What a coordinator has sent to this task.

    Parameters
    ----------
    session : str
        Whose variables are meant.
    number : int
        Which worker this is.
    servers : List[str]
        The addresses of those that keep variables.
    facts : dict
        What the strategy is told here.

    """

    def __init__(self, session, number, servers, facts):
        from dragon.vm.tensorflow.core.servers.strategy import ParameterServerStrategy
        self._session, self.number, self._servers, self._links = session, number, servers, {}
        self._copies = Copies(self._ask)
        self._strategy = ParameterServerStrategy._of_worker(self._copies, **facts)
        self._data, self._functions, self._resources, self._needs = {}, {}, {}, None

    def _ask(self, task, action, *args):
        if task not in self._links:
            link = Link(self._servers[task], f"/job:ps/replica:0/task:{task}", 5.0)
            link.ask("begin", self._session, False)
            self._links[task] = link
        return self._links[task].ask(action, *args)

    def define(self, kind, number, data):
        """Take a function, or what makes a value of this worker's own."""
        self._data[kind, number] = data
        (self._functions if kind == parcels.FUNCTION else self._resources).pop(number, None)

    def _find(self, name):
        """Return what is known as something to both sides."""
        kind, *facts = name
        if kind == parcels.VARIABLE:
            number, recipe, shards = facts
            if number not in self._copies.all:
                self._copies.adopt(number, parcels.make_variable(*recipe), shards)
            self._needs.add(number)
            return self._copies.all[number].variable
        if kind == parcels.STRATEGY:
            return self._strategy
        if kind == parcels.RESOURCE:
            return self._resource(*facts)
        return Absent()

    def _resource(self, number):
        if number not in self._resources:
            make = self._unpack(self._data[parcels.RESOURCE, number])[0]
            with self._strategy._running():
                self._resources[number] = make()
        return self._resources[number]

    def _unpack(self, data):
        """Return (an object, the numbers of the variables in it)."""
        before, self._needs = self._needs, set()
        try:
            return parcels.unpack(data, self._find), self._needs
        finally:
            self._needs = before

    def run(self, number, data):
        """Return what a function returns."""
        with _turn:
            if number not in self._functions:
                self._functions[number] = (*self._unpack(self._data[parcels.FUNCTION, number]), IdentityDictionary())
            function, needs, assigned = self._functions[number]
            (args, kwargs), more = self._unpack(data)
            needs = needs | more
            self._copies.pull(needs)
            before, strategies.local.assigned = strategies.local.assigned, assigned
            here.number = self.number
            try:
                with self._strategy._running(_refuse):
                    result = plain(function(*args, **kwargs))
            except StopIteration:
                raise errors.OutOfRangeError(None, None, "End of sequence") from None
            finally:
                strategies.local.assigned, here.number = before, None
            self._copies.push(needs, {self._copies.number_of(variable) for variable in assigned.keys()})
            return result

    def close(self):
        """Leave the servers."""
        for link in self._links.values():
            link.close()


def experimental_get_current_worker_index():
    """Return the number of the worker whose function runs."""
    number = getattr(here, "number", None)
    if number is None:
        raise RuntimeError("Cannot retrieve the worker index. `get_worker_idx_and_num_workers` should be called from "
                           "within a tf.function being executed on a worker.")
    return number
