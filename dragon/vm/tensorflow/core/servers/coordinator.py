"""`ClusterCoordinator`: send functions to workers, whoever is free, and again where one has gone."""
import collections
import threading
import weakref

from dragon.distributed.serving.link import Link, LinkError
from dragon.vm.shared import errors, nest
from dragon.vm.tensorflow.core.servers import parcels, rehearsal
from dragon.vm.tensorflow.core.servers.values import PerWorkerDataset, PerWorkerValues, RemoteValue

MOST_WAITING = 256
RETRY_SECONDS = 1.0


class _Call:
    """A function that was scheduled."""

    def __init__(self, function, data, resources, result):
        self.function, self.data, self.resources, self.result = function, data, resources, result


class _Parcel:
    """A function, or what makes a value of each worker's own, as bytes."""

    def __init__(self, number, data, resources, held):
        self.number, self.data, self.resources, self.held = number, data, resources, held


class Queue:
    """Calls that wait for a worker, and how many are not done."""

    def __init__(self):
        self._calls, self._open, self.error = collections.deque(), 0, None
        self._changed, self.ended = threading.Condition(), False

    def put(self, call):
        """Add a call; wait while there are many."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._calls) < MOST_WAITING or self.error is not None)
            self._raise()
            self._calls.append(call)
            self._open += 1
            self._changed.notify_all()

    def put_back(self, call):
        """Have a call whose worker has gone be the next one."""
        with self._changed:
            if self.error is not None:
                self._finish(call, error=_cancelled())
            else:
                self._calls.appendleft(call)
            self._changed.notify_all()

    def take(self):
        """Return the next call; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._calls or self.ended)
            if self.ended:
                return None
            call = self._calls.popleft()
            self._changed.notify_all()
            return call

    def finish(self, call, value=None, error=None):
        """Say what has become of a call; an error cancels those that wait."""
        with self._changed:
            self._finish(call, value, error)
            if error is not None and self.error is None:
                self.error = error
                while self._calls:
                    self._finish(self._calls.popleft(), error=_cancelled())
            self._changed.notify_all()

    def _finish(self, call, value=None, error=None):
        call.result._finish(value, error)
        self._open -= 1

    def _raise(self):
        """Wait until nothing runs, and raise what has gone wrong; the next calls begin anew."""
        if self.error is not None:
            self._changed.wait_for(lambda: not self._open)
            error, self.error = self.error, None
            raise error

    def wait(self):
        """Wait until all is done; raise what has gone wrong."""
        with self._changed:
            self._changed.wait_for(lambda: not self._open)
            self._raise()

    def is_done(self):
        """Return whether all is done; raise what has gone wrong."""
        with self._changed:
            self._raise()
            return not self._open

    def end(self):
        """Have nobody wait any more."""
        with self._changed:
            self.ended = True
            while self._calls:
                self._finish(self._calls.popleft(), error=_cancelled())
            self._changed.notify_all()


def _cancelled():
    return errors.CancelledError(None, None, "The corresponding function is cancelled. Please reschedule the function.")


class _Hand:
    """A thread of the coordinator that hands calls to one worker."""

    def __init__(self, queue, strategy, parcels_of, number):
        self._queue, self._strategy, self._parcels = queue, strategy, parcels_of
        self._number, self._link, self._sent = number, None, set()
        self._name = f"/job:worker/replica:0/task:{number}"
        self.thread = threading.Thread(target=self._run, name="dragon coordinator", daemon=True)
        self.thread.start()

    def _run(self):
        while not self._queue.ended:
            if not self._connect():
                continue
            call = self._queue.take()
            if call is None:
                return
            try:
                value = self._hand(call)
            except LinkError as error:
                if error.name.startswith("/job:ps/"):
                    self._queue.finish(call, error=self._strategy._fail(error))
                else:  # the worker has gone: the call is another one's
                    self._link = None
                    self._queue.put_back(call)
            except Exception as error:  # it belongs to who asks for the result
                self._queue.finish(call, error=error)
            else:
                self._queue.finish(call, value)

    def _connect(self):
        """Return whether the worker is there."""
        if self._link is not None:
            return True
        strategy = self._strategy
        try:
            link = Link(strategy._worker_addresses[self._number], self._name, RETRY_SECONDS)
            link.ask("begin", strategy._session, False)
            link.ask("employ", self._number, strategy._servers, strategy._facts())
        except LinkError:
            return False
        self._link, self._sent = link, set()
        return True

    def _hand(self, call):
        for number in call.resources:
            self._define(parcels.RESOURCE, self._parcels[number])
        self._define(parcels.FUNCTION, call.function)
        return self._link.ask("run", call.function.number, call.data)

    def _define(self, kind, parcel):
        for number in parcel.resources:
            self._define(parcels.RESOURCE, self._parcels[number])
        if parcel.number not in self._sent:
            self._link.ask("define", kind, parcel.number, parcel.data)
            self._sent.add(parcel.number)

    def close(self):
        """End the connection."""
        if self._link is not None:
            self._link.close()


class ClusterCoordinator:
    """Have workers run functions; there is one for each strategy.

    Parameters
    ----------
    strategy : ParameterServerStrategy
        The cluster, and its variables.

    """

    is_coordinator = True  # whatever it holds, it stays in its process

    def __new__(cls, strategy):
        if not getattr(strategy, "is_served", False):
            raise ValueError("Only `tf.distribute.experimental.ParameterServerStrategy` is supported to work with "
                             f"`tf.distribute.experimental.coordinator.ClusterCoordinator` currently. Received: "
                             f"{strategy!r}")
        if strategy._coordinator is None:
            strategy._coordinator = self = super().__new__(cls)
            self._strategy, self._queue, self._parcels = strategy, Queue(), {}
            self._functions, self._made = {}, {}
            self._hands = [_Hand(self._queue, strategy, self._parcels, number)
                           for number in range(strategy._num_workers)]
            weakref.finalize(self, self._queue.end)
        return strategy._coordinator

    strategy = property(lambda self: self._strategy, doc="ParameterServerStrategy: the cluster, and its variables.")

    def schedule(self, fn, args=None, kwargs=None):
        """Have a worker run a function; returns at once.

        Parameters
        ----------
        fn : Callable
            A function of `tf.function`, or a concrete one. If its worker ends before it has, another one runs it from
            the beginning.
        args : tuple, optional
            Its arguments. Of what `create_per_worker_dataset` made, and of iterators over that, each worker has its
            own.
        kwargs : dict, optional
            Its arguments by name.

        Returns
        -------
        RemoteValue
            Its result.

        """
        if not rehearsal.is_lasting(fn):
            raise TypeError("`tf.distribute.experimental.coordinator.ClusterCoordinator.schedule` only accepts a "
                            f"`tf.function` or a concrete function. Received: {fn!r}")
        args, kwargs = tuple(args or ()), dict(kwargs or {})
        self._queue.is_done()  # raises what has gone wrong
        parcel = self._function(fn, args, kwargs)
        self._strategy._send_writes()
        data, resources = self._pack((args, kwargs))
        result = RemoteValue(self)
        self._queue.put(_Call(parcel, data, resources, result))
        return result

    def _function(self, fn, args, kwargs):
        """Return a function as a parcel."""
        if id(fn) not in self._functions:  # the parcel holds the function, whose number stays its own
            rehearsal.rehearse(self._strategy, fn, args, kwargs)
            self._functions[id(fn)] = self._parcel(fn)
        return self._functions[id(fn)]

    def _parcel(self, value):
        number = len(self._parcels) + 1
        self._parcels[number] = None  # the number is taken
        data, resources = self._pack(value)
        self._parcels[number] = _Parcel(number, data, resources, value)
        return self._parcels[number]

    def _pack(self, value):
        """Return (an object as bytes, the numbers of values of workers' own in it)."""
        resources = []

        def prepare(item):
            if id(item) not in self._made:
                self._made[id(item)] = item, self._parcel(item._make).number
            resources.append(self._made[id(item)][1])
            return resources[-1]
        return parcels.pack(value, self._strategy.copies, self._strategy, prepare), resources

    def join(self):
        """Wait until all functions have run; raise what one of them has raised, others being cancelled then."""
        self._queue.wait()
        self._catch_up()

    def done(self):
        """Return whether all functions have run; raise what one of them has raised."""
        if not self._queue.is_done():
            return False
        self._catch_up()
        return True

    def fetch(self, val):
        """Wait for results, and return them as NumPy arrays.

        Parameters
        ----------
        val : Any
            A RemoteValue, or a structure of some.

        """
        return nest.map_structure(lambda item: item.fetch() if isinstance(item, RemoteValue) else item, val)

    def create_per_worker_dataset(self, dataset_fn):
        """Return datasets of which each worker has its own; iterators over them are arguments of functions.

        Parameters
        ----------
        dataset_fn : Union[Callable, Dataset]
            Called by each worker: returns its dataset.

        """
        if callable(dataset_fn):
            return PerWorkerDataset(dataset_fn)
        return PerWorkerDataset(lambda: dataset_fn)

    def _create_per_worker_resources(self, fn, args=None, kwargs=None):
        """Return values of which each worker has its own."""
        return PerWorkerValues(lambda: fn(*(args or ()), **(kwargs or {})))

    def _catch_up(self):
        self._strategy._catch_up()
