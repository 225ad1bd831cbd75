// Finding records without an index: from head to head, and byte by byte over what is broken.
#include <algorithm>
#include <cstring>
#include <optional>

#include "core/io/crc32c.h"
#include "core/io/record_file.h"

namespace dragon {

namespace {

/// Bytes of a source, read a piece at a time for whoever walks over them.
class Window {
 public:
  Window(ByteSource& source, uint64_t size) : source_(source), size_(size) {}

  /// The head at a place, if there is one, and if the body that it tells of lies within the file.
  std::optional<RecordHead> Head(uint64_t offset) {
    RecordHead head;
    const uint8_t* bytes = At(offset, RecordHead::kSize);
    if (!bytes || !ReadRecordHead(bytes, offset, &head)) return {};
    if (head.stored > size_ - offset - RecordHead::kSize) return {};
    return head;
  }
  /// The first place from `offset` on, in steps of frames, that begins like one; the end if there is none.
  uint64_t Search(uint64_t offset) {
    for (; offset < size_; offset += RecordHead::kAlign) {
      const uint8_t* bytes = At(offset, 4);
      if (bytes && !std::memcmp(bytes, "KPLr", 4)) return offset;
    }
    return size_;
  }
  /// Whether the body after a head has its checksum. No more bytes are read for this than the file has four times:
  /// heads that lie inside of one another would take for ever.
  bool BodyIsWhole(uint64_t offset, const RecordHead& head) {
    checked_ += head.stored;
    if (checked_ / 4 > size_) return false;
    std::vector<uint8_t> body(head.stored);
    return source_.ReadAt(offset + RecordHead::kSize, body.data(), body.size()) == body.size() &&
           Crc32c(body.data(), body.size()) == head.crc;
  }

 private:
  const uint8_t* At(uint64_t offset, size_t size) {
    if (offset > size_ || size > size_ - offset) return nullptr;
    if (offset < start_ || offset + size > start_ + bytes_.size()) {
      constexpr uint64_t kNear = 4 << 10, kPiece = 256 << 10;
      // Heads that follow one another at once are read many at a time, those of large records alone.
      const bool near = offset >= start_ && offset <= start_ + bytes_.size() + kNear;
      bytes_.resize(std::min(size_ - offset, near || bytes_.empty() ? kPiece : kNear));
      start_ = offset;
      bytes_.resize(source_.ReadAt(offset, bytes_.data(), bytes_.size()));
      if (bytes_.size() < size) return nullptr;
    }
    return bytes_.data() + (offset - start_);
  }

  ByteSource& source_;
  uint64_t size_, start_ = 0, checked_ = 0;
  std::vector<uint8_t> bytes_;
};

}  // namespace

RecordScan ScanRecords(ByteSource& source, uint64_t file_size, uint64_t start) {
  Window window(source, file_size);
  RecordScan found;
  uint64_t at = AlignRecord(start), lost_from = at;
  while (at < file_size) {
    const auto head = window.Head(at);
    const uint64_t end = head ? AlignRecord(at + head->FrameSize()) : 0;
    // A torn frame tells of a body that was never written; what was appended after it is no part of it.
    if (!head || (end < file_size && !window.Head(end) && !window.BodyIsWhole(at, *head))) {
      at = window.Search(at + RecordHead::kAlign);
      continue;
    }
    if (at > lost_from) found.lost.push_back({lost_from, at - lost_from});
    if (head->kind == RecordHead::Kind::kSample) found.samples.push_back({at, head->FrameSize()});
    at = lost_from = end;
  }
  if (lost_from < file_size) found.lost.push_back({lost_from, file_size - lost_from});
  return found;
}

}  // namespace dragon
