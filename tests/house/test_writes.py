"""Files are written whole, by `dragon.core.files`; what opens, makes or moves files by itself has its reason here."""
import pathlib
import re

from house.writes import read_writes

ROOT = pathlib.Path(__file__).resolve().parents[2]
STREAM = "a stream that grows while others read it: records, logs, events"
CALLERS = "opened for its caller, in the mode that the caller tells"
PRIVATE = "in a temporary folder, for a process that asks whether the writer ended well"
MEMORY = "no file: memory, or a number of an open one"
FILLED = "fills a place that the one writer gave, or a file in memory"
MOVED = "moves what is whole"
UNPACKED = "what a downloaded archive holds"
MAY = {
    "dragon.command:main": MEMORY, "dragon.command.tracing:leave_alone": MEMORY,
    "dragon.command.tracing:main": STREAM,
    "dragon.command.evaluation.program:main": PRIVATE, "dragon.command.evaluation.running:run_once": STREAM,
    "dragon.command.evaluation.running:run_once.output": STREAM,
    "dragon.command.guest_files:write": "a folder that is new and moved to its place when it is whole",
    "dragon.command.guest_place:remove": MOVED, "dragon.command.guest_place:Installation.move": MOVED,
    "dragon.command.guest_place:Installation.undo": MOVED,
    "dragon.command.planning.child:main": PRIVATE, "dragon.command.planning.dry_run:run": STREAM,
    "dragon.command.planning.sums:main": PRIVATE, "dragon.command.trial:run": STREAM,
    "dragon.command.verify:Side.__init__": STREAM, "dragon.command.witness:finish": PRIVATE,
    "dragon.core.pictures.opening:open_in_browser": "a file of its own in the folder for temporary ones",
    "dragon.distributed.functions:_call": STREAM, "dragon.distributed.group:ProcessGroup._find": MEMORY,
    "dragon.distributed.serving.connection:cluster_key": "made once for all: a link, which the first one gets",
    "dragon.io.block:map_descriptor": MEMORY,
    "dragon.io.records.parallel:write_parallel": MOVED,
    "dragon.io.records.writer:KPLRecordWriter._open": STREAM,
    "dragon.io.sources.remote:open_file": CALLERS, "dragon.io.sources.tars:_encode": MEMORY,
    "dragon.vm.keras.callbacks.backup_and_restore:BackupAndRestore._take_over": MOVED,
    "dragon.vm.keras.callbacks.csv_logger:CSVLogger.on_train_begin": STREAM,
    "dragon.vm.keras.saving.files:write_archive": MEMORY,
    "dragon.vm.keras.saving.orbax:_write_assets": "a folder for temporary ones",
    "dragon.vm.keras.saving.stores:WeightsStore.__init__": FILLED,
    "dragon.vm.keras.saving.stores:AssetsStore._extract": "a folder for temporary ones",
    "dragon.vm.keras.utils.archives:extract_open_archive": UNPACKED,
    "dragon.vm.keras.utils.file_system:File": CALLERS,
    "dragon.vm.shared.files.records:TFRecordWriter.__init__": STREAM,
    "dragon.vm.shared.files.sounds:encode_wav": MEMORY,
    "dragon.vm.tensorflow.core.examples.sources:SqlDataset._iterate": "reads: mode=ro",
    "dragon.vm.tensorflow.core.flow.execution:_write": STREAM,
    "dragon.vm.tensorflow.io.gfile:GFile._open": CALLERS, "dragon.vm.tensorflow.io.gfile:rename": MOVED,
    "dragon.vm.torch.core.files.archive:ArchiveWriter.__init__": FILLED,
    "dragon.vm.torch.core.files.archive:ArchiveWriter.write": FILLED,
    "dragon.vm.torch.distributed.checkpoint._file_systems:FileSystem.create_stream": "reads: others are whole",
    "dragon.vm.torch.distributed.checkpoint._file_systems:FileSystem.rename": MOVED,
    "dragon.vm.torch.distributed.elastic.multiprocessing.api:LogsSpecs.open": STREAM,
    "dragon.vm.torch.distributed.files:FileStore._locked": STREAM,
    "dragon.vm.torch.serialization:_opened": "reads: others are whole",
    "dragon.vm.torch.storage:UntypedStorage.from_file": "memory that processes share through a file",
    "dragon.vm.torch.testing._internal._surroundings:TemporaryFileName": "a file for its caller, empty",
    "dragon.vm.torch.utils.tensorboard.summary:audio": MEMORY,
    "dragon.vm.torchvision.datasets._middlebury:Middlebury2014Stereo._download_test": MOVED,
    "dragon.vm.torchvision.datasets.imagenet:parse_val_archive": MOVED,
    "dragon.vm.torchvision.datasets.inaturalist:INaturalist.download": MOVED,
    "dragon.vm.torchvision.datasets.kinetics:Kinetics._make_ds_structure": MOVED,
    "dragon.vm.torchvision.datasets.phototour:PhotoTour.download": UNPACKED,
    "dragon.vm.torchvision.datasets.places365:Places365.download_images": MOVED,
    "dragon.vm.torchvision.datasets.sbd:SBDataset._download": MOVED,
    "dragon.vm.torchvision.datasets.utils:extract_archive": UNPACKED,
}
# Of the engine: who opens files to write them.
CPP_WRITES = re.compile(r"\bofstream\b|\bfopen\(|\bO_(?:CREAT|WRONLY|TRUNC)\b|\bcreat\(|std::fstream|mkstemp")
CPP_MAY = {
    "core/device/shared.cc": "memory that processes share", "core/framework/graph_file.cc": "a place that Python gives",
    "core/device/cuda/code_cache.cc": "a file of its own, renamed; damaged ones are told by their first line",
}


def test_files_are_written_by_the_one_writer():
    plain, through = read_writes()
    assert len(through) > 60
    found = {f"{write.module}:{write.function}": write for write in plain}
    astray = [f"{place} (line {write.line}): {write.text}" for place, write in found.items() if place not in MAY]
    assert not astray, "\n".join(["written without dragon.core.files:", *astray])
    assert set(MAY) <= set(found), f"no longer so: {sorted(set(MAY) - set(found))}"


def test_the_engine_writes_where_python_says():
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "core").rglob("*.[ch]*")
             if CPP_WRITES.search(path.read_text(encoding="utf-8"))}
    assert found == set(CPP_MAY)


def test_ways_to_write_are_found(tmp_path, monkeypatch):
    """What the search must see, and what it must leave alone."""
    import ast

    from house import writes
    seen = """
open(p, "w"); open(p, mode="a+"); open(p, "r+b"); open(p, "x" if new else "r"); open(p, mode); path.open("wb")
io.open(p, "w"); gzip.open(p, "wb"); zipfile.ZipFile(p, "w"); tarfile.open(p, "w:gz"); h5py.File(p, "w")
p.write_text(t); pathlib.Path(p).write_bytes(b); numpy.save(p, a); np.savez(p, a); a.tofile(p); shutil.copy(a, b)
shutil.copyfile(a, b); os.open(p, os.O_WRONLY | os.O_CREAT); os.replace(a, b); os.rename(a, b); numpy.savetxt(p, a)
numpy.memmap(p, "f4", "w+"); pickle.dump(a, open(p, "wb")); codecs.open(p, "w"); archive.extractall(p)
os.fdopen(n, "w"); tempfile.NamedTemporaryFile("w")
"""
    unseen = """
open(p); open(p, "rb"); zipfile.ZipFile(p); h5py.File(p, "r"); tarfile.open(fileobj=f, mode="w|"); image.open(p)
os.open(p, os.O_RDONLY); gzip.open(p, "rt"); archive.open(name); store.open(self.x, args)
with files.rewriting(p, "w") as file: numpy.save(file, a)
with replacing(p) as place, h5py.File(place, "w") as file: file.go()
with files.replacing_folder(p, names) as place: open(os.path.join(place, "a"), "w")
"""
    for text, is_seen in ((seen, True), (unseen, False)):
        for line in text.strip().splitlines():
            for statement in line.split("; ") if not line.startswith("with") else [line]:
                tree = ast.parse(f"from dragon.core import files\nfrom dragon.core.files import replacing\n{statement}")
                reader = writes._Reader("m", writes._whole_names(tree))
                reader.visit(tree)
                assert bool(reader.plain) == is_seen, statement
