// Memory that grows at its end, and heads before what lies in it.
#include "core/io/record_buffer.h"

#include <algorithm>
#include <utility>

#include "core/io/crc32c.h"

namespace dragon {

void RecordBuffer::Enlarge(size_t by) {
  const size_t wanted = std::max({size_ + by, capacity_ * 2, kLeast});
  std::shared_ptr<uint8_t[]> larger(new uint8_t[wanted]);  // without zeros
  if (size_) std::memcpy(larger.get(), bytes_.get(), size_);
  bytes_ = std::move(larger);
  capacity_ = wanted;
}

RecordBytes RecordBuffer::Take() {
  RecordBytes taken{bytes_, size_};
  taken_ += size_;
  size_ = 0;
  const bool serves_again = kept_.bytes && kept_.bytes.use_count() == 1;
  if (!serves_again) kept_ = {};
  std::swap(bytes_, kept_.bytes);
  std::swap(capacity_, kept_.size);
  if (kept_.size > kMostKept) kept_ = {};
  if (!bytes_) capacity_ = 0;
  return taken;
}

void RecordBuffer::Begin() {
  Extend(RecordHead::kSize);
  body_ = size_;
}

void RecordBuffer::End(RecordHead::Kind kind, uint8_t packing, uint64_t size) {
  const std::span<const uint8_t> whole = body();
  const RecordHead head{kind, packing, whole.size(), size, Crc32c(whole.data(), whole.size())};
  const size_t begin = body_ - RecordHead::kSize;
  const uint64_t place = taken_ + begin;
  WriteRecordHead(head, place, bytes_.get() + begin);
  const size_t zeros = AlignRecord(head.FrameSize()) - head.FrameSize();
  if (zeros) std::memset(Extend(zeros), 0, zeros);
  if (kind == RecordHead::Kind::kSample) samples_.push_back({place, head.FrameSize()});
}

size_t RecordBuffer::Array(RecordTag tag, std::string_view dtype, std::span<const int64_t> shape, size_t size) {
  std::memcpy(Room(tag, dtype.size()), dtype.data(), dtype.size());
  Varint(shape.size());
  for (int64_t length : shape) Varint(static_cast<uint64_t>(length));
  const size_t at = size_ - body_, padded = AlignRecord(at);
  std::memset(Extend(padded - at), 0, padded - at);
  Extend(size);
  return padded;
}

}  // namespace dragon
