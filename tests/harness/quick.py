"""`make quick`: a sample of the suite that ends within minutes, chosen by what tests took when they were last measured.

`tests/durations.tsv` holds the processor seconds of each file with the number of its tests, and of each test that took
more than SLOW; `make durations` writes it. A sample holds something of every file and of every row of the operator
table, and other tests with another seed. What takes long is in no sample, unless a file has nothing else.
"""
import collections
import pathlib
import zlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests" / "durations.tsv"
SLOW = 1.0
LONG = 5.0  # a test that takes more has the mark `long`, which says why
UNKNOWN = 0.1  # of a test in a file that nobody has measured


def plain(nodeid):
    """Return a test's name as tables keep it: relative to the tests, wherever `pytest` was started."""
    return nodeid[nodeid.find("tests/") + len("tests/"):]


def write_table(found, path=TABLE):
    """Write what was measured.

    Parameters
    ----------
    found : Dict[str, Tuple[float, float]]
        Of each test the seconds of a clock and of processors.
    path : pathlib.Path, optional
        The table.

    """
    files, slow = collections.defaultdict(lambda: [0.0, 0]), {}
    for name, (clock, seconds) in found.items():
        # A server of processes that ends has what all of them took; it is not this test's.
        name, seconds = plain(name), min(seconds, 2 * clock)
        entry = files[name.partition("::")[0]]
        entry[0] += seconds
        entry[1] += 1
        if seconds > SLOW and "\t" not in name:
            slow[name] = seconds
    lines = [f"{seconds:.1f}\t{count}\t{name}\n" for name, (seconds, count) in sorted(files.items())]
    lines += [f"{seconds:.1f}\t1\t{name}\n" for name, seconds in sorted(slow.items())]
    path.write_text("".join(lines), encoding="utf-8")


def read_table(path=TABLE):
    """Return ({file: mean seconds of a test}, {slow test: seconds}); both empty where there is no table."""
    files, slow = {}, {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            seconds, count, name = line.split("\t")
            if "::" in name:
                slow[name] = float(seconds)
            else:
                files[name] = (float(seconds), int(count))
    for name, (seconds, count) in files.items():
        own = [it for test, it in slow.items() if test.partition("::")[0] == name]
        files[name] = max(seconds - sum(own), 0.0) / max(count - len(own), 1)
    return files, slow


def choose(items, budget, seed, table=None):
    """Return the tests of a sample.

    Parameters
    ----------
    items : List[pytest.Item]
        All tests.
    budget : float
        Processor seconds that the sample may take, if every file takes what it took.
    seed : int
        Another one chooses other tests.
    table : Tuple[Dict[str, float], Dict[str, float]], optional
        What `read_table` returns.

    Returns
    -------
    List[pytest.Item]
        In the order of `items`.

    """
    files, slow = table or read_table()
    groups = collections.defaultdict(list)
    for item in items:
        row = getattr(getattr(item, "callspec", None), "params", {}).get("row")
        name = plain(item.nodeid)
        groups[name.partition("::")[0], getattr(row, "name", None)].append((item, name))

    def seconds(name):
        return slow.get(name, files.get(name.partition("::")[0], UNKNOWN))

    def order(entry):
        item, name = entry
        long = item.get_closest_marker("slow") is not None or name in slow
        return long, long and seconds(name), zlib.crc32(f"{seed} {name}".encode())

    chosen, others = [], []
    for group in groups.values():
        first, *rest = sorted(group, key=order)
        chosen.append(first)
        others += [entry for entry in rest if not order(entry)[0]]
    left = budget - sum(seconds(name) for _, name in chosen)
    for item, name in sorted(others, key=order):
        left -= seconds(name)
        if left < 0:
            break
        chosen.append((item, name))
    kept = {id(item) for item, _ in chosen}
    return [item for item in items if id(item) in kept]


class Quick:
    """The plugin of `--quick SECONDS`.

    Parameters
    ----------
    budget : float
        Processor seconds of the sample.
    seed : int
        Which sample.

    """

    def __init__(self, budget, seed):
        self.budget, self.seed = budget, seed

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        """Keep the sample."""
        kept = choose(items, self.budget, self.seed)
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept
