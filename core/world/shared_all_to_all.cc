// Everybody sends something to everybody; sizes are told first, since they may differ.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/world/shared.h"
#include "core/world/streaming.h"

namespace dragon {

void SharedCommunicator::AllToAll(std::span<const Piece> ins, std::span<const Piece> outs) {
  const int me = rank(), n = size();
  const int64_t place = static_cast<int64_t>(board_->sheet_bytes()) / n / kLine * kLine;
  // First what each rank sends and wants, 2 n numbers, so that all see alike whether they fit.
  std::vector<int64_t> told(int64_t{2} * n * n);
  ShareSizes(ins, outs, told);
  const auto sends = [&](int from, int to) { return told[int64_t{2} * n * from + to]; };
  const auto wants = [&](int from, int to) { return told[int64_t{2} * n * to + n + from]; };
  int64_t longest = 0;
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      if (sends(from, to) != wants(from, to)) {
        throw ValueError("all_to_all")
            .Got(sends(from, to), " bytes that rank ", from, " sends to rank ", to)
            .Expected("the ", wants(from, to), " that it wants");
      }
      if (from != to) longest = std::max(longest, sends(from, to));
    }
  }
  std::memmove(outs[me].data, ins[me].data, ins[me].bytes);
  const auto fill = [&](int64_t step) {
    for (int i = 1; i < n; ++i) {
      const int q = (me + i) % n;
      Part(step, place, ins[q].bytes, [&](int64_t offset, int64_t count) {
        StreamInto(board_->sheet(me, step) + q * place, ins[q].data + offset, count);
      });
    }
  };
  const auto take = [&](int64_t step) {
    for (int i = 1; i < n; ++i) {
      const int q = (me + i) % n;
      Part(step, place, outs[q].bytes, [&](int64_t offset, int64_t count) {
        std::memcpy(outs[q].data + offset, board_->sheet(q, step) + me * place, count);
      });
    }
  };
  Run(Say(Collective::kAllToAll, {0, DType::kUInt8}), std::max<int64_t>((longest + place - 1) / place, 1), fill, take);
}

void SharedCommunicator::ShareSizes(std::span<const Piece> ins, std::span<const Piece> outs, std::span<int64_t> told) {
  std::vector<int64_t> mine;
  for (const Piece& piece : ins) mine.push_back(piece.bytes);
  for (const Piece& piece : outs) mine.push_back(piece.bytes);
  std::vector<char*> rows;
  for (int q = 0; q < size(); ++q) rows.push_back(reinterpret_cast<char*>(told.data() + int64_t{2} * size() * q));
  AllGather(reinterpret_cast<const char*>(mine.data()), rows, {int64_t{2} * size(), DType::kInt64});
}

}  // namespace dragon
