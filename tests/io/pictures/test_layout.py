"""The offsets of libjpeg's fields are those that its header tells, where a compiler and the header are there."""
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
NAMES = {
    "struct jpeg_decompress_struct": {
        "kErrors": "err", "kMemory": "mem", "kProgress": "progress", "kClientData": "client_data", "kSource": "src",
        "kWidth": "image_width", "kHeight": "image_height", "kComponents": "num_components",
        "kFileColours": "jpeg_color_space", "kColours": "out_color_space", "kScaleNumerator": "scale_num",
        "kScaleDenominator": "scale_denom", "kTransform": "dct_method", "kFancyUpsampling": "do_fancy_upsampling",
        "kOutputWidth": "output_width", "kOutputHeight": "output_height", "kOutputComponents": "output_components",
        "kOutputRow": "output_scanline", "kScan": "input_scan_number"},
    "struct jpeg_error_mgr": {"kErrorExit": "error_exit", "kOutputMessage": "output_message",
                              "kFormatMessage": "format_message", "kWarnings": "num_warnings"},
    "struct jpeg_source_mgr": {"kNextByte": "next_input_byte", "kBytesLeft": "bytes_in_buffer",
                               "kStartSource": "init_source", "kFillSource": "fill_input_buffer",
                               "kSkipSource": "skip_input_data", "kResync": "resync_to_restart",
                               "kEndSource": "term_source"},
    "struct jpeg_memory_mgr": {"kMostMemory": "max_memory_to_use"},
    "struct jpeg_progress_mgr": {"kMonitor": "progress_monitor"},
}


def find_headers():
    """Return the paths of the header and of what it includes, None where it is not installed."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    done = subprocess.run([compiler, "-M", "-xc", "-"], input="#include <stdio.h>\n#include <jpeglib.h>\n",
                          capture_output=True, text=True)
    paths = [pathlib.Path(word) for word in done.stdout.replace("\\\n", " ").split()]
    return [path for path in paths if path.name in ("jpeglib.h", "jconfig.h", "jmorecfg.h")]


def offsets_of(folder, version):
    """Return {our name: offset} and the size of the structure for a version of the interface."""
    for path in find_headers():
        text = path.read_text()
        if path.name == "jconfig.h":
            text = re.sub(r"(#define\s+JPEG_LIB_VERSION\s+)\d+", rf"\g<1>{version}", text)
        (folder / path.name).write_text(text)
    lines = [f'printf("{ours} %zu\\n", offsetof({kind}, {theirs}));' for kind, names in NAMES.items()
             for ours, theirs in names.items()]
    lines.append('printf("size %zu\\n", sizeof(struct jpeg_decompress_struct));')
    heads = "#include <stdio.h>\n#include <stddef.h>\n#include \"jpeglib.h\"\n"
    (folder / "offsets.c").write_text(heads + "int main(void) {" + "\n".join(lines) + "}\n")
    subprocess.run([shutil.which("cc") or "gcc", "-I", str(folder), "-o", str(folder / "offsets"),
                    str(folder / "offsets.c")], check=True)
    told = subprocess.run([str(folder / "offsets")], check=True, capture_output=True, text=True).stdout
    return {name: int(offset) for name, offset in (line.split() for line in told.splitlines())}


@pytest.mark.skipif(not find_headers(), reason="jpeglib.h is not installed")
@pytest.mark.parametrize("version", [62, 80])
def test_offsets_are_those_of_the_header(tmp_path, version):
    text = (ROOT / "core/io/jpeg_library.h").read_text()
    ours = {name: int(offset) for name, offset in re.findall(r"\b(k\w+) = (\d+)[,;]", text)}
    found = offsets_of(tmp_path, version)
    sizes = dict(re.findall(r"\{(\d+), (\d+)\}", (ROOT / "core/io/jpeg_library.cc").read_text()))
    assert found.pop("size") == int(sizes[str(version)])
    assert found and {name: ours[name] for name in found} == found
