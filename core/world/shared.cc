// Collectives over a board: what is written in each step, and what is read.
#include "core/world/shared.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/world/streaming.h"

namespace dragon {

namespace {

constexpr int64_t kSmall = 64 << 10;  // bytes of the others up to which each rank reads them all and reduces by itself

int64_t Parts(int64_t count, int64_t most) { return std::max<int64_t>((count + most - 1) / most, 1); }

}  // namespace

SharedCommunicator::SharedCommunicator(std::unique_ptr<Board> board)
    : board_(std::move(board)), mail_(board_->rest(), board_.get()), sources_(board_->size()) {}

uint64_t SharedCommunicator::BytesFor(const Board::Options& options) {
  const uint64_t least = kLine * (static_cast<uint64_t>(std::max(options.size, 1)) + 1);
  if (options.sheet_bytes < least) {
    throw ValueError("ProcessGroup")
        .Got("sheets of ", options.sheet_bytes, " bytes")
        .Expected("at least ", least, ", for ", options.size, " processes to have a part in each");
  }
  return Board::BytesFor(options) + Mail::BytesFor(options.size);
}

std::shared_ptr<Message> SharedCommunicator::Send(const char* data, int64_t bytes, int to, int64_t tag) {
  if (to < 0 || to >= size()) {
    throw ValueError("send").Got("rank ", to).Expected("one of the group's, 0 to ", size() - 1);
  }
  return mail_.Send(data, bytes, to, tag);
}

std::shared_ptr<Message> SharedCommunicator::Receive(char* data, int64_t bytes, int from, int64_t tag) {
  if (from < -1 || from >= size()) {
    throw ValueError("receive").Got("rank ", from).Expected("one of the group's, 0 to ", size() - 1, ", or -1");
  }
  return mail_.Receive(data, bytes, from, tag);
}

void SharedCommunicator::Combine(Elements elements, Reduction reduction, char* out) {
  Context context;
  kernels::Combine(context, elements.dtype, {reduction, elements.count, out, sources_});
}

Signature SharedCommunicator::Say(Collective collective, Elements elements, int root, Reduction reduction) const {
  return {number_, collective, reduction, static_cast<uint32_t>(elements.dtype), root, elements.count};
}

void SharedCommunicator::Run(Signature signature, int64_t steps, const Step& fill, const Step& take) {
  std::lock_guard lock(mutex_);
  board_->CheckWhole();
  signature.number = ++number_;
  fill(0);
  board_->Begin(signature);
  try {
    RunSteps(steps, fill, take);
  } catch (const Error& error) {
    // Others are in the middle of it.
    board_->Break("rank " + std::to_string(rank()) + " failed in " + signature.Text() + ": " + error.what());
    throw;
  }
  board_->End(steps);
}

void SharedCommunicator::RunSteps(int64_t steps, const Step& fill, const Step& take) {
  for (int64_t step = 0; step < steps; ++step) {
    const bool more = step + 1 < steps;
    if (more) {
      fill(step + 1);
      board_->Post(step + 1);
    }
    take(step);
    if (more) board_->Await(step + 1);
  }
}

void SharedCommunicator::AllReduce(const char* in, char* out, Elements elements, Reduction reduction) {
  const int64_t most = std::min<int64_t>(kSmall / std::max(size() - 1, 1), static_cast<int64_t>(board_->sheet_bytes()));
  if (elements.bytes() <= most) {
    AllReduceAtOnce(in, out, elements, reduction);
  } else {
    AllReduceInParts(in, out, elements, reduction);
  }
}

void SharedCommunicator::AllReduceAtOnce(const char* in, char* out, Elements elements, Reduction reduction) {
  const auto fill = [&](int64_t step) { StreamInto(board_->sheet(rank(), step), in, elements.bytes()); };
  const auto take = [&](int64_t step) {
    for (int q = 0; q < size(); ++q) sources_[q] = q == rank() ? in : board_->sheet(q, step);
    Combine(elements, reduction, out);
  };
  Run(Say(Collective::kAllReduce, elements, -1, reduction), 1, fill, take);
}

// A chunk is dealt to the ranks in segments. In step k each rank hands out the segments of chunk k that others reduce,
// reduces its own of chunk k - 1, and takes the results of chunk k - 1 from the others.
void SharedCommunicator::AllReduceInParts(const char* in, char* out, Elements elements, Reduction reduction) {
  const int me = rank(), n = size();
  const int64_t item = ItemSize(elements.dtype), places = n + 1;
  const int64_t place = static_cast<int64_t>(board_->sheet_bytes()) / places / kLine * kLine;  // bytes of a segment
  const int64_t chunks = Parts(elements.count, place / item * n);
  const int64_t even = Parts(Parts(elements.count, chunks), n);
  const int64_t segment = std::min<int64_t>(place / item, Parts(even * item, kLine) * kLine / item);
  const auto of = [&](int64_t chunk, int q, const auto& act) {
    Part(chunk * n + q, segment, elements.count,
         [&](int64_t offset, int64_t count) { act(offset * item, Elements{count, elements.dtype}); });
  };
  const auto fill = [&](int64_t step) {
    char* sheet = board_->sheet(me, step);
    for (int i = 1; i < n && step < chunks; ++i) {
      const int q = (me + i) % n;
      of(step, q, [&](int64_t at, Elements part) { StreamInto(sheet + q * place, in + at, part.bytes()); });
    }
    if (step == 0) return;
    of(step - 1, me, [&](int64_t at, Elements part) {
      for (int q = 0; q < n; ++q) sources_[q] = q == me ? in + at : board_->sheet(q, step - 1) + me * place;
      Combine(part, reduction, out + at);
      StreamInto(sheet + n * place, out + at, part.bytes());
    });
  };
  const auto take = [&](int64_t step) {
    for (int i = 1; i < n && step > 0; ++i) {
      const int q = (me + i) % n;
      of(step - 1, q,
         [&](int64_t at, Elements part) { std::memcpy(out + at, board_->sheet(q, step) + n * place, part.bytes()); });
    }
  };
  Run(Say(Collective::kAllReduce, elements, -1, reduction), chunks + 1, fill, take);
}

void SharedCommunicator::Reduce(const char* in, char* out, Elements elements, Reduction reduction, int root) {
  const int64_t item = ItemSize(elements.dtype), most = static_cast<int64_t>(board_->sheet_bytes()) / item;
  const auto fill = [&](int64_t step) {
    if (rank() == root) return;
    Part(step, most, elements.count, [&](int64_t offset, int64_t count) {
      StreamInto(board_->sheet(rank(), step), in + offset * item, count * item);
    });
  };
  const auto take = [&](int64_t step) {
    if (rank() != root) return;
    Part(step, most, elements.count, [&](int64_t offset, int64_t count) {
      for (int q = 0; q < size(); ++q) sources_[q] = q == root ? in + offset * item : board_->sheet(q, step);
      Combine({count, elements.dtype}, reduction, out + offset * item);
    });
  };
  Run(Say(Collective::kReduce, elements, root, reduction), Parts(elements.count, most), fill, take);
}

void SharedCommunicator::Broadcast(char* data, Elements elements, int root) {
  const auto most = static_cast<int64_t>(board_->sheet_bytes());
  const auto copy = [&](int64_t step, bool writes) {
    Part(step, most, elements.bytes(), [&](int64_t offset, int64_t count) {
      char* sheet = board_->sheet(root, step);
      if (writes) {
        StreamInto(sheet, data + offset, count);
      } else {
        std::memcpy(data + offset, sheet, count);
      }
    });
  };
  const auto fill = [&](int64_t step) {
    if (rank() == root) copy(step, true);
  };
  const auto take = [&](int64_t step) {
    if (rank() != root) copy(step, false);
  };
  Run(Say(Collective::kBroadcast, elements, root), Parts(elements.bytes(), most), fill, take);
}

void SharedCommunicator::AllGather(const char* in, std::span<char* const> outs, Elements each) {
  const auto most = static_cast<int64_t>(board_->sheet_bytes());
  const auto fill = [&](int64_t step) {
    Part(step, most, each.bytes(), [&](int64_t offset, int64_t count) {
      StreamInto(board_->sheet(rank(), step), in + offset, count);
      if (outs[rank()] != in) std::memcpy(outs[rank()] + offset, in + offset, count);
    });
  };
  const auto take = [&](int64_t step) {
    Part(step, most, each.bytes(), [&](int64_t offset, int64_t count) {
      for (int i = 1; i < size(); ++i) {
        const int q = (rank() + i) % size();
        std::memcpy(outs[q] + offset, board_->sheet(q, step), count);
      }
    });
  };
  Run(Say(Collective::kAllGather, each), Parts(each.bytes(), most), fill, take);
}

void SharedCommunicator::Gather(const char* in, std::span<char* const> outs, Elements each, int root) {
  const auto most = static_cast<int64_t>(board_->sheet_bytes());
  const auto fill = [&](int64_t step) {
    Part(step, most, each.bytes(), [&](int64_t offset, int64_t count) {
      if (rank() == root) {
        std::memmove(outs[root] + offset, in + offset, count);
      } else {
        StreamInto(board_->sheet(rank(), step), in + offset, count);
      }
    });
  };
  const auto take = [&](int64_t step) {
    if (rank() != root) return;
    Part(step, most, each.bytes(), [&](int64_t offset, int64_t count) {
      for (int q = 0; q < size(); ++q) {
        if (q != root) std::memcpy(outs[q] + offset, board_->sheet(q, step), count);
      }
    });
  };
  Run(Say(Collective::kGather, each, root), Parts(each.bytes(), most), fill, take);
}

void SharedCommunicator::Scatter(std::span<const char* const> ins, char* out, Elements each, int root) {
  const int64_t most = static_cast<int64_t>(board_->sheet_bytes()) / size() / kLine * kLine;
  const auto fill = [&](int64_t step) {
    if (rank() != root) return;
    Part(step, most, each.bytes(), [&](int64_t offset, int64_t count) {
      for (int q = 0; q < size(); ++q) {
        if (q == root) {
          std::memmove(out + offset, ins[q] + offset, count);
        } else {
          StreamInto(board_->sheet(root, step) + q * most, ins[q] + offset, count);
        }
      }
    });
  };
  const auto take = [&](int64_t step) {
    if (rank() == root) return;
    Part(step, most, each.bytes(), [&](int64_t offset, int64_t count) {
      std::memcpy(out + offset, board_->sheet(root, step) + rank() * most, count);
    });
  };
  Run(Say(Collective::kScatter, each, root), Parts(each.bytes(), most), fill, take);
}

void SharedCommunicator::ReduceScatter(std::span<const char* const> ins, char* out, Elements each,
                                       Reduction reduction) {
  const int64_t item = ItemSize(each.dtype);
  const int64_t place = static_cast<int64_t>(board_->sheet_bytes()) / size() / kLine * kLine, most = place / item;
  const auto fill = [&](int64_t step) {
    Part(step, most, each.count, [&](int64_t offset, int64_t count) {
      for (int i = 1; i < size(); ++i) {
        const int q = (rank() + i) % size();
        StreamInto(board_->sheet(rank(), step) + q * place, ins[q] + offset * item, count * item);
      }
    });
  };
  const auto take = [&](int64_t step) {
    Part(step, most, each.count, [&](int64_t offset, int64_t count) {
      for (int q = 0; q < size(); ++q) {
        sources_[q] = q == rank() ? ins[q] + offset * item : board_->sheet(q, step) + rank() * place;
      }
      Combine({count, each.dtype}, reduction, out + offset * item);
    });
  };
  Run(Say(Collective::kReduceScatter, each, -1, reduction), Parts(each.count, most), fill, take);
}

void SharedCommunicator::Barrier() {
  const auto nothing = [](int64_t) {};
  Run(Say(Collective::kBarrier, {0, DType::kBool}), 1, nothing, nothing);
}

}  // namespace dragon
