// libjpeg, found at run time: what every program that reads pictures has somewhere, and no two in the same place.
//
// Its structures are known here by the offsets of the few fields that are used, for the two layouts that are about
// (version 6.2 and version 8 of the interface, on 64-bit machines). The library compares the version and the size that
// it is called with to its own before it touches anything, so that another layout is refused and not misread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/base/macros.h"

namespace dragon {

/// Where fields lie in libjpeg's structures; the same in both layouts.
namespace jpeg_field {
// jpeg_decompress_struct
inline constexpr size_t kErrors = 0, kMemory = 8, kProgress = 16, kClientData = 24, kSource = 40, kWidth = 48,
                        kHeight = 52, kComponents = 56, kFileColours = 60, kColours = 64, kScaleNumerator = 68,
                        kScaleDenominator = 72, kTransform = 96, kFancyUpsampling = 100, kOutputWidth = 136,
                        kOutputHeight = 140, kOutputComponents = 148, kOutputRow = 168, kScan = 172;
// jpeg_error_mgr
inline constexpr size_t kErrorExit = 0, kOutputMessage = 16, kFormatMessage = 24, kWarnings = 128;
// jpeg_source_mgr
inline constexpr size_t kNextByte = 0, kBytesLeft = 8, kStartSource = 16, kFillSource = 24, kSkipSource = 32,
                        kResync = 40, kEndSource = 48;
// jpeg_memory_mgr
inline constexpr size_t kMostMemory = 88;
// jpeg_progress_mgr
inline constexpr size_t kMonitor = 0;
}  // namespace jpeg_field

/// Sizes that are enough for any version's structures, and the numbers of its colour spaces and transforms.
inline constexpr size_t kJpegStruct = 1024, kJpegErrors = 512, kJpegSource = 64, kJpegProgress = 64;
enum JpegColours : int { kJpegGray = 1, kJpegRgb = 2, kJpegYcc = 3, kJpegCmyk = 4, kJpegYcck = 5, kJpegRgba = 12 };

template <typename T>
T ReadField(const void* structure, size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(structure) + offset, sizeof(T));
  return value;
}
template <typename T>
void WriteField(void* structure, size_t offset, T value) {
  std::memcpy(static_cast<char*>(structure) + offset, &value, sizeof(T));
}

class DRAGON_API JpegLibrary {
 public:
  /// Load it; a RuntimeError with the loader's words, or with the library's where its layout is neither of ours.
  explicit JpegLibrary(const std::string& path);

  const std::string& path() const { return path_; }
  /// 62 or 80: which layout it has.
  int version() const { return version_; }
  /// libjpeg-turbo can leave out parts of a picture, and write pixels of four bytes; the older libjpeg cannot.
  bool has_regions() const { return CropColumns != nullptr && SkipRows != nullptr; }

  void* (*StandardErrors)(void*) = nullptr;
  void (*Destroy)(void*) = nullptr;
  int (*ReadHeader)(void*, int) = nullptr;
  int (*Start)(void*) = nullptr;
  uint32_t (*ReadRows)(void*, uint8_t**, uint32_t) = nullptr;
  int (*Finish)(void*) = nullptr;
  int (*ResyncToRestart)(void*, int) = nullptr;
  void (*CropColumns)(void*, uint32_t*, uint32_t*) = nullptr;
  uint32_t (*SkipRows)(void*, uint32_t) = nullptr;
  /// Begin with a structure whose error manager is set.
  void Create(void* structure) const { create_(structure, version_, size_); }

 private:
  bool TryLayout(int version, size_t size);

  std::string path_;
  int version_ = 0;
  size_t size_ = 0;
  void (*create_)(void*, int, size_t) = nullptr;
};

}  // namespace dragon
