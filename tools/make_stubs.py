"""Write the stubs (`.pyi`) that editors and type checkers read: one for every public module, beside it.

    python tools/make_stubs.py                                  # into this checkout, for its own compiled part
    python tools/make_stubs.py --compiled build/dragon --to out # of a compiled part elsewhere, into another folder

Everything they say comes from the running package: signatures, the engine's schemas, docstrings.
"""
import argparse
import gc
import importlib
import importlib.util
import multiprocessing
import os
import pathlib
import sys

CHECKOUT = pathlib.Path(__file__).resolve().parents[1]


def load_compiled(folder):
    """Import `dragon._C` from a folder, before the package looks for it beside itself."""
    found = sorted(folder.glob("_C*.so"))
    if len(found) != 1:
        raise SystemExit(f"make_stubs: got {len(found)} compiled modules in {folder}, expected one")
    spec = importlib.util.spec_from_file_location("dragon._C", found[0])
    module = importlib.util.module_from_spec(spec)
    sys.modules["dragon._C"] = module
    spec.loader.exec_module(module)


def path_of(module):
    """Return where the stub of a module lies, below the folder of the package.

    A stand-in for a module that is absent has no folder, and may get none: Python would take it for a package without
    a file. So the stub of one below another has a name with a point in it, which `dragon stubs` unfolds.
    """
    from stubs.places import is_stand_in
    parts = module.split(".")[1:]
    whole = [is_stand_in(".".join(["dragon", *parts[:count]])) for count in range(1, len(parts) + 1)]
    if any(whole):
        first = whole.index(True)
        return pathlib.Path(*parts[:first], ".".join(parts[first:]) + ".pyi")
    is_package = hasattr(sys.modules[module], "__path__")
    return pathlib.Path(*parts, "__init__.pyi") if is_package else pathlib.Path(*parts).with_suffix(".pyi")


def write_texts(places):
    """Return the text of every module's stub, in the order of `places.modules`.

    A build comes to the stubs last, and nothing else keeps its cores busy. Each process begins with what was imported,
    and reads the sources that its modules need: more than four of them read most sources again and again.
    """
    from stubs.modules import write_stub
    modules = list(places.modules)
    count = min(4, len(os.sched_getaffinity(0)))
    if count == 1:
        return [write_stub(module, places) for module in modules]
    processes = multiprocessing.get_context("fork")
    with processes.Pool(count, initializer=_Share.take, initargs=(places,)) as pool:
        return pool.map(_Share.write, modules, chunksize=-(-len(modules) // (4 * count)))


class _Share:
    """What a process of the pool was born with: it is inherited, no pickle could carry it."""

    @classmethod
    def take(cls, places):
        cls.places = places

    @classmethod
    def write(cls, module):
        from stubs.modules import write_stub
        return write_stub(module, cls.places)


def write_all(target):
    """Write every stub and the mark that says there are some; stubs of modules that are gone go, too."""
    from stubs.places import Places
    places = Places()
    texts = dict(zip((target / path_of(module) for module in places.modules), write_texts(places), strict=True))
    for old in set(target.rglob("*.pyi")) - set(texts):
        old.unlink()
        if not any(old.parent.iterdir()):
            old.parent.rmdir()
    for path, text in {**texts, target / "py.typed": ""}.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # it may be a link to the one of an installed package
            path.write_text(text, encoding="utf-8")
    return len(texts), sum(map(len, texts.values()))


def main():
    """Parse the arguments, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiled", type=pathlib.Path, help="the folder of the compiled part, if not the package's")
    parser.add_argument("--to", type=pathlib.Path, default=CHECKOUT / "dragon", help="where to write")
    arguments = parser.parse_args()
    gc.disable()  # trees of sources are millions of objects, all of them needed to the end
    sys.path.insert(0, str(CHECKOUT))
    if arguments.compiled:
        load_compiled(arguments.compiled.resolve())
    from stubs.extras import stand_in
    stand_in()
    importlib.import_module("dragon")
    count, letters = write_all(arguments.to.resolve())
    print(f"{count} stubs, {letters / 1e6:.1f} MB, in {arguments.to}")


if __name__ == "__main__":
    main()
