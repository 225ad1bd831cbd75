"""What it costs to send: seconds and bytes of collectives over processes of one machine, and of several."""
from dataclasses import dataclass


@dataclass
class Network:
    """Links within machines and between them.

    Parameters
    ----------
    bandwidth : float
        Bytes per second that a process sends to others of its machine.
    between : float
        Bytes per second that a machine sends to others.
    latency : float
        Seconds of one message.
    shared : bool, optional, default=False
        Whether processes of a machine share that bandwidth, as those do that send through its memory.

    """

    bandwidth: float
    between: float
    latency: float = 5e-6
    shared: bool = False

    def _speed(self, processes):
        return self.bandwidth / max(processes / 2, 1) if self.shared else self.bandwidth

    def gather(self, size, machines, local):
        """Return the seconds of all_gather, or of reduce_scatter, whose whole has so many bytes."""
        seconds = 0.0
        if local > 1:
            seconds += size * (local - 1) / local / self._speed(local) + (local - 1) * self.latency
        if machines > 1:
            seconds += size * (machines - 1) / machines / self.between + (machines - 1) * self.latency
        return seconds

    def reduce(self, size, machines, local):
        """Return the seconds of all_reduce of so many bytes: scattered within machines, summed between, gathered."""
        return 2 * self.gather(size, machines, local)

    def send(self, size, crosses):
        """Return the seconds of a message to another process, of another machine or not."""
        return self.latency + size / (self.between if crosses else self.bandwidth)


def reduce_traffic(size, count):
    """Return the bytes that each of some processes sends in all_reduce."""
    return 2 * gather_traffic(size, count)


def gather_traffic(size, count):
    """Return the bytes that each of some processes sends in all_gather or reduce_scatter of a whole of a size."""
    return size * (count - 1) / count
