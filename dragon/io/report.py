"""What an epoch's time went into, and which stage had another one wait."""
import time

STAGES = ("reading", "transforming", "batching")
NOTHING = 0.03  # a share of the time that is not worth a word


class Counters:
    """What is counted while batches are made."""

    def __init__(self, workers):
        self.workers = workers
        self.begin, self.end = time.perf_counter(), None
        self.batches = self.samples = self.skipped = self.restarted = 0
        self.losses = []  # (where, what) of the first samples that were left out
        self.stages = [0.0] * len(STAGES)
        self.feeding = self.waiting = self.delivering = 0.0
        self.ahead, self.first = 0, None

    def receive(self, waited, made):
        """Count a batch that came from workers after some seconds; those before the first one are told apart."""
        if self.first is None:
            self.first = waited
            self.begin += waited
        else:
            self.waiting += waited
        self.add(made)

    def finish(self):
        """Note that the epoch ended: what its reader does afterwards is none of its time."""
        self.end = time.perf_counter()

    KEPT = 100  # losses that are told; of the others the number is

    def add(self, made):
        """Count a batch."""
        self.batches += bool(made.count)
        self.samples += made.count
        self.skipped += len(made.skipped)
        self.losses += made.skipped[:self.KEPT - len(self.losses)]
        for place, seconds in enumerate(made.seconds):
            self.stages[place] += seconds


class Report:
    """Where the time of an iterator went, from its beginning to now.

    Parameters
    ----------
    counters : Counters
        What was counted.
    total : int, optional
        How many batches the epoch has.

    Attributes
    ----------
    batches : int
        Batches given out.
    samples : int
        Samples in them.
    skipped : int
        Samples left out because something was wrong with them.
    losses : list of tuple of str
        (where, what was wrong) of the first hundred of these.
    restarted : int
        Workers that died and were replaced.
    first : float, optional
        Seconds until the first batch, where there are workers; they count no further.
    seconds : float
        Since the epoch began, or since the first batch came from workers; until its end, once that has come.
    rate : float
        Samples per second.
    starving : float
        The share of the time in which whoever takes the batches waited for one.
    busy : float
        The share of the time in which a worker was at work.
    shares : dict of str to float
        The share of each stage in the work.
    ahead : int
        How many batches are on their way or waiting now.
    bottleneck : str
        The stage that the others wait for: "reading", "transforming", "batching", "source" for what is read here,
        "delivering", or "consumer".

    """

    def __init__(self, counters, total=None):
        self.total = total
        self.batches, self.samples = counters.batches, counters.samples
        self.skipped, self.losses, self.restarted = counters.skipped, list(counters.losses), counters.restarted
        self.workers, self.ahead, self.first = counters.workers, counters.ahead, counters.first
        self.seconds = max((counters.end or time.perf_counter()) - counters.begin, 1e-9)
        self.rate = self.samples / self.seconds
        spent = sum(counters.stages)
        self.shares = {name: own / spent if spent else 0.0 for name, own in zip(STAGES, counters.stages)}
        self.busy = min(spent / (self.seconds * max(self.workers, 1)), 1.0)
        self.starving = (counters.waiting if self.workers else spent) / self.seconds
        self.feeding, self.delivering = counters.feeding / self.seconds, counters.delivering / self.seconds
        self.bottleneck = self._find()

    def _find(self):
        here = {"source": self.feeding, "delivering": self.delivering}
        slowest = max(here, key=here.get)
        if self.starving < NOTHING and here[slowest] < 0.5:
            return "consumer"
        if here[slowest] > max(self.busy, self.starving) / 2 and here[slowest] > NOTHING:
            return slowest
        return max(self.shares, key=self.shares.get)

    ADVICE = {"consumer": "batches are there before they are asked for",
              "source": "the source is read in this process: one that has numbers is read by workers",
              "delivering": "handing batches on takes the time",
              "reading": "files are what is waited for: larger chunks, a nearer disk, or more workers",
              "transforming": "more workers, or less to do for each sample",
              "batching": "stacking is what is waited for: arrays of one shape, or a transformer with `batch`"}

    def __str__(self):
        of = f" of {self.total}" if self.total is not None else ""
        lines = [f"{self.batches}{of} batches, {self.samples} samples in {self.seconds:.2f} s: "
                 f"{self.rate:.0f} samples/s" + (f", the first after {self.first:.2f} s" if self.first else ""),
                 f"waiting for batches {self.starving:.0%}, workers busy {self.busy:.0%} ({self.workers}), "
                 f"{self.ahead} batches ahead",
                 "of the work: " + ", ".join(f"{name} {own:.0%}" for name, own in self.shares.items()),
                 f"bottleneck: {self.bottleneck}; {self.ADVICE[self.bottleneck]}"]
        if self.skipped:
            where, what = self.losses[0]
            lines.append(f"left out {self.skipped} samples, first {where}: {what}")
        if self.restarted:
            lines.append(f"replaced {self.restarted} workers that died")
        return "\n".join(lines)

    __repr__ = __str__
