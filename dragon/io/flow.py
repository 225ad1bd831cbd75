"""Tasks on their way through workers: a few ahead for each of them, answers in order or as they come."""
import itertools
import time

from dragon.io.failure import Failure, no_end

_runs = itertools.count()


class Exhausted:
    """The answer of a worker that has nothing more to give, whatever it is asked."""


class Flow:
    """Give tasks to workers and yield what they answer.

    Parameters
    ----------
    pool : Union[WorkerPool, Team]
        Who answers. Nobody else asks it while the tasks are on their way; answers to others are dropped.
    tasks : Iterator
        What is asked.
    count : int
        How many tasks are on their way or answered and waiting.
    in_order : bool, optional, default=True
        Whether answers keep the order of the tasks.
    timeout : float, optional
        Seconds to wait for an answer before a TimeoutError; for ever by default.
    balanced : bool, optional, default=False
        Whether a task goes to the worker with the fewest, rather than to the one whose turn it is.
    release : bool, optional, default=False
        Whether a worker that is exhausted is ended.
    stops : bool, optional, default=False
        Whether a StopIteration that a worker has met ends the flow, as it does in PyTorch's loader, or is an error.

    """

    def __init__(self, pool, tasks, count, in_order=True, timeout=None, balanced=False, release=False, stops=False):
        self.pool, self.tasks, self.timeout = pool, iter(tasks), timeout
        self.in_order, self.balanced, self.release, self.count = in_order, balanced, release, count
        self.stops = stops
        workers = len(pool.workers)
        self.run, self.waited = next(_runs), 0.0
        self.sent = self.given = 0  # the next task to be sent, and the next to be given out
        self.number = None  # of the task whose answer was given out last
        self.out, self.early = {}, {}  # {task: worker} of those that are out, {task: answer} of those before their turn
        self.loads, self.active = [0] * workers, [True] * workers
        self.turns = itertools.cycle(range(workers))
        for _ in range(count):
            self.send()

    def __iter__(self):
        return self

    def send(self):
        """Give one more task to a worker, if there is one; return whether there was."""
        worker = self._choose()
        if worker is None:
            return False
        for task in self.tasks:
            self.pool.put(worker, (self.run, self.sent), task)
            self.out[self.sent] = worker
            self.loads[worker] += 1
            self.sent += 1
            return True
        return False

    def _choose(self):
        working = [worker for worker, active in enumerate(self.active) if active]
        if not working:
            return None
        if self.balanced:
            return min(working, key=self.loads.__getitem__)
        share = self.count // len(working)
        for worker in itertools.islice(self.turns, len(self.active)):
            if self.active[worker] and (self.in_order or self.loads[worker] < share):
                return worker
        return None

    def __next__(self):
        while True:
            self._pass_lost()
            if self.given in self.early:
                return self._give(self.given, self.early.pop(self.given))
            number, answer = self._receive()
            if number is None:
                continue
            worker = self.out[number]
            if isinstance(answer, Exhausted):
                self._retire(worker)
            elif number == self.given or not self.in_order:
                return self._give(number, answer)
            else:
                self._count_off(number)
                self.early[number] = answer

    def _receive(self):
        """Wait for an answer; return (number, answer), the number being None if nobody waits for it."""
        begin = time.perf_counter()
        try:
            _, key, answer = self.pool.get(self.timeout)
        finally:
            self.waited += time.perf_counter() - begin
        run, number = key if isinstance(key, tuple) else (None, None)
        return (number, answer) if run == self.run and number in self.out else (None, None)

    def _retire(self, worker):
        """Ask a worker no more; the tasks that it still has are lost."""
        self.active[worker] = False
        self.out = {number: other for number, other in self.out.items() if other != worker}
        self.loads[worker] = 0
        if self.release:
            self.pool.stop(worker)
        self.send()

    def _pass_lost(self):
        """Pass over tasks that nobody will answer; end when there are none left."""
        while self.given < self.sent:
            if self.given in self.early or self.given in self.out or (not self.in_order and self.out):
                return
            self.given += 1
        raise StopIteration

    def _count_off(self, number):
        self.loads[self.out.pop(number)] -= 1

    def _give(self, number, answer):
        if number in self.out:
            self._count_off(number)
        if number == self.given:
            self.given += 1
        self.number = number
        self.refill()
        if isinstance(answer, Failure):
            self._raise(answer)
        return answer

    def _raise(self, failure):
        try:
            failure.reraise()
        except StopIteration as error:
            if self.stops:
                raise
            raise no_end(error, "a worker") from error

    def refill(self):
        """Have one more task done in place of one that was given out."""
        self.send()


class Tuned(Flow):
    """A flow that finds out how many tasks should be ahead.

    There is no room if workers have stood still, all being done.

    Parameters
    ----------
    depth : Depth
        What finds it out; it weighs answers.

    """

    NOTICED = 1e-3  # seconds of standing still, or of waiting, that mean something

    def __init__(self, pool, tasks, depth, **options):
        self.depth, self._waited, self._idle = depth, 0.0, {}
        super().__init__(pool, tasks, depth.size, **options)

    def ahead(self):
        """Return how many tasks are out, or answered and not given out."""
        return len(self.out) + len(self.early)

    def _give(self, number, answer):
        self.depth.weigh(answer)
        return super()._give(number, answer)

    def refill(self):
        """Keep as many tasks ahead as turned out to be right."""
        waited, self._waited = self.waited - self._waited, self.waited
        self.depth.learn(waited > self.NOTICED, self._stood_still(), True)
        while self.ahead() < self.depth.size and self.send():
            pass

    def _stood_still(self):
        """Return whether a worker did since the last answer."""
        still = False
        for worker in self.pool.workers:
            # Of the first answer nobody knows how much of the pause before it was an epoch's end.
            still = still or worker.idle - self._idle.get(worker.index, worker.idle) > self.NOTICED
            self._idle[worker.index] = worker.idle
        return still
