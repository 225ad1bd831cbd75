"""Where workers on several machines leave what is for others: places of bytes, which Ray's object store carries."""
import asyncio
from collections import defaultdict


class Post:
    """Runs in an actor of its own, and knows of nothing but keys.

    Parameters
    ----------
    size : int
        How many workers there are.

    """

    def __init__(self, size):
        self.size = size
        self._rounds = defaultdict(dict)  # {(group, round): {rank: parcel}}
        self._readers = defaultdict(int)
        self._mail = defaultdict(list)  # {(group, receiver): [(sender, tag, parcel), ...]}
        self._changed = asyncio.Condition()

    async def exchange(self, group, number, rank, size, parcel, seconds):
        """Return the parcels of all ranks of a round once they are there; the ranks that are if some do not come."""
        key = group, number
        async with self._changed:
            parcels = self._rounds[key]
            parcels[rank] = parcel
            self._changed.notify_all()
            try:
                await asyncio.wait_for(self._changed.wait_for(lambda: len(parcels) == size),
                                       seconds if seconds >= 0 else None)
            except asyncio.TimeoutError:
                return sorted(parcels), None
            self._readers[key] += 1
            if self._readers[key] == size:
                del self._rounds[key], self._readers[key]
            return None, [parcels[other] for other in range(size)]

    async def send(self, group, sender, receiver, tag, parcel):
        """Leave a parcel for a rank."""
        async with self._changed:
            self._mail[group, receiver].append((sender, tag, parcel))
            self._changed.notify_all()

    async def receive(self, group, sender, receiver, tag):
        """Return (sender, parcel) of the first with a tag, of a rank or of any, once it is there."""
        found = []

        def look():
            for place, (other, its_tag, parcel) in enumerate(self._mail[group, receiver]):
                if its_tag == tag and sender in (-1, other):
                    found.append((other, parcel))
                    del self._mail[group, receiver][place]
                    return True
            return False
        async with self._changed:
            await self._changed.wait_for(look)
        return found[0]
