"""KPLRecord files: samples as they are, in any number, each found at once, with checksums."""
from dragon.io.records.checking import Findings, verify
from dragon.io.records.parallel import write_parallel
from dragon.io.records.reader import KPLRecord
from dragon.io.records.writer import KPLRecordWriter
