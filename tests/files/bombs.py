"""Small files that claim to hold much, or nest deeply: how the bytes of each are made."""
import io
import json
import struct
import tarfile
import zipfile
import zlib

MANY = 256  # mebibytes of zeros in a compressed file
DEEP = 100_000  # lists within lists


def zeros(prefix=b""):
    """Return raw deflated bytes of a beginning and many zeros, made from one block."""
    machine = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = machine.compress(prefix) + machine.flush(zlib.Z_FULL_FLUSH)
    block = machine.compress(bytes(1 << 20)) + machine.flush(zlib.Z_FULL_FLUSH)
    return first + block * MANY + machine.flush()


def gzipped(prefix=b""):
    """Return a gzip file of a beginning and many zeros; its sum at the end is wrong, which shows after all of it."""
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + zeros(prefix) + bytes(8)


def zipped(name, claimed=MANY << 20):
    """Return a zip archive of a member of zeros, whose size need not be true."""
    packed, encoded = zeros(), name.encode()
    head = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, len(packed), claimed, len(encoded), 0)
    local = b"PK\3\4" + head + encoded + packed
    entry = b"PK\1\2" + struct.pack("<H", 20) + head + struct.pack("<HHHII", 0, 0, 0, 0, 0) + encoded
    return local + entry + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)


def archive(members, packed=zipfile.ZIP_STORED):
    """Return a zip archive of {name: bytes}."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packed) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return file.getvalue()


def changed(whole, ending, change):
    """Return a zip archive in which the member whose name ends so is changed."""
    with zipfile.ZipFile(io.BytesIO(whole)) as honest:
        return archive({name: change(honest.read(name)) if name.endswith(ending) else honest.read(name)
                        for name in honest.namelist()})


def deep_json(count=DEEP):
    """Return lists within lists."""
    return b"[" * count + b"]" * count


def lying_zip(name, method):
    """Return a zip archive whose member holds more than its directory tells."""
    data = bytearray(archive({name: bytes(1 << 20)}, method))
    for mark, place in ((b"PK\1\2", 24), (b"PK\3\4", 22)):
        at = data.rindex(mark) + place
        data[at:at + 4] = struct.pack("<I", 100)
    return bytes(data)


def npy(*shape):
    """Return the start of a `.npy` file."""
    head = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes(64)


def png(width=60000, height=60000, text=0):
    """Return a PNG file of a size, with few pixels and so many zeros in a text."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + (chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(text))) if text else b"")
            + chunk(b"IDAT", zlib.compress(bytes(4096))) + chunk(b"IEND", b""))


def gif(width, height, frames):
    """Return a GIF of one pixel in each of many pictures, on a large screen."""
    picture = b"\x21\xf9\4\0\0\0\0\0\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\2\2\x44\1\0"
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6) + picture * frames + b";"


def bmp(width, height):
    """Return the start of a BMP file."""
    return b"BM" + struct.pack("<IHHIIiiHHIIiiII", 1 << 10, 0, 0, 54, 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0) + (
        bytes(64))


def wav(claimed, channels=1, width=2):
    """Return a WAV file of few samples that claims more."""
    return (b"RIFF" + struct.pack("<I", claimed) + b"WAVEfmt " + struct.pack(
        "<IHHIIHH", 16, 1, channels, 8000, 16000, channels * width & 0xffff, 8 * width) + b"data"
        + struct.pack("<I", claimed) + bytes(64))


def tar(name, data, claimed=None):
    """Return a tar archive of a file."""
    info = tarfile.TarInfo(name)
    info.size = len(data) if claimed is None else claimed
    return info.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % 512) + bytes(1024)


def h5(path, config=None):
    """Write a Keras file whose first kernel is zeros of which none are stored."""
    import h5py
    with h5py.File(path, "w") as file:
        if config is not None:
            file.attrs["model_config"] = config
        group = file.create_group("layers/dense/vars")
        group.create_dataset("0", (1 << 28, 2), "f4", chunks=(1 << 16, 2), compression="gzip", fillvalue=0)
        group.create_dataset("1", (2,), "f4")
    with open(path, "rb") as file:
        return file.read()


def safetensors(table):
    """Return a safetensors file of a table and few numbers."""
    return struct.pack("<Q", len(table)) + table + bytes(8)


def varint(value):
    """Return a number as messages write it."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def message(number, data):
    """Return a field of a message: a number, or bytes."""
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(*shape):
    """Return a TensorProto of a shape and one number."""
    sizes = b"".join(message(2, message(1, size)) for size in shape)
    return message(1, 1) + message(2, sizes) + message(5, struct.pack("<f", 1))


def nested(number, count):
    """Return messages within messages."""
    inner = b""
    for _ in range(count):
        inner = message(number, inner)
    return inner


def sequential(*layers):
    """Return the configuration of a Keras model."""
    return json.dumps({"module": "keras", "class_name": "Sequential", "config": {"name": "s", "layers": [
        {"module": "keras.layers", "class_name": name, "config": config} for name, config in layers]}}).encode()
