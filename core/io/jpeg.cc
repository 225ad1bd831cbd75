// Talking to libjpeg. It leaves its functions by longjmp where it refuses, so nothing with a destructor may stand
// between that and `Guarded`: the bodies below capture references and call C.
#include "core/io/jpeg.h"

#include <algorithm>

#include "core/base/error.h"

namespace dragon {

namespace {

namespace field = jpeg_field;

void NothingToDo(void*) {}

/// What Pillow makes of a share of ink: (a * b) / 255, rounded.
uint32_t ShareOf255(uint32_t a, uint32_t b) {
  const uint32_t product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

int CeilDivide(int a, int b) { return (a + b - 1) / b; }

// Colours at the border of what is computed are interpolated as if nothing were beyond; two pixels more hide that.
constexpr int kMargin = 2;

constexpr int64_t kPixelsPerByte = 512;

}  // namespace

template <typename Body>
void JpegReader::Guarded(Body body) {
  if (setjmp(link_.back)) Fail();
  body();
}

void JpegReader::Fail() {
  if (link_.trouble != nullptr) throw ValueError("JPEG").Says(link_.trouble);
  char words[256] = {};  // the library's JMSG_LENGTH_MAX is 200
  ReadField<void (*)(void*, char*)>(errors_, field::kFormatMessage)(structure_, words);
  throw ValueError("JPEG").Says(words);
}

void JpegReader::LeaveOnError(void* structure) {
  std::longjmp(ReadField<Link*>(structure, field::kClientData)->back, 1);
}

int JpegReader::FillSource(void* structure) {
  Link* link = ReadField<Link*>(structure, field::kClientData);
  if (link->recover) {  // the library goes on with what an end within the picture leaves
    static constexpr uint8_t kEnd[] = {0xff, 0xd9};
    void* source = ReadField<void*>(structure, field::kSource);
    WriteField(source, field::kNextByte, &kEnd[0]);
    WriteField(source, field::kBytesLeft, sizeof(kEnd));
    return 1;
  }
  link->trouble = "got truncated bytes, expected those of a whole file";
  LeaveOnError(structure);
  return 0;
}

void JpegReader::SkipSource(void* structure, long count) {  // NOLINT: libjpeg's type
  void* source = ReadField<void*>(structure, field::kSource);
  const auto left = ReadField<size_t>(source, field::kBytesLeft);
  if (count <= 0) return;
  if (static_cast<size_t>(count) > left) {
    FillSource(structure);
    return;
  }
  WriteField(source, field::kNextByte, ReadField<const uint8_t*>(source, field::kNextByte) + count);
  WriteField(source, field::kBytesLeft, left - static_cast<size_t>(count));
}

void JpegReader::CountScans(void* structure) {
  Link* link = ReadField<Link*>(structure, field::kClientData);
  if (ReadField<int>(structure, field::kScan) <= link->most_scans) return;
  link->trouble = "got more scans than a progressive file may have";
  LeaveOnError(structure);
}

JpegReader::JpegReader(const JpegLibrary& library, std::span<const uint8_t> bytes, const JpegLimits& limits)
    : library_(library), bytes_(bytes), head_(ReadJpegHead(bytes)), limits_(limits) {
  if (int64_t{head_.width} * head_.height > limits.pixels) {
    throw ValueError("JPEG")
        .Got(head_.width, " x ", head_.height, " pixels")
        .Expected("at most ", limits.pixels, " of them");
  }
  if (head_.bits != 8) throw NotImplementedError("JPEG").Got("samples of ", head_.bits, " bits").Expected("8 bits");
  if (head_.components != 1 && head_.components != 3 && head_.components != 4) {
    throw NotImplementedError("JPEG").Got(head_.components, " components").Expected("1, 3 or 4");
  }
  link_.most_scans = limits.scans;
  library_.StandardErrors(errors_);
  WriteField(errors_, field::kErrorExit, &LeaveOnError);
  WriteField(errors_, field::kOutputMessage, &NothingToDo);
  Set(field::kErrors, static_cast<void*>(errors_));
  Set(field::kClientData, &link_);
  Guarded([&] { library_.Create(structure_); });  // keeps these two, and clears all else
  WriteField(source_, field::kNextByte, bytes.data());
  WriteField(source_, field::kBytesLeft, bytes.size());
  WriteField(source_, field::kStartSource, &NothingToDo);
  WriteField(source_, field::kFillSource, &FillSource);
  WriteField(source_, field::kSkipSource, &SkipSource);
  WriteField(source_, field::kResync, library_.ResyncToRestart);
  WriteField(source_, field::kEndSource, &NothingToDo);
  Set(field::kSource, static_cast<void*>(source_));
  WriteField(progress_, field::kMonitor, &CountScans);
  Set(field::kProgress, static_cast<void*>(progress_));
  WriteField(Get<void*>(field::kMemory), field::kMostMemory, static_cast<long>(limits.memory));  // NOLINT
  try {
    Guarded([&] { library_.ReadHeader(structure_, 1); });
    // The bytes may be somebody's who writes to them meanwhile.
    if (Get<uint32_t>(field::kWidth) != static_cast<uint32_t>(head_.width) ||
        Get<uint32_t>(field::kHeight) != static_cast<uint32_t>(head_.height)) {
      throw ValueError("JPEG").Got("a second size").Expected(head_.width, " x ", head_.height, " pixels");
    }
  } catch (...) {
    library_.Destroy(structure_);
    throw;
  }
}

JpegReader::~JpegReader() { library_.Destroy(structure_); }

void JpegReader::ChooseColours(const JpegOptions& options) {
  const int of_file = Get<int>(field::kFileColours);
  is_ink_ = of_file == kJpegCmyk || of_file == kJpegYcck;
  channels_ = options.channels;
  cut_inks_ = options.cut_inks;
  if (is_ink_) {
    Set<int>(field::kColours, kJpegCmyk);
    pitch_ = channels_;
  } else if (channels_ == 1) {
    Set<int>(field::kColours, kJpegGray);
    pitch_ = 1;
  } else if (channels_ == 4 && library_.has_regions()) {
    Set<int>(field::kColours, kJpegRgba);
    pitch_ = 4;
  } else {
    Set<int>(field::kColours, kJpegRgb);
    pitch_ = 3;
  }
}

void JpegReader::ChooseWindow(const JpegOptions& options) {
  const auto width = static_cast<int>(Get<uint32_t>(field::kOutputWidth));
  const auto height = static_cast<int>(Get<uint32_t>(field::kOutputHeight));
  window_ = {0, 0, height, width};
  if (options.region.width == 0) return;
  const PictureRegion& region = options.region;
  window_.top = std::min(region.top / options.shrink, height - 1);
  window_.height = std::min(CeilDivide(region.top + region.height, options.shrink), height) - window_.top;
  if (!library_.has_regions()) {
    for (std::vector<uint8_t> row(static_cast<size_t>(row_bytes()));
         Get<uint32_t>(field::kOutputRow) < static_cast<uint32_t>(window_.top);) {
      ReadRow(row.data());
    }
    return;
  }
  const int margin = options.around ? kMargin : 0;
  const int left = std::max(0, region.left / options.shrink - margin);
  const int right = std::min(width, CeilDivide(region.left + region.width, options.shrink) + margin);
  uint32_t from = static_cast<uint32_t>(left), columns = static_cast<uint32_t>(right - left);
  if (right - left < width) Guarded([&] { library_.CropColumns(structure_, &from, &columns); });
  window_.left = static_cast<int>(from), window_.width = static_cast<int>(columns);
  if (window_.top > 0) Guarded([&] { library_.SkipRows(structure_, static_cast<uint32_t>(window_.top)); });
}

void JpegReader::Start(const JpegOptions& options) {
  link_.recover = options.recover;
  // Each block of 64 samples takes a bit at least, unless it is coded arithmetically: who tells more than that lies,
  // and memory for a progressive file would be taken before that shows.
  if (!options.recover && head_.frame < 9 &&
      int64_t{head_.width} * head_.height / kPixelsPerByte > static_cast<int64_t>(bytes_.size())) {
    throw ValueError("JPEG").Got("truncated bytes: ", bytes_.size(), " of them for ", head_.width, " x ", head_.height,
                                 " pixels");
  }
  ChooseColours(options);
  Set<uint32_t>(field::kScaleNumerator, 1);
  Set<uint32_t>(field::kScaleDenominator, static_cast<uint32_t>(options.shrink));
  Set<int>(field::kFancyUpsampling, options.fancy);
  Set<int>(field::kTransform, options.quick ? 1 : 0);
  Guarded([&] { library_.Start(structure_); });
  window_ = {0, 0, static_cast<int>(Get<uint32_t>(field::kOutputHeight)),
             static_cast<int>(Get<uint32_t>(field::kOutputWidth))};
  if (is_ink_) inks_.resize(size_t{4} * window_.width);
  ChooseWindow(options);
}

int64_t JpegReader::row_bytes() const { return int64_t{window_.width} * pitch_; }

void JpegReader::ReadRow(uint8_t* row) {
  uint8_t* to = is_ink_ ? inks_.data() : row;
  uint32_t count = 0;
  Guarded([&] { count = library_.ReadRows(structure_, &to, 1); });
  if (count != 1) throw ValueError("JPEG").Got("no more rows").Expected("one");
  if (is_ink_) ConvertInks(row);
}

void JpegReader::ConvertInks(uint8_t* row) {
  // Files hold inks the other way round, as Adobe's programs write them: 255 is none. Pillow takes all files for such.
  const uint32_t turn = cut_inks_ && !head_.is_adobe ? 255 : 0;
  for (int i = 0; i < window_.width; ++i) {
    const uint8_t* ink = inks_.data() + size_t{4} * i;
    uint32_t colours[3];
    const uint32_t light = ink[3] ^ turn;
    for (int c = 0; c < 3; ++c) {
      colours[c] =
          cut_inks_ ? (ink[c] ^ turn) * light / 255 : light - std::min(light, ShareOf255(255u - ink[c], light));
    }
    if (channels_ == 1) {
      row[i] = static_cast<uint8_t>((colours[0] * 19595 + colours[1] * 38470 + colours[2] * 7471 + 0x8000) >> 16);
      continue;
    }
    uint8_t* pixel = row + int64_t{channels_} * i;
    for (int c = 0; c < 3; ++c) pixel[c] = static_cast<uint8_t>(colours[c]);
    if (channels_ == 4) pixel[3] = 255;
  }
}

void JpegReader::Finish() {
  Guarded([&] { library_.Finish(structure_); });
}

bool JpegReader::is_broken() const { return ReadField<long>(errors_, field::kWarnings) > 0; }  // NOLINT

}  // namespace dragon
