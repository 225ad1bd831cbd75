// Blocks of records: grouped, read, checked.
#include "core/io/record_file.h"

#include <algorithm>

#include "core/io/crc32c.h"

namespace dragon {

namespace {

constexpr uint64_t kMostTogether = 256 << 10;  // what a processor's own cache holds while it is checked and taken apart
constexpr uint64_t kWidestGap = 4 << 10;       // reading past so much costs less than another call of the system

bool Fits(const RecordPlace& place, uint64_t file_size) {
  return place.size >= RecordHead::kSize && place.offset <= file_size && place.size <= file_size - place.offset;
}

}  // namespace

void RecordMemory::Provide(uint64_t wanted) {
  if (size >= wanted && bytes.use_count() == 1) return;
  bytes = std::shared_ptr<uint8_t[]>(new uint8_t[wanted]);
  size = wanted;
}

size_t RecordBlock::CountTogether(std::span<const RecordPlace> places) {
  const uint64_t start = places[0].offset;
  size_t count = 1;
  if (places[0].size >= kLarge) return count;
  for (uint64_t end = start + places[0].size; count < places.size(); ++count) {
    const RecordPlace& next = places[count];
    if (next.size >= kLarge || next.offset < end || next.offset - end > kWidestGap) break;
    if (next.offset + next.size - start > kMostTogether) break;
    end = next.offset + next.size;
  }
  return count;
}

RecordBlock::RecordBlock(ByteSource& source, uint64_t file_size, std::span<const RecordPlace> places,
                         RecordMemory* memory) {
  for (const RecordPlace& place : places) {
    if (!Fits(place, file_size)) throw RecordTrouble{"a record that reaches beyond the file's end", place.offset};
  }
  const uint64_t start = places.front().offset, size = places.back().offset + places.back().size - start;
  memory->Provide(size);
  const size_t got = source.ReadAt(start, memory->bytes.get(), size);
  if (got != size) throw RecordTrouble{"fewer bytes than its file had when it was opened", start + got};
  records_.reserve(places.size());
  for (const RecordPlace& place : places) {
    const uint8_t* frame = memory->bytes.get() + (place.offset - start);
    RecordHead head;
    if (!ReadRecordHead(frame, place.offset, &head)) throw RecordTrouble{"a broken head of a record", place.offset};
    if (head.stored != place.size - RecordHead::kSize) {
      throw RecordTrouble{"a record of another length than the index has", place.offset};
    }
    if (!head.packing && head.size != head.stored) throw RecordTrouble{"a record of two lengths", place.offset};
    const std::span<const uint8_t> body(frame + RecordHead::kSize, head.stored);
    if (Crc32c(body.data(), body.size()) != head.crc) throw RecordTrouble{"a broken record", place.offset};
    records_.push_back({head, body, place.offset});
  }
}

}  // namespace dragon
