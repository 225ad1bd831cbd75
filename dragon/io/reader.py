"""Which samples come, in which order, for whom: the first of the three nouns of `dragon.io`."""
from itertools import islice

from dragon.io import order
from dragon.io.draws import Draws
from dragon.io.source import Source
from dragon.io.stages import shuffling

SHUFFLES = {False: "no", None: "no", "no": "no", True: "samples", "samples": "samples", "chunks": "chunks"}
CHUNK = 256  # samples that count as neighbours where the source says nothing of its own


class Reader:
    """Samples of a source in an exact order: seeded, shared out, and gone on with in the middle.

    Parameters
    ----------
    source : Union[dragon.io.sources.Source, Sequence, Iterable]
        Anything with `__len__` and `__getitem__`, which workers read by number, or with `__iter__`, which is read
        here. A `Source` reads several samples at once, and tells where they lie.
    shuffle : Union[bool, str], optional, default=False
        True or "samples" mixes all samples anew in each epoch. "chunks" has whole chunks in random order and mixes the
        samples of some chunks with each other, so that a disk reads on from where it is.
    seed : int, optional, default=0
        Where the orders of all epochs start from.
    rank : int, optional, default=0
        Which of the shards this reader has.
    shards : int, optional, default=1
        Into how many parts each epoch is cut.
    uneven : str, optional, default="keep"
        Where the shards cannot be equally large: "keep" gives some one sample more, "drop" leaves samples out, "pad"
        has some twice.
    window : int, optional, default=16
        How many chunks are mixed with each other.
    buffer : int, optional, default=1024
        From how many samples one is drawn where the source has no numbers.
    epoch : int, optional, default=0
        The number of the first epoch.

    Examples
    --------
    >>> list(Reader("abcdef", shuffle=True, seed=1)) == list(Reader("abcdef", shuffle=True, seed=1))
    True
    >>> [list(Reader("abcde", rank=rank, shards=2)) for rank in (0, 1)]
    [['a', 'c', 'e'], ['b', 'd']]

    """

    def __init__(self, source, shuffle=False, seed=0, rank=0, shards=1, uneven="keep", window=16, buffer=1024,
                 epoch=0):
        if shuffle not in SHUFFLES:
            raise ValueError(f"Reader: got shuffle={shuffle!r}, expected a bool, 'samples' or 'chunks'")
        if uneven not in order.UNEVEN:
            raise ValueError(f"Reader: got uneven={uneven!r}, expected one of {order.UNEVEN}")
        if shards < 1 or not 0 <= rank < shards:
            raise ValueError(f"Reader: got rank={rank} of shards={shards}, expected 0 <= rank < shards")
        for name, value in (("window", window), ("buffer", buffer)):
            if value < 1:
                raise ValueError(f"Reader: got {name}={value}, expected at least 1")
        self.source, self.shuffle, self.seed = source, SHUFFLES[shuffle], int(seed)
        self.rank, self.shards, self.uneven = rank, shards, uneven
        self.window, self.buffer = window, buffer
        self.numbered = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if not self.numbered and uneven != "keep":
            raise ValueError(f"Reader: got uneven={uneven!r} for {type(source).__name__}, which has no length; "
                             "expected 'keep'")
        self.epoch, self.position, self._begin, self._waiting = int(epoch), 0, 0, True

    def __len__(self):
        if not self.numbered:
            raise TypeError(f"Reader: got {type(self.source).__name__}, which has no length and numbers of samples; "
                            "expected one that has")
        return order.share(len(self.source), self.rank, self.shards, self.uneven)

    def __iter__(self):
        epoch, position = self.start()
        if self.numbered:
            numbers = self.numbers(epoch, position)
            samples = (sample for some in iter(lambda: list(islice(numbers, 64)), []) for sample in self.read(some))
        else:
            samples = self.samples(epoch, position)
        for sample in samples:
            self.position += 1
            yield sample
        self.finish()

    # An epoch from the inside; `Iterator` leads it.

    def start(self):
        """Begin an epoch, the next one or that of a loaded state; return (its number, samples that are passed over)."""
        if not self._waiting:
            self.epoch, self.position, self._begin = self.epoch + 1, 0, 0
        self._waiting = False
        return self.epoch, self.position

    def finish(self):
        """End an epoch: what is asked for next is the following one."""
        self.epoch, self.position, self._begin, self._waiting = self.epoch + 1, 0, 0, True

    def numbers(self, epoch, position=0):
        """Yield the numbers of an epoch's samples from a position on."""
        for block in order.skip(self._blocks(epoch), position):
            yield from block.tolist()

    def _blocks(self, epoch):
        count, mine = len(self.source), (self.rank, self.shards, self.uneven)
        if self.shuffle == "samples":
            return order.shuffled(count, *mine, self._begin, self.seed, epoch)
        if self.shuffle == "no":
            return order.places_of(count, *mine, self._begin)
        return order.chunked(self._chunks(), *mine, self.seed, epoch, self.window,
                             getattr(self.source, "will_need", None))

    def _chunks(self):
        """Return the runs of neighbours, none of them so long that mixing would be too coarse or take all memory."""
        count = len(self.source)
        runs = self.source.chunks() if isinstance(self.source, Source) else [range(count)]
        return [run[start:start + CHUNK] for run in runs for start in range(0, len(run), CHUNK)]

    def read(self, numbers):
        """Return the samples of some numbers."""
        if isinstance(self.source, Source):
            return self.source.read(numbers)
        return [self.source[number] for number in numbers]

    def describe(self, number):
        """Return where a sample lies, for messages."""
        if isinstance(self.source, Source):
            return self.source.describe(number)
        return f"sample {number} of {type(self.source).__name__}"

    def samples(self, epoch, position=0):
        """Yield the samples of an epoch of a source without numbers, from a position on."""
        samples = self._walk(epoch)
        if self.shuffle != "no":
            samples = shuffling.swap(samples, self.buffer, Draws(self.seed, epoch, self.rank, 1).integer)
        return islice(samples, position, None)

    def _walk(self, epoch):
        if iter(self.source) is self.source and epoch:
            raise TypeError(f"Reader: got {type(self.source).__name__}, which can be read once, and is asked for epoch "
                            f"{epoch}; expected what gives a new iterator each time, as a list or a Stream does")
        parts = self.source.parts() if hasattr(self.source, "parts") else [self.source]
        if self.shuffle != "no":
            parts = [parts[place] for place in order.random_state(self.seed, epoch).permutation(len(parts))]
        if len(parts) >= self.shards:
            return (sample for part in parts[self.rank::self.shards] for sample in part)
        return islice((sample for part in parts for sample in part), self.rank, None, self.shards)

    # Going on later.

    def state_dict(self):
        """Return what is needed to go on from here, in this process or another one."""
        return {"version": 1, "epoch": self.epoch, "position": self.position, "begin": self._begin,
                "shards": self.shards, "seed": self.seed, "shuffle": self.shuffle, "uneven": self.uneven,
                "window": self.window, "count": len(self.source) if self.numbered else None}

    def load_state_dict(self, state):
        """Go on from where another reader of the same source was.

        Parameters
        ----------
        state : dict
            What `state_dict` returned. The number of shards may be another one, if all of them were equally far,
            unless chunks are shuffled.

        """
        mine = self.state_dict()
        check_state(state, mine, "Reader")
        fixed = ["seed", "shuffle", "uneven", "count"] + (["window"] if self.shuffle == "chunks" else [])
        for name in fixed:
            if state[name] != mine[name]:
                raise ValueError(f"Reader.load_state_dict: got a state of {name}={state[name]!r}, expected that of "
                                 f"this reader, {mine[name]!r}: its epochs have other orders")
        position, begin = state["position"], state["begin"]
        if state["shards"] != self.shards and position:
            if self.shuffle == "chunks" or not self.numbered:
                raise ValueError(f"Reader.load_state_dict: got a state of {state['shards']} shards in the middle of an "
                                 f"epoch, expected {self.shards}: these orders depend on it")
            begin, position = min(begin + position * state["shards"], len(self.source)), 0
        self.epoch, self.position, self._begin, self._waiting = state["epoch"], position, begin, True


def check_state(state, mine, who):
    """Raise unless a state is a dict of the version and with the entries that this release writes."""
    if not isinstance(state, dict):
        raise TypeError(f"{who}.load_state_dict: got {type(state).__name__}, expected what `state_dict` returned")
    if state.get("version") != mine["version"]:
        raise ValueError(f"{who}.load_state_dict: got version {state.get('version')!r}, expected {mine['version']}")
    if absent := sorted(mine.keys() - state.keys()):
        raise ValueError(f"{who}.load_state_dict: got a state without {', '.join(absent)}, expected all that "
                         "`state_dict` returns")
