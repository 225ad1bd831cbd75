"""Machines that run one program together: each has a launcher, and the launchers agree through a store."""
import json
import socket
import time
from dataclasses import dataclass

from dragon.distributed.errors import DistributedError, StoreError
from dragon.distributed.launch import Failure

BEAT_SECONDS, SILENCE_SECONDS = 1.0, 30.0  # between signs of life of a machine, and until it is given up
JOIN_SECONDS, LAST_CALL_SECONDS, LEAVE_SECONDS = 600.0, 30.0, 30.0


@dataclass
class Place:
    """What a machine's part of the program is."""

    node: int
    nodes: int
    first_rank: int
    world_size: int
    port: int


class FailedElsewhere(Failure):
    """A process of another machine ended badly, or the machine has gone.

    Parameters
    ----------
    who, how : str
        Who has, and what became of it, in words.
    is_final : bool, optional, default=False
        Whether nothing can be started anew.

    """

    who = how = None

    def __init__(self, who, how, is_final=False):
        super().__init__(rank=-1, local_rank=-1, process=0, code=1)
        self.who, self.how, self.is_final = who, how, is_final


class Nodes:
    """The machines of a program, as the launcher of one of them sees them.

    Parameters
    ----------
    store : Store
        What all launchers share, under keys that nobody else uses.
    keeps : bool
        Whether this machine keeps it; it is the first one then.
    count : int
        How many processes run here.
    least, most : int
        How many machines there have to be, and may be.
    node : int, optional
        The number of this machine; the order in which they come decides otherwise.
    join_seconds : float, optional, default=600
        How long the others are waited for.
    last_call_seconds : float, optional, default=30
        How long more machines are waited for once there are enough.

    """

    def __init__(self, store, keeps, count, least, most, node=None, join_seconds=JOIN_SECONDS,
                 last_call_seconds=LAST_CALL_SECONDS):
        check_numbers(least, most, node)
        self.store, self.keeps, self.count = store, keeps, count
        self.least, self.most, self.wish = least, most, 0 if keeps else node
        self.join_seconds, self.last_call_seconds = join_seconds, last_call_seconds
        self.attempt, self.place, self._beats, self._looked = 0, None, {}, 0.0

    def gather(self, attempt):
        """Return this machine's place once all have come; called before each start."""
        self.attempt, self._beats = attempt, {}
        node = self.wish if self.wish is not None else self.store.ask("add", f"{attempt}/come", 1)
        self.store.set(f"{attempt}/count/{node}", str(self.count))
        if self.keeps:
            self._close()
        try:
            self.store.wait([f"{attempt}/world"], self.join_seconds)
        except StoreError as error:
            raise DistributedError(f"torchrun: got no {self.least} machines within {self.join_seconds:g} seconds "
                                   f"({error}), expected each to start its launcher") from None
        world = json.loads(self.store.get(f"{attempt}/world"))
        counts = world["counts"]
        if str(node) not in counts:
            raise DistributedError(f"torchrun: got a program that runs on {len(counts)} machines already, expected "
                                   f"this one to come within {self.last_call_seconds:g} seconds of the others")
        order = sorted(map(int, counts))
        before = sum(counts[str(other)] for other in order[:order.index(node)])
        self.place = Place(order.index(node), len(order), before, sum(counts.values()), world["port"])
        self._looked = time.monotonic()
        return self.place

    def _close(self):
        """Wait for machines, and say which take part."""
        end, last = time.monotonic() + self.join_seconds, None
        while True:
            numbers = range(max(self.most, 1 + self.store.ask("add", f"{self.attempt}/come", 0)))
            found = [node for node in numbers if self.store.ask("check", [f"{self.attempt}/count/{node}"])]
            now = time.monotonic()
            if len(found) >= self.least and last is None:
                last = now + self.last_call_seconds
            if len(found) >= self.most or (last is not None and now >= last):
                break
            if now >= end:
                return  # whoever waits is late then, and says so
            time.sleep(0.05)
        counts = {str(node): int(self.store.get(f"{self.attempt}/count/{node}")) for node in found[:self.most]}
        with socket.socket() as free:
            free.bind(("", 0))
            port = free.getsockname()[1]
        self.store.set(f"{self.attempt}/world", json.dumps({"counts": counts, "port": port}))

    def look(self):
        """Return what went wrong elsewhere, as a `FailedElsewhere`, or None; show that this machine lives."""
        now = time.monotonic()
        if now - self._looked < BEAT_SECONDS:
            return None
        self._looked = now
        try:
            self.store.set(f"{self.attempt}/beat/{self.place.node}", str(now))
            if self.store.ask("check", [f"{self.attempt}/failed"]):
                return FailedElsewhere(*self.store.get(f"{self.attempt}/failed").decode().split("|", 1))
            for node in range(self.place.nodes):
                key = f"{self.attempt}/beat/{node}"
                beat = self.store.get(key) if self.store.ask("check", [key]) else b""
                known, since = self._beats.get(node, (None, now))
                self._beats[node] = (beat, now if beat != known else since)
                if now - self._beats[node][1] > SILENCE_SECONDS:
                    return FailedElsewhere(f"machine {node}", f"has given no sign for {SILENCE_SECONDS:g} seconds")
        except StoreError as error:
            return FailedElsewhere("the launcher that keeps the store", f"has gone ({error})", is_final=True)
        return None

    def tell(self, failures):
        """Tell the others what went wrong here, unless that is known."""
        own = [failure for failure in failures if not isinstance(failure, FailedElsewhere)]
        if own:
            try:
                words = f"rank {own[0].rank} on machine {self.place.node}|{own[0].how}"
                self.store.ask("compare_set", f"{self.attempt}/failed", b"", words.encode())
            except StoreError:
                pass  # its keeper has gone: the others see that themselves

    def finish(self):
        """Wait until all machines are done; return what went wrong elsewhere until then, or None."""
        try:
            self.store.ask("add", f"{self.attempt}/done", 1)
            while int(self.store.get(f"{self.attempt}/done")) < self.place.nodes:
                failure = self.look()
                if failure is not None:
                    return failure
                time.sleep(0.05)
        except StoreError:
            return None  # its keeper was done, and did not wait for ever
        self._leave()
        return None

    def _leave(self):
        """Let the others see that all are done before the store goes."""
        left = self.store.ask("add", f"{self.attempt}/left", 1)
        end = time.monotonic() + LEAVE_SECONDS
        while self.keeps and left < self.place.nodes and time.monotonic() < end:
            time.sleep(0.02)
            left = int(self.store.get(f"{self.attempt}/left"))


def check_numbers(least, most, node=None):
    """Raise unless so many machines, and this number of one of them, can be."""
    if not 1 <= least <= most:
        raise ValueError(f"got {least} to {most} machines, expected a number of one or more, or a range")
    if node is not None and not 0 <= node < most:
        raise ValueError(f"got the number {node} for a machine, expected 0 to {most - 1}")


def is_here(host):
    """Return whether an address is one of this machine."""
    if host in ("localhost", "127.0.0.1", "::1", socket.gethostname(), socket.getfqdn()):
        return True
    try:
        with socket.socket() as probe:
            probe.bind((host, 0))
        return True
    except OSError:
        return False
