"""Batches of transformed samples: the third of the three nouns of `dragon.io`."""
import time
from itertools import islice

from dragon.io.batching import Batches, stack_samples
from dragon.io.delivery import ahead
from dragon.io.depth import Depth
from dragon.io.flow import Tuned
from dragon.io.pool import HASTE_SECONDS, WorkerDied, WorkerPool
from dragon.io.reader import Reader, check_state
from dragon.io.report import Counters, Report
from dragon.io.team import Team
from dragon.io.work import POLICIES, Start, Work, bytes_of

DEPTH, MOST = 2, 16  # tasks that each worker has ahead, at first and at the most
PROCESSES, THREADS = "processes", "threads"


def _cut(batch_size, last):
    """Return what cuts samples into batches."""
    if hasattr(batch_size, "__index__"):
        return Batches(batch_size, last)
    if last != "keep":
        raise ValueError(f"Iterator: got last={last!r} beside {type(batch_size).__name__}, expected it there")
    return batch_size


class Iterator:
    """Read samples, transform them in workers, and yield batches.

    Parameters
    ----------
    reader : Union[Reader, Sequence, Iterable]
        Says which samples come; what is no `Reader` is read in order.
    transform : Callable, optional
        Called with each sample, in a worker if there are any; with the sample's `Draws` as well if it has a parameter
        `draws`. One with a method `batch` makes a batch of many samples itself, as `ImageClassification` does.
    batch_size : Union[int, Batches, Buckets], optional, default=1
        Samples per batch, or which samples stand together.
    collate : Callable, optional, default=stack_samples
        Makes a batch of a list of samples; `PadSamples()` for such of unequal shapes.
    workers : int, optional, default=0
        How many workers transform; 0 does it here.
    prefetch : Union[int, str], optional, default="auto"
        How many batches each worker has ahead; "auto" begins with 2 and finds out.
    budget : int, optional, default=1 GiB
        How many bytes of batches may be ahead where that is found out.
    last : str, optional, default="keep"
        What becomes of the samples that are left over at the end: "keep", "drop", "pad" or "wrap".
    in_order : bool, optional, default=True
        Whether batches keep the reader's order, or come as they are ready.
    timeout : float, optional
        Seconds to wait for a batch.
    context : multiprocessing.context.BaseContext, optional
        How worker processes are started.
    deliver : Callable, optional
        Called with each batch here, at the end: `ToDevice` hands it to a device while the last one is worked with.
    kind : str, optional, default="processes"
        "threads" has workers share this process: for transforms that hold no interpreter lock, as decoding pictures.
    errors : str, optional, default="raise"
        What a sample that cannot be read, transformed or stacked does: "raise" ends the epoch with an error that names
        it, "skip" leaves it out and counts it, which makes its batch smaller.
    restarts : int, optional, default=0
        How many workers that die are replaced, with nothing lost and nothing doubled, before an error tells of it.
    drop_last : bool, optional, default=False
        The same as last="drop".

    Examples
    --------
    >>> from dragon.io import Iterator, Reader
    >>> iterator = Iterator(Reader(range(5)), batch_size=2)
    >>> [batch.tolist() for batch in iterator]
    [[0, 1], [2, 3], [4]]

    """

    def __init__(self, reader, transform=None, batch_size=1, collate=stack_samples, workers=0, prefetch="auto",
                 last="keep", in_order=True, timeout=None, context=None, deliver=None, kind=PROCESSES, errors="raise",
                 restarts=0, drop_last=False, budget=1 << 30):
        if errors not in POLICIES:
            raise ValueError(f"Iterator: got errors={errors!r}, expected one of {POLICIES}")
        if kind not in (PROCESSES, THREADS):
            raise ValueError(f"Iterator: got kind={kind!r}, expected '{PROCESSES}' or '{THREADS}'")
        if workers < 0:
            raise ValueError(f"Iterator: got workers={workers}, expected at least 0")
        if prefetch != "auto" and (isinstance(prefetch, str) or prefetch < 1):
            raise ValueError(f"Iterator: got prefetch={prefetch!r}, expected a positive number or 'auto'")
        if kind == THREADS and (context is not None or restarts):
            raise ValueError(f"Iterator: got context={context!r} and restarts={restarts} for threads, expected "
                             "neither: processes have them")
        self.reader = reader if isinstance(reader, Reader) else Reader(reader)
        self.batches = _cut(batch_size, "drop" if drop_last else last)
        self.in_order, self.timeout, self.deliver = in_order, timeout, deliver
        self.prefetch, self.budget = prefetch, budget
        self.workers, self.kind, self._counters, self._pool = workers, kind, Counters(workers), None
        self.context, self.restarts = context, restarts
        self._work = Work(self.reader, transform, collate, errors, alone=workers > 0 and kind == PROCESSES)
        self._passed, self._given, self._beyond = 0, 0, {}

    def __len__(self):
        return self.batches.count(len(self.reader))

    def __iter__(self):
        loaded, self._loaded = self._loaded, (0, ())
        epoch, position = self.reader.start()
        self._passed, beyond = loaded
        # Numbers of batches count from the reader's position on; of those before their turn, the samples are counted
        # when all before them have been given out.
        self._given, self._beyond = self._passed, {self._passed + number: count for number, count in beyond}
        self._counters = Counters(self.workers)
        self._start_workers()
        self._turn += 1
        return self._run(self._tasks(epoch, position, self._passed, frozenset(self._beyond)), self._turn)

    def _start_workers(self):
        """Have workers: those of the last epoch, or new ones."""
        if not self.workers or (self._pool is not None and not self._pool.closed):
            return
        if self.kind == PROCESSES:
            self._pool = WorkerPool(self.workers, Start(self._work), self.context, "Iterator", self.restarts)
        else:
            self._pool = Team(self.workers, Start(self._work), "Iterator")

    def _tasks(self, epoch, position, passed, beyond):
        """Yield (number, how many samples it takes, (epoch, entries)) of the batches that are still to be made."""
        number, lists = 0, self._lists(epoch, position)
        while True:
            begin = time.perf_counter()
            batch = next(lists, None)
            self._counters.feeding += time.perf_counter() - begin
            if batch is None:
                return
            if number >= passed and number not in beyond:
                yield number, len(batch), (epoch, batch)
            number += 1

    def _lists(self, epoch, position):
        def entries(position):
            if self.reader.numbered:
                return self.reader.numbers(epoch, position)
            return enumerate(self.reader.samples(epoch, position), position)
        if position and getattr(self.batches, "last", None) == "wrap" and isinstance(self.batches, Batches):
            first = list(islice(entries(0), self.batches.size))
            return iter(self.batches(entries(position), first))
        return iter(self.batches(entries(position)))

    _turn = 0  # of the epoch that is given out: workers have one at a time

    def _run(self, tasks, turn):
        made = self._here(tasks) if self._pool is None else self._there(tasks)
        if self.deliver is not None:
            made = ahead((self._hand_over(one) for one in made), getattr(self.deliver, "ahead", 0))
        try:
            for number, taken, batch in self._while_mine(made, turn):
                self._settle(number, taken)
                if batch.count:
                    yield batch.value
                del batch
        except (KeyboardInterrupt, WorkerDied):
            self._close(HASTE_SECONDS)
            raise
        self._given, self._beyond = 0, {}
        self._counters.finish()
        self.reader.finish()

    def _while_mine(self, made, turn):
        """Yield what is made as long as no other epoch has begun: that one has the workers and the counters now."""
        while True:
            if turn != self._turn:
                raise RuntimeError("Iterator: got a question for the next batch of an epoch that was left when another "
                                   "one began, expected one epoch at a time; an Iterator for each would do")
            try:
                yield next(made)
            except StopIteration:
                return

    def _hand_over(self, made):
        batch = made[-1]
        begin = time.perf_counter()
        if batch.count:
            batch.value = self.deliver(batch.value)
        self._counters.delivering += time.perf_counter() - begin
        return made

    def _here(self, tasks):
        for number, taken, task in tasks:
            batch = self._work(task)
            self._counters.add(batch)
            yield number, taken, batch
            del batch

    def _there(self, tasks):
        sent = {}

        def remember():
            for place, (number, taken, task) in enumerate(tasks):
                sent[place] = number, taken
                yield task
        least, most = ((DEPTH, MOST) if self.prefetch == "auto" else (self.prefetch, self.prefetch))
        depth = Depth(least * self.workers, least * self.workers, most * self.workers, bytes_of, self.budget)
        flow = Tuned(self._pool, remember(), depth, in_order=self.in_order, timeout=self.timeout, balanced=True)
        before, self._pool.restarted = flow.waited, 0
        for batch in flow:
            self._counters.receive(flow.waited - before, batch)
            before = flow.waited
            self._counters.ahead, self._counters.restarted = flow.ahead(), self._pool.restarted
            yield *sent.pop(flow.number), batch
            del batch  # nobody but the user holds it, so its memory goes back to the worker

    # Where an epoch is.

    _loaded = (0, ())  # of a state: batches that are passed over, and those before their turn that are

    def _settle(self, number, taken):
        """Count a batch as given out."""
        self._beyond[number] = taken
        while self._given in self._beyond:
            taken = self._beyond.pop(self._given)
            self._given += 1
            if isinstance(self.batches, Batches):
                self.reader.position += taken

    def state_dict(self):
        """Return a small dict with which another iterator goes on after the last batch that was given out."""
        plain = isinstance(self.batches, Batches)
        return {"version": 1, "reader": self.reader.state_dict(), "batches": 0 if plain else self._given,
                "beyond": [(number - self._given, taken) for number, taken in sorted(self._beyond.items())],
                "cut": vars(self.batches).get("size"), "bucketed": not plain}

    def load_state_dict(self, state):
        """Go on from where another iterator was: the next epoch that is asked for begins there.

        Parameters
        ----------
        state : dict
            What `state_dict` returned. The number of workers may be another one; the size of batches too, if batches
            came in order and samples are in no buckets.

        """
        mine = self.state_dict()
        check_state(state, mine, "Iterator")
        if state["bucketed"] != mine["bucketed"] or (state["beyond"] and state["cut"] != mine["cut"]):
            raise ValueError(f"Iterator.load_state_dict: got a state of batches of {state['cut']} samples, expected "
                             f"those of this iterator, {mine['cut']}")
        self.reader.load_state_dict(state["reader"])
        self._loaded = state["batches"], [tuple(pair) for pair in state["beyond"]]

    def report(self):
        """Return a `Report`: throughput so far, and which stage the others wait for."""
        try:
            total = len(self)
        except TypeError:
            total = None
        return Report(self._counters, total)

    def close(self):
        """End the workers; the next epoch would begin with new ones."""
        self._close()

    def _close(self, *patience):
        if self._pool is not None:
            self._pool.close(*patience)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
