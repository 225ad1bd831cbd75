"""`dragon data`: files of samples packed, shown, checked, and turned into others."""
import json
import os

from dragon.command import data_shown
from dragon.command.parser import Mistake, add_json, number
from dragon.core.units import count_bytes
from dragon.io.formats import write_samples

EXAMPLES = (
    ("dragon data pack photos/ photos.kpl", "a folder of pictures, a folder for each class, as one file"),
    ("dragon data pack train-{000..099}.tar train.kpl --shards 8 --workers 4", "by four processes, into eight files"),
    ("dragon data ls train-*.kpl", "how many samples, what one looks like, and whether the index is whole"),
    ("dragon data cat train.kpl --start 1000 --count 2", "two samples"),
    ("dragon data verify train-*.kpl", "compare all checksums; the status is 1 where something is broken"),
    ("dragon data convert train.kpl train.tfrecord", "the endings of the names tell the formats"),
)
WORDS = {"description": """Pack, show, check and convert files of samples: KPLRecord, TFRecord, RecordIO, WebDataset's
archives, CSV, JSON lines, Parquet, Arrow, .npy, and folders of pictures."""}
# Options, and the actions that know them.
OWNERS = {"compression": ("pack", "convert"), "append": ("pack",), "shards": ("pack",), "workers": ("pack",),
          "start": ("cat",), "count": ("cat",)}


def describe(parser):
    """Tell the parser the command's words."""
    parser.add_argument("action", choices=tuple(ACTIONS), help="what is done")
    parser.add_argument("files", nargs="+", metavar="file",
                        help="files of samples, or a folder of pictures; pack, convert: the last is written")
    parser.add_argument("--compression", choices=("zlib", "zstd"), help="pack: how each record is compressed")
    parser.add_argument("--append", action="store_true", default=None, help="pack: add to what the file holds")
    parser.add_argument("--shards", type=number(1), help="pack: into so many files, name-00003-of-00010.kpl")
    parser.add_argument("--workers", type=number(0), help="pack: so many processes, with --shards (default 2)")
    parser.add_argument("--start", type=number(0), help="cat: the number of the first sample (default 0)")
    parser.add_argument("--count", type=number(0), help="cat: how many samples (default: all)")
    add_json(parser)


def main(options):
    """Do what is asked with files of samples."""
    for option, owners in OWNERS.items():
        if getattr(options, option) is not None and options.action not in owners:
            raise Mistake(f"got {options.action} with --{option}, expected it with {' or '.join(owners)} only")
    try:
        return ACTIONS[options.action](options)
    except (ModuleNotFoundError, TypeError, ValueError) as error:  # ValueError: DataError as well
        if isinstance(error, ModuleNotFoundError) and "pip install" not in str(error):
            raise
        raise Mistake(str(error)) from None


def split_files(options):
    """Return (files that are read, the file that is written)."""
    if len(options.files) < 2:
        raise Mistake(f"got {options.action} of {options.files[0]} alone, expected the name of what is written after "
                      f"it")
    return options.files[:-1], options.files[-1]


def pack(options):
    """Write samples into KPLRecord files."""
    from dragon.io.records import write_parallel
    sources, path = split_files(options)
    if not path.endswith(".kpl"):
        raise Mistake(f"got {path!r} as what is packed into, expected a name that ends with .kpl: convert writes "
                      f"others")
    if options.workers is not None and not options.shards:
        raise Mistake("got --workers without --shards, expected both: a process writes a file")
    source, metadata = data_shown.open_any(sources)
    if options.shards:
        if options.append:
            raise Mistake("got --append with --shards, expected one of them")
        workers = 2 if options.workers is None else options.workers
        names = write_parallel(source, path, workers, options.shards, data_shown.strip_place(sources),
                               options.compression, metadata)
        return tell_written(options, len(source) if hasattr(source, "__len__") else None, names)
    words = {"compression": options.compression, "metadata": metadata}
    if options.append:
        words = {"compression": options.compression, "append": True}
        return tell_written(options, write_samples(data_shown.bare(source, sources), path, **words), [path])
    return tell_written(options, write_samples(data_shown.bare(source, sources), path, **words), [path])


def convert(options):
    """Write samples in another format."""
    sources, path = split_files(options)
    source, metadata = data_shown.open_any(sources)
    words = {"compression": options.compression, "metadata": metadata} if path.endswith(".kpl") else {}
    if options.compression and not words:
        raise Mistake(f"got --compression for {path!r}, expected it for a name that ends with .kpl")
    return tell_written(options, write_samples(data_shown.bare(source, sources), path, **words), [path])


def tell_written(options, count, paths):
    """Print what was written."""
    sizes = [os.path.getsize(path) if os.path.exists(path) else 0 for path in paths]
    if count is None:
        from dragon.io.records import KPLRecord
        count = len(KPLRecord(paths))
    report = {"samples": count, "files": paths, "bytes": sum(sizes)}
    print(json.dumps(report, indent=2) if options.json else
          f"{count} samples, {count_bytes(sum(sizes))}: {paths[0]}" + (f" to {paths[-1]}" if len(paths) > 1 else ""))
    return 0


def show(options):
    """Tell how many samples files have, how large they are, and what the first looks like."""
    reports = [data_shown.describe_file(path) for path in data_shown.names_of(options.files)]
    print(json.dumps(reports, indent=2) if options.json else "\n".join(
        line for report in reports for line in data_shown.as_lines(report)))
    return 1 if any(report.get("index", "whole") != "whole" for report in reports) else 0


def cat(options):
    """Print samples, one on a line."""
    source, _ = data_shown.open_any(options.files)
    start = options.start or 0
    for sample in data_shown.take(source, start, options.count):
        print(data_shown.as_json(sample) if options.json else data_shown.as_text(sample))
    return 0


def verify(options):
    """Read everything, and tell what is broken and where."""
    reports = [data_shown.check_file(path) for path in data_shown.names_of(options.files)]
    broken = sum(bool(report["troubles"]) for report in reports)
    if options.json:
        print(json.dumps(reports, indent=2))
        return 1 if broken else 0
    for report in reports:
        print(f"{report['file']}: {report['samples']} samples "
              + (f"whole, {len(report['troubles'])} troubles" if report["troubles"] else "whole"))
        for trouble in report["troubles"]:
            print(f"  {trouble['what']}")
    return 1 if broken else 0


ACTIONS = {"pack": pack, "ls": show, "cat": cat, "verify": verify, "convert": convert}
