// Walking over the segments of a JPEG file.
#include "core/io/jpeg_head.h"

#include <cstring>

#include "core/base/error.h"

namespace dragon {

namespace {

using Bytes = std::span<const uint8_t>;
constexpr int kStartOfImage = 0xd8, kEndOfImage = 0xd9, kStartOfScan = 0xda, kApp1 = 0xe1, kApp14 = 0xee;
constexpr uint32_t kOrientationTag = 0x0112, kShort = 3;

uint32_t ReadNumber(Bytes bytes, size_t at, int count, bool little) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i) {
    const uint32_t byte = bytes[at + i];
    value |= byte << (8 * (little ? i : count - 1 - i));
  }
  return value;
}

bool IsFrame(int marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// The orientation in a segment of EXIF, 1 where there is none that makes sense.
int ReadOrientation(Bytes segment) {
  if (segment.size() < 14 || std::memcmp(segment.data(), "Exif\0\0", 6) != 0) return 1;
  const Bytes tiff = segment.subspan(6);
  const bool little = tiff[0] == 'I';
  const size_t table = ReadNumber(tiff, 4, 4, little);
  if (tiff.size() < 10 || table > tiff.size() - 2) return 1;
  const uint32_t entries = ReadNumber(tiff, table, 2, little);
  for (uint32_t i = 0; i < entries; ++i) {
    const size_t entry = table + 2 + size_t{12} * i;
    if (entry + 12 > tiff.size()) return 1;
    if (ReadNumber(tiff, entry, 2, little) != kOrientationTag || ReadNumber(tiff, entry + 2, 2, little) != kShort) {
      continue;
    }
    const uint32_t value = ReadNumber(tiff, entry + 8, 2, little);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

void ReadFrame(Bytes segment, int marker, JpegHead* head) {
  if (segment.size() < 6) throw ValueError("JPEG").Got("a frame header of ", segment.size(), " bytes").Expected("6");
  head->frame = marker - 0xc0;
  head->bits = segment[0];
  head->height = static_cast<int>(ReadNumber(segment, 1, 2, false));
  head->width = static_cast<int>(ReadNumber(segment, 3, 2, false));
  head->components = segment[5];
  if (head->width == 0 || head->height == 0) {
    throw ValueError("JPEG").Got("a size of ", head->width, " x ", head->height).Expected("at least 1 x 1");
  }
}

}  // namespace

JpegHead ReadJpegHead(Bytes bytes) {
  if (bytes.size() < 3 || bytes[0] != 0xff || bytes[1] != kStartOfImage || bytes[2] != 0xff) {
    throw ValueError("JPEG").Got("bytes that begin otherwise").Expected("the marker of a JPEG file");
  }
  JpegHead head;
  for (size_t at = 2; at < bytes.size();) {
    // Between segments, anything up to the next marker is passed by, as libjpeg does.
    while (at < bytes.size() && bytes[at] != 0xff) ++at;
    while (at < bytes.size() && bytes[at] == 0xff) ++at;
    if (at >= bytes.size()) break;
    const int marker = bytes[at++];
    if (marker == 0 || marker == 1 || (marker >= 0xd0 && marker <= kStartOfImage)) continue;
    if (marker == kEndOfImage || marker == kStartOfScan) {
      throw ValueError("JPEG").Got("no frame before marker ", marker).Expected("one that tells the picture's size");
    }
    if (bytes.size() - at < 2) break;
    const size_t length = ReadNumber(bytes, at, 2, false);
    if (length < 2) throw ValueError("JPEG").Got("a segment of ", length, " bytes").Expected("at least 2");
    if (length > bytes.size() - at) break;
    const Bytes segment = bytes.subspan(at + 2, length - 2);
    if (IsFrame(marker)) {
      ReadFrame(segment, marker, &head);
      return head;
    }
    if (marker == kApp1 && head.orientation == 1) head.orientation = ReadOrientation(segment);
    if (marker == kApp14 && segment.size() >= 12 && std::memcmp(segment.data(), "Adobe", 5) == 0) head.is_adobe = true;
    at += length;
  }
  throw ValueError("JPEG").Got("truncated bytes: ", bytes.size(), " of them end within the header");
}

}  // namespace dragon
