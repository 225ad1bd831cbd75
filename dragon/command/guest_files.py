"""The files of a guest that is installed: a package that hands over to Dragon, stubs beside it, and pip's metadata."""
import base64
import csv
import hashlib
import importlib.metadata
import pathlib

import dragon
from dragon.command.stubs import write_guest as write_stubs
from dragon.core.distribution import NAME, VERSION
from dragon.vm.alias import MARK, VERSIONS

# In the package and among its metadata: what has it is ours, and what has it not is never touched.
MARK_TEXT = ("Written by `dragon guest install`; `dragon guest remove {guest}` and `pip uninstall {guest}` take it "
             "away.\n")
# It knows one name of Dragon's, so that it serves whichever release of Dragon is there.
LOADER = '''"""{guest} on Dragon's engine: written by `dragon guest install`, which `pip uninstall {guest}` undoes."""
try:
    from dragon.vm import take_place
except ModuleNotFoundError as error:
    if error.name not in ("dragon", "dragon.vm"):
        raise
    raise ImportError("{guest}: got no package `dragon`, to which this `{guest}` hands over; expected Dragon in this "
                      "environment, or `pip uninstall {guest}`", name="dragon") from None

take_place(__name__)
'''
# What a guest cannot be without.
NEEDS = {"torchvision": ("torch",), "tensorflow": ("keras",)}
# What the genuine ones bring with them and programs import without asking for it, as far as it is of use here.
OTHERS = {"torchvision": ("numpy", "pillow"), "tensorflow": ("numpy", "h5py"), "keras": ("numpy", "h5py"), "torch": ()}
WHEEL = f"Wheel-Version: 1.0\nGenerator: {NAME} ({VERSION})\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def info_name(guest):
    """Return the name of the folder of a guest's metadata."""
    return f"{guest}-{VERSIONS[guest]}.dist-info"


def is_installed(distribution):
    """Return whether pip would find a distribution."""
    try:
        importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def write_metadata(guest):
    """Return the text of METADATA; where Dragon was installed by pip, `pip check` knows that the guest needs it."""
    needs = [f"{other}=={VERSIONS[other]}" for other in NEEDS.get(guest, ())] + [*OTHERS[guest]]
    needs += [NAME] if is_installed(NAME) else []
    return "".join(["Metadata-Version: 2.1\n", f"Name: {guest}\n", f"Version: {VERSIONS[guest]}\n",
                    f"Summary: The API of {guest} on Dragon's engine\n", "Keywords: dragon\n",
                    "Requires-Python: >=3.10\n", *(f"Requires-Dist: {need}\n" for need in needs)])


def write(guest, folder):
    """Write a guest's package and its metadata into a folder.

    Parameters
    ----------
    guest : str
        Such as "torch".
    folder : pathlib.Path
        Where neither is yet.

    Returns
    -------
    int
        How many stubs there are: none where Dragon was built without.

    """
    package, info = folder / guest, folder / info_name(guest)
    try:
        stubs = write_stubs(guest, pathlib.Path(dragon.__file__).parent / "vm", folder)
    except ValueError:
        stubs = 0
    package.mkdir(exist_ok=True)
    info.mkdir()
    mark = MARK_TEXT.format(guest=guest)
    for path, text in ((package / "__init__.py", LOADER.format(guest=guest)), (package / MARK, mark),
                       (info / MARK, mark), (info / "METADATA", write_metadata(guest)), (info / "WHEEL", WHEEL),
                       (info / "INSTALLER", "dragon\n"), (info / "REQUESTED", ""),
                       (info / "top_level.txt", guest + "\n")):
        path.write_text(text, encoding="utf-8")
    rows = [row_of(path, folder) for top in (package, info) for path in sorted(top.rglob("*")) if path.is_file()]
    with open(info / "RECORD", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([*rows, (f"{info.name}/RECORD", "", "")])
    return stubs


def row_of(path, folder):
    """Return a file's line of RECORD: its place, its hash and its size."""
    data = path.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return path.relative_to(folder).as_posix(), f"sha256={digest}", len(data)


def damaged(info):
    """Return the files of RECORD that are gone or were changed.

    Parameters
    ----------
    info : pathlib.Path
        The folder of a guest's metadata.

    Returns
    -------
    List[str]
        Their places, as RECORD has them.

    """
    try:
        with open(info / "RECORD", encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError:
        return [f"{info.name}/RECORD"]
    found = []
    for place, digest, *_ in rows:
        path = info.parent / place
        if not path.is_file() or digest and row_of(path, info.parent)[1] != digest:
            found.append(place)
    return found
