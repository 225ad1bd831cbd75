"""Vectors at any address: how a pointer to them is declared."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
# In a template GCC deduces `auto` without the attribute that says where a vector may lie, and then reads as if it
# lay at whole vectors: with the instructions of level v2 that ends the process.
DEDUCED = re.compile(r"\bauto\s*[*&]*\s*\w+\s*=\s*\*?\s*reinterpret_cast<[^<>]*(?:Vector|Lanes|Unaligned)\w*\s*\*>")


def find_deduced(text):
    """Return the places in a source where a pointer to vectors is deduced."""
    return [found[0] for found in DEDUCED.finditer(text)]


def test_pointers_to_vectors_name_their_type():
    paths = [path for path in (ROOT / "core").rglob("*") if path.suffix in (".h", ".cc")]
    assert not {path.name: found for path in paths if (found := find_deduced(path.read_text(encoding="utf-8")))}


def test_deduced_pointers_are_found():
    assert find_deduced("const auto* row = reinterpret_cast<const Vector*>(dense + j);")
    assert not find_deduced("const Vector* row = reinterpret_cast<const Vector*>(dense + j);")
