// Rows flow from a decoder or an array through the kernels into a batch; a few of them are held at a time.
#include "core/io/picture.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/error.h"
#include "core/device/parallel.h"

namespace dragon {

namespace {

/// A pixel of three channels takes four bytes on its way.
int LanesOf(const PictureBatch& batch) { return batch.channels == 1 ? 1 : 4; }

/// Makes a picture of the batch from rows of its region.
class RowSink {
 public:
  /// Rows and columns that come are the samples of `down` and `across`; `to` is the picture's place in the batch.
  RowSink(const PictureSample& sample, const PictureBatch& batch, const PictureAxis& down, const PictureAxis& across,
          uint8_t* to)
      : sample_(sample),
        batch_(batch),
        down_weights_(WeightsOf(down.is_identity() ? Copying(down) : down)),
        across_weights_(WeightsOf(across.is_identity() ? Copying(across) : across)),
        down_(down_weights_->taps()),
        across_(across_weights_->taps()),
        // As Pillow orders them, which saves work; the order decides about last bits.
        is_down_first_(down.in > down.out && down.in - down.out > 2 * (across.in - across.out)),
        to_(to) {
    const int lanes = LanesOf(batch);
    samples_in_ = int64_t{across.in} * lanes, samples_out_ = int64_t{across.out} * lanes;
    slot_bytes_ = (is_down_first_ ? samples_in_ : samples_out_) + kPictureSlack;
    slots_ = down_.most + 1;
    const int64_t spare = std::max(samples_in_, samples_out_) + kPictureSlack;
    bytes_.resize(static_cast<size_t>(slots_ * slot_bytes_ + 2 * spare));
    blended_ = bytes_.data() + slots_ * slot_bytes_, widened_ = blended_ + spare;
    if (lanes == 4) wide_.resize(static_cast<size_t>(samples_in_ + lanes));
    at_.resize(static_cast<size_t>(down_.most));
    finish_.width = across.out, finish_.channels = batch.channels, finish_.matrix = sample.matrix;
    finish_.pixel_stride = batch.channels_first ? 1 : batch.channels;
    finish_.channel_stride = batch.channels_first ? int64_t{batch.height} * batch.width : 1;
    row_stride_ = (batch.channels_first ? batch.width : int64_t{batch.width} * batch.channels) * ItemSize(batch.dtype);
    std::copy_n(batch.scale, 4, finish_.scale);
    std::copy_n(batch.shift, 4, finish_.shift);
  }

  void Take(const uint8_t* row) {
    if (wanted_ < down_.results && seen_ >= down_.first[wanted_]) {
      if (is_down_first_) {
        std::memcpy(SlotOf(seen_), row, static_cast<size_t>(samples_in_));
      } else {
        Widen(SlotOf(seen_), row);
      }
    }
    ++seen_;
    for (; wanted_ < down_.results && down_.first[wanted_] + down_.most <= seen_; ++wanted_) Write(wanted_);
  }
  /// No row that is still to come is of any use.
  bool is_done() const { return wanted_ >= down_.results; }

 private:
  static PictureAxis Copying(PictureAxis axis) {
    axis.filter = PictureFilter::kNearest;
    return axis;
  }
  uint8_t* SlotOf(int row) { return bytes_.data() + (row % slots_) * slot_bytes_; }
  void Widen(uint8_t* to, const uint8_t* from) {
    kernels::PictureColumns(context_, DType::kUInt8, to, from, samples_in_, batch_.channels, wide_.data(), across_,
                            sample_.mirror);
  }
  void Write(int i) {
    for (int k = 0; k < down_.most; ++k) at_[k] = SlotOf(down_.first[i] + k);
    const uint8_t* row = at_[0];
    if (const int32_t* weights = down_.weights + int64_t{i} * down_.most; down_.most > 1) {
      kernels::PictureBlend(context_, DType::kUInt8, blended_, at_.data(), weights, down_.most,
                            is_down_first_ ? samples_in_ : samples_out_);
      row = blended_;
    }
    if (is_down_first_) Widen(widened_, row);
    const int64_t place = sample_.upside_down ? down_.results - 1 - i : i;
    kernels::PictureWrite(context_, batch_.dtype, to_ + place * row_stride_, is_down_first_ ? widened_ : row, finish_);
  }

  const PictureSample& sample_;
  const PictureBatch& batch_;
  std::shared_ptr<const PictureWeights> down_weights_, across_weights_;
  PictureTaps down_, across_;
  bool is_down_first_;
  uint8_t* to_;
  int64_t samples_in_ = 0, samples_out_ = 0, slot_bytes_ = 0, slots_ = 0, row_stride_ = 0;
  int seen_ = 0, wanted_ = 0;
  std::vector<uint8_t> bytes_;
  std::vector<int32_t> wide_;
  uint8_t *blended_ = nullptr, *widened_ = nullptr;
  std::vector<const uint8_t*> at_;
  PictureFinish finish_;
  Context context_{};
};

/// The region of a picture of that size, checked.
PictureRegion RegionIn(const PictureRegion& region, int height, int width) {
  if (region.height == 0 && region.width == 0 && region.top == 0 && region.left == 0) return {0, 0, height, width};
  if (region.top < 0 || region.left < 0 || region.height < 1 || region.width < 1 ||
      region.top > height - region.height || region.left > width - region.width) {
    throw ValueError("picture")
        .Got("the region (", region.top, ", ", region.left, ", ", region.height, ", ", region.width, ")")
        .Expected("(top, left, height, width) within ", height, " x ", width);
  }
  return region;
}

/// Where a picture's pixels go to, and which of them are seen.
struct Layout {
  PictureRegion region, place;
  PictureBox box;
};

Layout LayoutOf(const PictureSample& sample, const PictureBatch& batch, int height, int width) {
  Layout layout;
  layout.region = RegionIn(sample.region, height, width);
  layout.place = RegionIn(sample.place, batch.height, batch.width);
  const PictureRegion& seen = layout.region;
  const PictureBox& box = sample.box;
  layout.box = {double(seen.top), double(seen.left), double(seen.height), double(seen.width)};
  if (box.height == 0 && box.width == 0) return layout;
  // Said so that numbers that are none are refused as well.
  if (!(box.height > 0 && box.width > 0 && box.top >= seen.top && box.left >= seen.left &&
        box.top + box.height <= seen.top + seen.height + 1e-6 &&
        box.left + box.width <= seen.left + seen.width + 1e-6)) {
    throw ValueError("picture")
        .Got("the box (", box.top, ", ", box.left, ", ", box.height, ", ", box.width, ")")
        .Expected("(top, left, height, width) within the region");
  }
  layout.box = box;
  return layout;
}

/// One axis: the samples from `first` on are `in` of them, each standing for `shrink` pixels.
PictureAxis MakeAxis(const PictureBatch& batch, int in, int out, int first, double begin, double size, int shrink) {
  const double from = std::clamp(begin / shrink - first, 0.0, double(in));
  return {batch.filter, batch.antialias, in, out, from, std::min(from + size / shrink, double(in))};
}

/// How often the sizes may be halved so that still no pixel has to be made up.
int ShrinkFor(const Layout& layout, const PictureBatch& batch) {
  int shrink = 1;
  while (batch.fast && shrink < 8 && layout.box.height >= 2 * shrink * layout.place.height &&
         layout.box.width >= 2 * shrink * layout.place.width) {
    shrink *= 2;
  }
  return shrink;
}

template <typename T>
void FillWith(const PictureBatch& batch, uint8_t* to) {
  T* numbers = reinterpret_cast<T*>(to);
  const int64_t pixels = int64_t{batch.height} * batch.width;
  for (int c = 0; c < batch.channels; ++c) {
    const float value = batch.fill[c] * batch.scale[c] + batch.shift[c];
    T number;
    if constexpr (std::is_same_v<T, uint8_t>) {
      number = static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f) + 0.5f);
    } else {
      number = static_cast<T>(value);
    }
    for (int64_t i = 0; i < pixels; ++i)
      numbers[batch.channels_first ? c * pixels + i : i * batch.channels + c] = number;
  }
}

/// Fill what the picture leaves out; where its first pixel goes.
uint8_t* PlaceIn(const PictureRegion& place, const PictureBatch& batch, uint8_t* to) {
  if (place.height < batch.height || place.width < batch.width) {
    if (batch.dtype == DType::kUInt8) FillWith<uint8_t>(batch, to);
    if (batch.dtype == DType::kFloat16) FillWith<float16>(batch, to);
    if (batch.dtype == DType::kFloat32) FillWith<float>(batch, to);
  }
  const int64_t first = int64_t{place.top} * batch.width + place.left;
  return to + first * (batch.channels_first ? 1 : batch.channels) * ItemSize(batch.dtype);
}

/// Pixels of three bytes, and one byte beyond the last, as pixels of four.
void Spread(const uint8_t* from, int64_t pixels, uint8_t* to) {
  for (int64_t i = 0; i < pixels; ++i) {
    std::memcpy(to + 4 * i, from + 3 * i, 4);
    to[4 * i + 3] = 255;
  }
}

void WriteFile(const JpegLibrary& library, const PictureSample& sample, const PictureBatch& batch, uint8_t* to) {
  JpegReader reader(library, sample.bytes, batch.limits);
  const Layout layout = LayoutOf(sample, batch, reader.head().height, reader.head().width);
  JpegOptions options;
  options.channels = batch.channels == 1 ? 1 : 4;
  options.region = layout.region;
  const int shrink = options.shrink = ShrinkFor(layout, batch);
  reader.Start(options);
  // The region in samples of what is computed, whose columns begin further left.
  const PictureRegion& region = layout.region;
  const PictureRegion window = reader.window();
  const int left = region.left / shrink;
  const int right = std::min((region.left + region.width + shrink - 1) / shrink, window.left + window.width);
  const PictureBox& box = layout.box;
  RowSink sink(sample, batch,
               MakeAxis(batch, window.height, layout.place.height, window.top, box.top, box.height, shrink),
               MakeAxis(batch, right - left, layout.place.width, left, box.left, box.width, shrink),
               PlaceIn(layout.place, batch, to));
  const int pitch = reader.pitch(), lanes = LanesOf(batch);
  std::vector<uint8_t> row(static_cast<size_t>(reader.row_bytes() + kPictureSlack));
  std::vector<uint8_t> spread(pitch == lanes ? 0 : static_cast<size_t>(int64_t{right - left} * lanes));
  for (int i = 0; i < window.height && !sink.is_done(); ++i) {
    reader.ReadRow(row.data());
    const uint8_t* first = row.data() + int64_t{left - window.left} * pitch;
    if (pitch != lanes) Spread(first, right - left, spread.data());
    sink.Take(pitch == lanes ? first : spread.data());
  }
}

/// A row of an array's region, a pixel beside the other.
void GatherRow(const PictureSample& sample, const uint8_t* from, int64_t pixels, int lanes, uint8_t* to) {
  const int given = sample.channels;
  const int64_t step = given == 1 ? 0 : sample.channel_stride;
  for (int64_t i = 0; i < pixels; ++i, from += sample.pixel_stride, to += lanes) {
    const uint32_t red = from[0], green = from[step], blue = from[2 * step];
    if (lanes == 1) {
      to[0] = static_cast<uint8_t>(given == 1 ? red : (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
      continue;
    }
    to[0] = static_cast<uint8_t>(red), to[1] = static_cast<uint8_t>(green), to[2] = static_cast<uint8_t>(blue);
    to[3] = given == 4 ? from[3 * step] : 255;
  }
}

void WriteArray(const PictureSample& sample, const PictureBatch& batch, uint8_t* to) {
  if (sample.channels != 1 && sample.channels != 3 && sample.channels != 4) {
    throw ValueError("picture").Got(sample.channels, " channels").Expected("1, 3 or 4");
  }
  if (sample.height < 1 || sample.width < 1) {
    throw ValueError("picture").Got(sample.height, " x ", sample.width, " pixels").Expected("at least one");
  }
  const Layout layout = LayoutOf(sample, batch, sample.height, sample.width);
  const PictureRegion& region = layout.region;
  const PictureBox& box = layout.box;
  RowSink sink(sample, batch, MakeAxis(batch, region.height, layout.place.height, region.top, box.top, box.height, 1),
               MakeAxis(batch, region.width, layout.place.width, region.left, box.left, box.width, 1),
               PlaceIn(layout.place, batch, to));
  const int lanes = LanesOf(batch);
  const bool is_packed = sample.channels == lanes && sample.channel_stride == 1 && sample.pixel_stride == lanes;
  const bool is_close = sample.channels == 3 && lanes == 4 && sample.channel_stride == 1 && sample.pixel_stride == 3;
  std::vector<uint8_t> row(static_cast<size_t>(int64_t{region.width} * lanes + kPictureSlack));
  for (int i = 0; i < region.height && !sink.is_done(); ++i) {
    const uint8_t* from = sample.rows + (int64_t{region.top} + i) * sample.row_stride;
    from += region.left * sample.pixel_stride;
    if (is_packed) {
      std::memcpy(row.data(), from, static_cast<size_t>(int64_t{region.width} * lanes));
    } else if (is_close) {
      Spread(from, region.width - 1, row.data());  // nothing may be read beyond the last pixel
      std::memcpy(row.data() + int64_t{4} * (region.width - 1), from + int64_t{3} * (region.width - 1), 3);
      row[static_cast<size_t>(int64_t{4} * region.width - 1)] = 255;
    } else {
      GatherRow(sample, from, region.width, lanes, row.data());
    }
    sink.Take(row.data());
  }
}

}  // namespace

std::vector<std::string> WritePictures(const JpegLibrary* library, std::span<const PictureSample> samples,
                                       const PictureBatch& batch, uint8_t* to, int threads) {
  std::vector<std::string> troubles(samples.size());
  std::atomic<size_t> next{0};
  const auto work = [&](int64_t, int64_t) {
    for (size_t b; (b = next.fetch_add(1)) < samples.size();) {
      uint8_t* place = to + static_cast<int64_t>(b) * batch.bytes_each();
      try {
        if (samples[b].rows != nullptr || library == nullptr) {
          WriteArray(samples[b], batch, place);
        } else {
          WriteFile(*library, samples[b], batch, place);
        }
      } catch (const std::exception& error) {
        troubles[b] = error.what();
        std::memset(place, 0, static_cast<size_t>(batch.bytes_each()));
      }
    }
  };
  if (threads <= 1) {
    work(0, 1);
  } else {
    ParallelFor(std::min<int64_t>(threads, static_cast<int64_t>(samples.size())), 1, work);
  }
  return troubles;
}

void DecodeJpeg(const JpegLibrary& library, std::span<const uint8_t> bytes, const JpegOptions& options,
                const JpegLimits& limits, std::span<uint8_t> to) {
  JpegReader reader(library, bytes, limits);
  const PictureRegion region = RegionIn(options.region, reader.head().height, reader.head().width);
  JpegOptions asked = options;
  const bool whole = region.height == reader.head().height && region.width == reader.head().width;
  asked.region = whole ? PictureRegion{} : region;
  reader.Start(asked);
  const PictureRegion window = reader.window();
  const int left = region.left / options.shrink, pitch = reader.pitch(), channels = options.channels;
  const int width =
      std::min((region.left + region.width + options.shrink - 1) / options.shrink, window.left + window.width) - left;
  if (static_cast<int64_t>(to.size()) != int64_t{window.height} * width * channels) {
    throw ValueError("decode_jpeg")
        .Got(to.size(), " bytes to write to")
        .Expected(window.height, " x ", width, " pixels");
  }
  const bool direct = pitch == channels && left == window.left && width == window.width;
  std::vector<uint8_t> row(direct ? 0 : static_cast<size_t>(reader.row_bytes()));
  for (int i = 0; i < window.height; ++i) {
    uint8_t* place = to.data() + int64_t{i} * width * channels;
    try {
      reader.ReadRow(direct ? place : row.data());
    } catch (const Error&) {
      if (options.enough >= 1 || i < options.enough * window.height) throw;
      std::fill(place, to.data() + to.size(), uint8_t{0});
      return;
    }
    if (direct) continue;
    const uint8_t* from = row.data() + int64_t{left - window.left} * pitch;
    if (pitch == channels) {
      std::memcpy(place, from, static_cast<size_t>(int64_t{width} * channels));
    } else {  // four channels of a library that writes three
      for (int x = 0; x < width; ++x, place += 4, from += 3) {
        std::memcpy(place, from, 3);
        place[3] = 255;
      }
    }
  }
  if (whole && options.enough >= 1) reader.Finish();
}

}  // namespace dragon
