// Pixels of JPEG files, row by row: the whole picture, or a part of it that alone is computed.
//
//   JpegReader reader(library, bytes, limits);
//   reader.Start({.channels = 3, .region = {top, left, height, width}});
//   for (int i = 0; i < height; ++i) reader.ReadRow(row);    // row + reader.left() * pitch is the region's first pixel
#pragma once

#include <csetjmp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/macros.h"
#include "core/io/jpeg_head.h"
#include "core/io/jpeg_library.h"

namespace dragon {

/// What is refused, before anything is allocated for it or while it is read.
struct JpegLimits {
  int64_t pixels = 178956970;         ///< of the picture; what Pillow calls a decompression bomb
  int scans = 100;                    ///< of a progressive file: each goes over the whole picture
  int64_t memory = int64_t{2} << 30;  ///< bytes that the library may hold, for coefficients above all
};

/// A rectangle of a picture in pixels.
struct PictureRegion {
  int top = 0, left = 0, height = 0, width = 0;
};

struct JpegOptions {
  int channels = 3;           ///< 1 or 3 bytes of a pixel; 4 for red, green, blue and 255
  PictureRegion region = {};  ///< in pixels of the file; an empty one is the whole picture
  int shrink = 1;             ///< 1, 2, 4, or 8: how often sizes are halved while pixels are computed
  bool fancy = true;          ///< whether colours are interpolated, or repeated
  bool quick = false;         ///< whether the cosine transform may be the less exact one
  bool around = true;         ///< whether a region's colours are as in the whole picture: a little around it counts
  bool recover = false;       ///< whether what is cut off is read as far as it goes
  bool cut_inks = false;      ///< whether shares of ink are cut to whole numbers, as TensorFlow does, and not rounded
  double enough = 1;          ///< which part of the rows will do where more cannot be read; others are zeros then
};

class DRAGON_API JpegReader {
 public:
  JpegReader(const JpegLibrary& library, std::span<const uint8_t> bytes, const JpegLimits& limits);
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  const JpegHead& head() const { return head_; }
  void Start(const JpegOptions& options);
  /// Rows and columns that are computed, in pixels of the shrunken picture: the region and what it needs around it.
  const PictureRegion& window() const { return window_; }
  /// Bytes between two pixels of a row; a row has room for `row_bytes`.
  int pitch() const { return pitch_; }
  int64_t row_bytes() const;
  void ReadRow(uint8_t* row);
  /// After the last row of a whole picture: what follows must be its end.
  void Finish();
  /// Whether the library met what it could not make sense of, and went on.
  bool is_broken() const;

 private:
  template <typename Body>
  void Guarded(Body body);
  [[noreturn]] void Fail();
  void ChooseColours(const JpegOptions& options);
  void ChooseWindow(const JpegOptions& options);
  void ConvertInks(uint8_t* row);
  template <typename T>
  T Get(size_t field) const {
    return ReadField<T>(structure_, field);
  }
  template <typename T>
  void Set(size_t field, T value) {
    WriteField(structure_, field, value);
  }

  // What the library's callbacks are handed: `back_` and `trouble_` are found through its client data.
  struct Link {
    std::jmp_buf back;
    const char* trouble = nullptr;
    int most_scans = 0;
    bool recover = false;
  };
  static void LeaveOnError(void* structure);
  static int FillSource(void* structure);
  static void SkipSource(void* structure, long count);  // NOLINT: libjpeg's type
  static void CountScans(void* structure);

  const JpegLibrary& library_;
  std::span<const uint8_t> bytes_;
  JpegHead head_;
  JpegLimits limits_;
  PictureRegion window_;
  int pitch_ = 3, channels_ = 3;
  bool is_ink_ = false, cut_inks_ = false;
  std::vector<uint8_t> inks_;
  Link link_;
  alignas(16) char structure_[kJpegStruct] = {};
  alignas(16) char errors_[kJpegErrors] = {};
  alignas(16) char source_[kJpegSource] = {};
  alignas(16) char progress_[kJpegProgress] = {};
};

}  // namespace dragon
