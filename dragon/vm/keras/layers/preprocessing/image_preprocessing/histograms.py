"""Images whose values are spread by their histograms."""

from dragon.vm.keras import ops as K
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.layers.preprocessing.image_preprocessing.base import ColorLayer, value_range_of


class Equalization(ColorLayer):
    """Spread the values of each channel so that all are about as frequent.

    Parameters
    ----------
    bins : int, optional, default=256
        Of the histogram.

    """

    _arguments = "bins ..."

    def __init__(self, value_range=(0, 255), bins=256, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.bins = bins
        self.value_range = value_range_of(value_range)

    def _equalized(self, channel):
        """Return one channel of all images, whose values are between 0 and 255."""
        indices = K.clip(K.cast(K.cast(channel, "float32") * (self.bins - 1) / 255.0, "int32"), 0, self.bins - 1)
        counts = K.bincount(K.reshape(indices, (-1,)), minlength=self.bins)
        running = K.cumsum(counts)
        # The first count that is not zero is the least running one above zero.
        first = K.min(K.where(running > 0, running, running[-1]))
        rest = running[-1] - first
        table = (running - first) * 255 / K.where(rest == 0, K.ones_like(rest), rest)
        table = K.clip(K.round(table), 0, 255)
        places = K.cast(K.clip(channel / 255.0 * (self.bins - 1), 0, self.bins - 1), "int32")
        return K.where(K.count_nonzero(counts) <= 1, channel, K.cast(K.take(table, places), channel.dtype))

    def transform_images(self, images, transformation, training=True):
        """Return equalized images."""
        if not training:
            return images
        axis, least, most = self._axes[0], *self.value_range
        images = self._computed(images)
        scale = 255 / (most - least)
        made = [self._equalized((K.squeeze(part, axis=axis) - least) * scale)
                for part in K.split(images, images.shape[axis], axis=axis)]
        return self._computed(K.stack(made, axis=axis) / scale + least)

    def compute_output_spec(self, inputs, **kwargs):
        return KerasTensor(inputs.shape, dtype=inputs.dtype)


class ContrastLimitedAdaptiveHistogramEqualization(ColorLayer):
    """Spread the values of each tile of an image, with a limit, and blend between tiles.

    Parameters
    ----------
    clip_limit : float, optional, default=4.0
        How much more frequent than the mean a value may be; what is above is shared by all.
    tile_grid_size : Tuple[int, int], optional, default=(8, 8)
        Rows and columns of tiles.

    """

    def __init__(self, value_range=(0, 255), clip_limit=4.0, tile_grid_size=(8, 8), data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.value_range = value_range
        self.clip_limit = clip_limit
        self.tile_grid_size = tile_grid_size

    def transform_images(self, images, transformation=None, training=True):
        """Return images with more contrast."""
        first = self.data_format == "channels_first"
        images = K.moveaxis(images, -3, -1) if first else images
        dtype = images.dtype
        made = self._spread(self._transform_value_range(images, self.value_range, (0, 255)))
        made = K.cast(self._transform_value_range(made, (0, 255), self.value_range), dtype)
        return K.moveaxis(made, -1, -3) if first else made

    def _spread(self, images):
        """Return images of values between 0 and 255 and channels behind."""
        _, height, width, _ = images.shape
        rows, columns = self.tile_grid_size
        high, wide = -(-height // rows), -(-width // columns)
        images = K.pad(images, ((0, 0), (0, high * rows - height), (0, wide * columns - width), (0, 0)),
                       mode="symmetric")
        pixels = K.clip(K.cast(images, "int32"), 0, 255)
        tables = self._tables(pixels, high, wide)
        upper, lower, down = _neighbours(rows, high)
        left, right, across = _neighbours(columns, wide)

        def found(y, x):
            # batch, height, width, channels, 256: the table of a neighbouring tile for each pixel.
            tile = K.take(K.take(tables, y, axis=1), x, axis=2)
            return K.squeeze(K.take_along_axis(tile, K.expand_dims(pixels, -1), axis=-1), axis=-1)
        across, down = K.reshape(across, (1, 1, -1, 1)), K.reshape(down, (1, -1, 1, 1))
        above = found(upper, left) * (1.0 - across) + found(upper, right) * across
        below = found(lower, left) * (1.0 - across) + found(lower, right) * across
        return (above * (1.0 - down) + below * down)[:, :height, :width, :]

    def _tables(self, pixels, high, wide):
        """Return what each value becomes, by tile: batch, rows, columns, channels, 256."""
        batch, height, width, channels = pixels.shape
        tiles = K.reshape(pixels, (batch, height // high, high, width // wide, wide, channels))
        tiles = K.reshape(K.transpose(tiles, (0, 1, 3, 5, 2, 4)), (batch, height // high, width // wide, channels,
                                                                   high * wide))
        counts = K.sum(K.one_hot(tiles, 256), axis=-2)
        if self.clip_limit > 0:
            kept = K.clip(counts, 0, self.clip_limit * (high * wide) / 256.0)
            counts = kept + K.sum(counts - kept, axis=-1, keepdims=True) / 256.0
        running = K.cumsum(counts, axis=-1)
        least = K.min(running, axis=-1, keepdims=True)
        rest = high * wide - least
        return K.clip((running - least) * 255.0 / K.where(rest == 0, K.ones_like(rest), rest), 0, 255)


def _neighbours(count, size):
    """Return for each place along an axis the tiles before and behind, and how far it is between their middles."""
    places = (K.arange(count * size, dtype="float32") - size / 2.0) / size
    before = K.floor(places)
    tiles = [K.cast(K.clip(tile, 0, count - 1), "int32") for tile in (before, before + 1.0)]
    return tiles[0], tiles[1], places - before
