"""Pictures of Pillow whose pixels wait until somebody looks: what is cut off, resized and turned is computed at once.

A loader reads a file and its head. Cutting a part, resizing and flipping only note what is wanted; a tensor is then
written by the engine, which decodes no more than that part. Whoever looks in any other way finds an ordinary picture
of Pillow, with the same pixels to the bit.
"""
import io
from typing import NamedTuple

from dragon.vm.torchvision._pillow import Image

FILTERS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}
CHANNELS = {"L": 1, "RGB": 3}
MARKER, END, RESTARTS = 0xff, 0xd9, (0xd0, 0xd7)
NEAR_END = 32  # bytes that some cameras write behind the end
# Pillow resizes smaller pictures sooner than the engine can be asked.
LEAST_PIXELS = 4096
CAN_WAIT = isinstance(vars(Image.Image).get("im"), property)  # since Pillow 11
PILLOW_LIMITS = 1 << 62  # Pillow has looked at the size when it opened the file


class Plan(NamedTuple):
    """What is wanted of a picture, in this order; parts are (top, left, height, width)."""

    part: tuple
    size: tuple = None
    filter: int = 0
    part_after: tuple = None
    mirror: bool = False
    upside_down: bool = False

    def shape(self):
        """Return height and width of the result."""
        return self.part_after[2:] if self.part_after else self.size or self.part[2:]

    def cut(self, part):
        """Return the plan for a part of this one's result."""
        (top, left, height, width), (rows, columns) = part, self.shape()
        top = rows - top - height if self.upside_down else top
        left = columns - left - width if self.mirror else left
        before = self.part_after or ((0, 0, *self.size) if self.size else self.part)
        inner = before[0] + top, before[1] + left, height, width
        return self._replace(part_after=inner) if self.size else self._replace(part=inner)


class Postponed(Image.Image):
    """A picture whose pixels wait; it turns into `PIL.Image.Image` as they come."""

    @classmethod
    def made(cls, given, mode, plan, info):
        """Return the picture that a plan makes of a file's bytes, or of an array that nobody else writes to."""
        picture, plain = cls.__new__(cls), vars(Image.Image())
        del plain["_im"]
        own = {key: value.copy() if isinstance(value, list) else value for key, value in info.items()}
        picture.__dict__.update(plain, _given=given, _mode=mode, _plan=plan, _size=plan.shape()[::-1], _is_used=False,
                                info=own)
        return picture

    @property
    def _im(self):
        try:
            core = self._computed().im
        except AttributeError:
            if "_im" not in vars(self):  # unless another thread was quicker
                raise
        else:
            self._im = core
        return vars(self)["_im"]

    @_im.setter
    def _im(self, core):
        vars(self).setdefault("_im", core)
        self.__class__ = Image.Image
        vars(self).pop("_given", None)

    def pixels(self, planar):
        """Return a new array of the pixels, channels first or last; None where only Pillow can tell what is wrong."""
        import numpy

        from dragon.io.pictures.batch import kept_recipe
        given, plan = self._given, self._plan
        recipe = kept_recipe(plan.size or plan.part[2:], layout="NCHW" if planar else "NHWC", dtype="uint8",
                             filter=FILTERS[plan.filter], channels=CHANNELS[self._mode], most_pixels=PILLOW_LIMITS)
        out = numpy.empty(recipe.shape(1), numpy.uint8)
        flips = 0 if plan.part_after else plan.mirror + 2 * plan.upside_down
        if recipe.write([(given, plan.part, flips, None, None, None)], out):
            return None
        if plan.part_after is None:
            return out[0]
        top, left, height, width = plan.part_after
        rows, columns = slice(top, top + height), slice(left, left + width)
        out = out[0][:, rows, columns] if planar else out[0][rows, columns]
        down, across = slice(None, None, -1 if plan.upside_down else 1), slice(None, None, -1 if plan.mirror else 1)
        return numpy.ascontiguousarray(out[:, down, across] if planar else out[down, across])

    def take_pixels(self, planar):
        """Return the pixels to who asks first; None for all others, who find an ordinary picture."""
        pixels = None if self._is_used else self.pixels(planar)
        self._is_used = True
        if pixels is None:
            self.load()
        return pixels

    @property
    def __array_interface__(self):
        pixels = self.take_pixels(planar=False)
        if pixels is None:
            return self.__array_interface__
        pixels.flags.writeable = False
        shape = pixels.shape if self._mode == "RGB" else pixels.shape[:2]
        return {"version": 3, "shape": shape, "typestr": "|u1", "data": pixels}

    def _computed(self):
        pixels = self.pixels(planar=False)
        return self._by_pillow() if pixels is None else Image.frombytes(self._mode, self._size, pixels)

    def _by_pillow(self):
        plan = self._plan
        top, left, height, width = plan.part
        picture = Image.open(io.BytesIO(self._given)).convert(self._mode).crop((left, top, left + width, top + height))
        if plan.size:
            picture = picture.resize(plan.size[::-1], plan.filter)
        if plan.part_after:
            top, left, height, width = plan.part_after
            picture = picture.crop((left, top, left + width, top + height))
        picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if plan.mirror else picture
        return picture.transpose(Image.Transpose.FLIP_TOP_BOTTOM) if plan.upside_down else picture

    def _after(self, plan):
        """Return what another plan makes of the same, once: whoever comes back would have all decoded again."""
        if self._is_used:
            return None
        self._is_used = True
        return Postponed.made(self._given, self._mode, plan, self.info)

    def crop(self, box=None):
        """Return a part."""
        if box is None:
            return self.copy()
        left, top, right, bottom = (int(round(side)) for side in box)
        inside = 0 <= left < right <= self._size[0] and 0 <= top < bottom <= self._size[1]
        made = self._after(self._plan.cut((top, left, bottom - top, right - left))) if inside else None
        return Image.Image.crop(self, box) if made is None else made

    def resize(self, size, resample=None, box=None, reducing_gap=None):
        """Return the picture in another size."""
        plan, filter = self._plan, Image.Resampling.BICUBIC if resample is None else resample
        made = None
        if box is reducing_gap is None and filter in FILTERS and plan.size is None and not (
                plan.mirror or plan.upside_down) and all(isinstance(side, int) and side > 0 for side in size):
            wanted = tuple(size)[::-1]
            made = self._after(plan if wanted == plan.part[2:] else plan._replace(size=wanted, filter=int(filter)))
        return Image.Image.resize(self, size, resample, box, reducing_gap) if made is None else made

    def transpose(self, method):
        """Return the picture turned."""
        plan, made = self._plan, None
        if method == Image.Transpose.FLIP_LEFT_RIGHT:
            made = self._after(plan._replace(mirror=not plan.mirror))
        elif method == Image.Transpose.FLIP_TOP_BOTTOM:
            made = self._after(plan._replace(upside_down=not plan.upside_down))
        return Image.Image.transpose(self, method) if made is None else made

    def copy(self):
        """Return the same once more."""
        return self._after(self._plan) or Image.Image.copy(self)

    def convert(self, mode=None, *args, **kwargs):
        """Return the picture in another mode."""
        if mode == self._mode and not args and not kwargs:
            return self.copy()
        return Image.Image.convert(self, mode, *args, **kwargs)

    def __reduce_ex__(self, protocol):
        self.load()
        return self.__reduce_ex__(protocol)

    def __eq__(self, other):
        self.load()
        if isinstance(other, Postponed):
            other.load()
        return self == other

    def __repr__(self):
        self.load()
        return repr(self)


def open_picture(data):
    """Return a file's picture in red, green and blue; its pixels wait if it is a sound JPEG file."""
    picture = Image.open(io.BytesIO(data))
    if not (CAN_WAIT and picture.format == "JPEG" and picture.mode in CHANNELS and _is_sound(data, picture)):
        return picture.convert("RGB")
    return Postponed.made(data, "RGB", Plan((0, 0, picture.height, picture.width)), picture.info)


def waiting(picture):
    """Return a picture that Pillow has opened and not read as one that waits, once; any other as it is."""
    if not (CAN_WAIT and picture.format == "JPEG" and picture.mode in CHANNELS and getattr(picture, "tile", None)):
        return picture
    file = picture.fp
    # It is to be shrunken as it is read, has been asked for before, or cannot be read.
    if picture.decoderconfig or "_has_waited" in vars(picture) or file is None or getattr(file, "closed", False):
        return picture
    picture._has_waited = True
    place = file.tell()
    file.seek(0)
    data = file.read()
    file.seek(place)
    if not _is_sound(data, picture):
        return picture
    return Postponed.made(data, picture.mode, Plan((0, 0, picture.height, picture.width)), picture.info)


def _is_sound(data, picture):
    """Return whether nothing but pixels lies between a JPEG file's head and its end: Pillow would read it all.

    The engine leaves out what is not wanted of a picture, and would not see what is wrong with that.
    """
    import numpy
    from dragon.io.pictures.library import jpeg_library
    if jpeg_library() is None:
        return False
    if "progressive" in picture.info:  # of which no part can be left out
        return bytes((MARKER, END)) in data[-NEAR_END:]
    pixels = numpy.frombuffer(data, numpy.uint8, offset=picture.fp.tell())
    found = pixels.take(numpy.flatnonzero(pixels == MARKER) + 1, mode="clip") if pixels.size else pixels
    found = found[(found != 0) & ((found < RESTARTS[0]) | (found > RESTARTS[1]))]
    return found.size > 0 and found[0] == END


def resize(picture, size, filter):
    """Return a picture in another size (width, height), to be computed together with what is done next."""
    worthwhile = LEAST_PIXELS <= max(picture.width * picture.height, size[0] * size[1]) and size != picture.size
    if (CAN_WAIT and type(picture) is not Postponed and picture.mode in CHANNELS and filter in FILTERS and worthwhile
            and min(*picture.size, *size) > 0):
        import numpy
        picture = Postponed.made(numpy.asarray(picture), picture.mode, Plan((0, 0, picture.height, picture.width)),
                                 picture.info)
    return picture.resize(size, filter)
