"""Whether KPLRecord files are whole: every checksum compared, every value read."""
import numpy as np

from dragon import _C
from dragon.io.errors import DataError
from dragon.io.records.shard import ALIGN, HEAD, INDEX, START, TRAILER, WHOLE, Shard, read_values
from dragon.io.sources.opened import OpenFiles
from dragon.io.sources.paths import list_paths

AT_ONCE = 256


class Findings:
    """What is wrong with files.

    Attributes
    ----------
    records : int
        How many records are whole.
    troubles : list of dragon.io.DataError
        What is not, each with its path and offset.

    """

    def __init__(self):
        self.records, self.troubles = 0, []

    @property
    def whole(self):
        """Whether nothing is wrong."""
        return not self.troubles


def verify(paths):
    """Read all records of KPLRecord files and compare their checksums.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files, as `KPLRecord` takes them.

    Returns
    -------
    Findings
        What is whole, and what is not.

    """
    findings, files = Findings(), OpenFiles()
    for path in list_paths(paths, "verify"):
        try:
            file = files.get(path)
            shard = Shard(file)
        except DataError as error:
            findings.troubles.append(error)
            continue
        _check_shard(file, shard, findings)
    return findings


def _check_shard(file, shard, findings):
    try:
        shard.read_header(file)
    except DataError as error:
        findings.troubles.append(error)
    if shard.index_health != WHOLE:
        findings.troubles.append(DataError(shard.index_health, file.path, file.size))
    lost = shard.lost
    if shard.index_health == WHOLE:
        lost = [gap for gap in _gaps(shard) if not _is_old_index(file, gap)]
    findings.troubles += [DataError(f"KPLRecord: got {size} bytes that are no record, expected records",
                                    file.path, offset) for offset, size in lost]
    for start in range(0, len(shard.places), AT_ONCE):
        _check_places(file, shard.places[start:start + AT_ONCE], findings)


def _check_places(file, places, findings):
    try:
        findings.records += len(read_values(file, places))
    except DataError as error:
        if len(places) == 1:
            findings.troubles.append(error)
            return
        middle = len(places) // 2
        _check_places(file, places[:middle], findings)
        _check_places(file, places[middle:], findings)


def _gaps(shard):
    """Yield (offset, size) of what lies between samples, from the end of the header to the first of them on."""
    if not len(shard.places):
        return
    offsets, sizes = (shard.places[:, column].astype(np.int64) for column in (0, 1))
    ends = (offsets + sizes + ALIGN - 1) // ALIGN * ALIGN
    for place, in np.argwhere(offsets[1:] > ends[:-1]):
        yield int(ends[place]), int(offsets[place + 1] - ends[place])


def _is_old_index(file, gap):
    """Return whether some bytes are an index and a trailer, behind which the file was appended to."""
    offset, end = gap[0], sum(gap)
    while offset < end:
        head = _C.kpl_head(file.read_at(offset, HEAD), offset)
        if head is None or head[0] not in (INDEX, TRAILER):
            return False
        offset += -(-head[1] // ALIGN) * ALIGN
    return offset == end and gap[0] >= START.size
