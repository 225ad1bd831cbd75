"""What is done to the samples of one batch: read, changed, put together; in a worker or here."""
import random
import time

from dragon.io.batching import allocate
from dragon.io.draws import Draws, mix
from dragon.io.failure import no_end
from dragon.io.transformer import takes_draws

POLICIES = ("raise", "skip")


class Made:
    """A batch, and what making it took.

    Parameters
    ----------
    count : int
        How many samples are in it.
    value : Any
        The batch; of no meaning without samples.
    skipped : list of tuple of str
        (where it lies, what was wrong) of each sample that was left out.
    seconds : tuple of float
        Spent in reading, changing and putting together.

    """

    __slots__ = ("count", "value", "skipped", "seconds")

    def __init__(self, count, value, skipped, seconds):
        self.count, self.value, self.skipped, self.seconds = count, value, skipped, seconds

    def __reduce__(self):
        return Made, (self.count, self.value, self.skipped, self.seconds)


class Work:
    """The steps from the entries of a batch to the batch.

    Parameters
    ----------
    reader : Reader
        Reads samples by number. Where it has no numbers, an entry is a pair (position in the epoch, sample).
    transform : Callable, optional
        Changes one sample, or a whole batch at once in its method `batch`.
    collate : Callable
        Makes a batch of a list of samples.
    errors : str
        "raise", or "skip" for leaving out samples that cannot be read or changed, or are unlike the others.
    alone : bool
        Whether the process is a worker's own: its global random numbers are then seeded for each batch.

    """

    def __init__(self, reader, transform, collate, errors, alone=False):
        self.reader, self.transform, self.collate = reader, transform, collate
        self.errors, self.alone = errors, alone
        self.whole = getattr(transform, "batch", None)
        self.random = transform is not None and takes_draws(transform)

    def __call__(self, task):
        try:
            return self._make(*task)
        except StopIteration as error:
            raise no_end(error, getattr(error, "where", "a sample")) from error

    def _make(self, epoch, entries):
        """Return what is `Made` of the entries of a batch."""
        if self.alone:
            self._seed(epoch, entries)
        begin = time.perf_counter()
        skipped = []
        entries, samples = self._read(entries, skipped)
        read = time.perf_counter()
        if self.whole is None:
            entries, samples = self._change(epoch, entries, samples, skipped)
        changed = time.perf_counter()
        value = None
        if samples:
            make = self.collate if self.whole is None else self._make_whole(epoch)
            entries, value = self._put_together(make, entries, samples, skipped)
        end = time.perf_counter()
        seconds = read - begin, changed - read, end - changed
        if self.whole is not None:
            seconds = seconds[0], seconds[2], 0.0
        return Made(len(entries), value, skipped, seconds)

    def _key(self, entry):
        return entry if self.reader.numbered else entry[0]

    def _draws(self, epoch, entry):
        return Draws(self.reader.seed, epoch, self._key(entry))

    def _seed(self, epoch, entries):
        """Seed what functions draw from without asking: batches do not depend on the worker that makes them."""
        import numpy as np
        state = Draws(self.reader.seed, epoch, self._key(entries[0]), len(entries)).state
        random.seed(state)
        np.random.seed(mix(state) & 0xFFFFFFFF)

    def _read(self, entries, skipped):
        """Return the entries that could be read, and their samples."""
        if not self.reader.numbered:
            return entries, [sample for _, sample in entries]
        try:
            return entries, self.reader.read(entries)
        except Exception as error:
            if len(entries) == 1 and self.errors == "raise":
                raise self._placed(error, entries[0])
        # One by one: of all samples only one may be broken.
        return self._each(entries, entries, lambda entry, _: self.reader.read([entry])[0], skipped)

    def _change(self, epoch, entries, samples, skipped):
        transform = self.transform
        if transform is None:
            return entries, samples
        if self.random:
            return self._each(entries, samples,
                              lambda entry, sample: transform(sample, draws=self._draws(epoch, entry)), skipped)
        return self._each(entries, samples, lambda entry, sample: transform(sample), skipped)

    def _each(self, entries, samples, function, skipped):
        kept, results = [], []
        for entry, sample in zip(entries, samples):
            try:
                results.append(function(entry, sample))
            except Exception as error:
                if self.errors == "raise":
                    raise self._placed(error, entry)
                skipped.append((self._describe(entry), _words(error)))
            else:
                kept.append(entry)
        return kept, results

    def _make_whole(self, epoch):
        """Return the function that makes a batch of (entry, sample) pairs in one go."""
        return lambda samples, entries: self.whole(samples, [self._draws(epoch, entry) for entry in entries], allocate)

    def _put_together(self, make, entries, samples, skipped):
        """Return the entries that go together, and the batch of them."""
        try:
            return entries, make(samples) if self.whole is None else make(samples, entries)
        except Exception as error:
            odd = self._find_odd(error, make, entries, samples)
            if self.errors == "raise":
                raise self._placed(error, entries[next(iter(odd))])
            skipped += [(self._describe(entries[place]), _words(words)) for place, words in odd.items()]
        entries = [entry for place, entry in enumerate(entries) if place not in odd]
        samples = [sample for place, sample in enumerate(samples) if place not in odd]
        return self._put_together(make, entries, samples, skipped) if samples else ([], None)

    def _find_odd(self, error, make, entries, samples):
        """Return {place: error} of the samples that an error came of; raise it where it came of none by itself."""
        places = getattr(error, "places", None)  # as `OddSamples` has them, and other errors may
        if places:
            return dict.fromkeys(places, error)
        odd = {}
        for place, (entry, sample) in enumerate(zip(entries, samples)):
            try:
                make([sample]) if self.whole is None else make([sample], [entry])
            except Exception as own:
                odd[place] = own
        if not odd:
            raise error
        return odd

    def _describe(self, entry):
        return self.reader.describe(entry) if self.reader.numbered else f"sample {entry[0]} of the epoch"

    def _placed(self, error, entry):
        """Return an error that knows where its sample lies."""
        try:
            error.where = self._describe(entry)
            if hasattr(error, "add_note"):  # Python 3.11
                error.add_note(f"It came of {error.where}.")
        except Exception:  # a class may allow no attributes, a source may not be able to tell
            pass
        return error


def bytes_of(value):
    """Return how many bytes the arrays and tensors of a batch take, or of what `Work` made."""
    if isinstance(value, Made):
        return bytes_of(value.value)
    if isinstance(value, dict):
        return sum(map(bytes_of, value.values()))
    if isinstance(value, (tuple, list)):
        return sum(map(bytes_of, value))
    return getattr(value, "nbytes", 0) or 0


def _words(error):
    return f"{type(error).__name__}: {error}"


class Start:
    """Give a worker its work; a class, so that it can be pickled."""

    def __init__(self, work):
        self.work = work

    def __call__(self, index):
        return self.work
