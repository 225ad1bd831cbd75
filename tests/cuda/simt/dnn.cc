// Graphs of cuDNN's in plain loops, for tests of what stands around them: DRAGON_SIMT_DNN=1 has attention go there.
// Each operation is computed for itself, in an order of its own; what a run must be given is asked for here, too.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "core/base/types.h"
#include "core/device/cuda/cudnn_graph.h"
#include "tests/cuda/simt/machine.h"

namespace dragon::cudnn {

namespace {

constexpr Status kWrong = 2000;

struct Node {
  virtual ~Node() = default;
};

/// A tensor: its own numbers between two operations, or an address that a run brings.
struct Place : Node {
  int64_t id = 0;
  DataType dtype = kFloat;
  Axes sizes = {}, strides = {};
  bool in_memory = false, is_number = false;
  std::vector<float> values;
  void* data = nullptr;

  /// Axes of one place are read for all.
  int64_t Offset(const Axes& at) const {
    int64_t offset = 0;
    for (int axis = 0; axis < 4; ++axis) offset += sizes[axis] == 1 ? 0 : at[axis] * strides[axis];
    return offset;
  }
  float Get(const Axes& at) const {
    const int64_t i = Offset(at);
    if (!in_memory) return values[i];
    if (dtype == kHalf) return static_cast<float>(static_cast<const float16*>(data)[i]);
    if (dtype == kBFloat16) return static_cast<float>(static_cast<const bfloat16*>(data)[i]);
    return static_cast<const float*>(data)[i];
  }
  void Put(const Axes& at, float value) {
    const int64_t i = Offset(at);
    const float rounded = dtype == kHalf       ? static_cast<float>(static_cast<float16>(value))
                          : dtype == kBFloat16 ? static_cast<float>(static_cast<bfloat16>(value))
                                               : value;
    if (!in_memory) {
      values[i] = rounded;
    } else if (dtype == kHalf) {
      static_cast<float16*>(data)[i] = static_cast<float16>(value);
    } else if (dtype == kBFloat16) {
      static_cast<bfloat16*>(data)[i] = static_cast<bfloat16>(value);
    } else {
      static_cast<float*>(data)[i] = value;
    }
  }
};

struct Step : Node {
  std::function<void()> run;
};

struct Program : Node {
  std::map<int64_t, Place*> operands;
  std::vector<Place*> inner;
  std::vector<Step*> steps;
};

Place* At(const Tensor& x) { return static_cast<Place*>(static_cast<Node*>(x.part)); }

Part NewStep(std::function<void()> run) {
  auto* const step = new Step;
  step->run = std::move(run);
  return static_cast<Node*>(step);
}

void ForEach(const Axes& sizes, const std::function<void(const Axes&)>& body) {
  for (int64_t a = 0; a < sizes[0]; ++a) {
    for (int64_t b = 0; b < sizes[1]; ++b) {
      for (int64_t c = 0; c < sizes[2]; ++c) {
        for (int64_t d = 0; d < sizes[3]; ++d) body({a, b, c, d});
      }
    }
  }
}

float Of(Pointwise mode, float x, float b, float t) {
  switch (mode) {
    case Pointwise::kAdd:
      return x + b;
    case Pointwise::kMultiply:
      return x * b;
    case Pointwise::kDivide:
      return x / b;
    case Pointwise::kSubtract:
      return x - b;
    case Pointwise::kExp:
      return std::exp(x);
    case Pointwise::kLog:
      return std::log(x);
    case Pointwise::kAtLeast:
      return x >= b;
    case Pointwise::kSelect:
      return t ? x : b;
    case Pointwise::kIndex:
      break;
  }
  throw RuntimeError("cudnn").Got("mode ", static_cast<int>(mode)).Expected("one that reads numbers");
}

}  // namespace

bool Usable() { return std::getenv("DRAGON_SIMT_DNN") != nullptr; }
size_t Version() { return 91900; }
int Generation(int) { return 9; }
Handle HandleFor(const Context&) { return nullptr; }

Parts& Parts::operator=(Parts&& other) noexcept {
  std::swap(parts_, other.parts_);
  return *this;
}
Parts::~Parts() {
  for (const Part part : parts_) delete static_cast<Node*>(part);
}

Status Plan::Run(Handle, const std::vector<int64_t>& ids, const std::vector<void*>& data, void* workspace) const {
  auto* const program = dynamic_cast<Program*>(static_cast<Node*>(plan_));
  simt::RequireDevice("cudnn", workspace);
  if (ids.size() != program->operands.size() || data.size() != ids.size()) return kWrong;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto operand = program->operands.find(ids[i]);
    if (operand == program->operands.end()) return kWrong;
    if (!operand->second->is_number) {
      simt::RequireDevice("cudnn", data[i]);
      if (reinterpret_cast<uintptr_t>(data[i]) % 16 != 0) return kWrong;
    }
  }
  std::vector<float> numbers(ids.size());  // what is of the host may be gone when a graph runs
  for (size_t i = 0; i < ids.size(); ++i) {
    if (program->operands[ids[i]]->is_number) std::memcpy(&numbers[i], data[i], sizeof(float));
  }
  simt::Queue([=] {
    std::vector<float> own = numbers;
    for (size_t i = 0; i < ids.size(); ++i) {
      Place* const operand = program->operands[ids[i]];
      operand->data = operand->is_number ? &own[i] : data[i];
    }
    for (Place* place : program->inner) place->values.assign(place->strides[0] * place->sizes[0], std::nanf(""));
    for (const Step* step : program->steps) step->run();
  });
  return kSuccess;
}

Tensor Graph::Describe(int64_t id, DataType dtype, const Axes& sizes, const Axes& strides, bool in_memory,
                       bool is_number) {
  auto* const place = new Place;
  place->id = id, place->dtype = dtype, place->sizes = sizes, place->strides = strides;
  place->in_memory = in_memory, place->is_number = is_number;
  parts_.Keep(static_cast<Node*>(place));
  return {static_cast<Node*>(place), sizes};
}

Tensor Graph::Operand(int64_t id, DataType dtype, const Axes& sizes, const Axes& strides) {
  return Describe(id, dtype, sizes, strides, true, false);
}
Tensor Graph::Number(int64_t id) { return Describe(id, kFloat, {1, 1, 1, 1}, {1, 1, 1, 1}, true, true); }
Tensor Graph::Between(const Axes& sizes, DataType dtype) {
  return Describe(next_id_++, dtype, sizes, RowMajor(sizes), false, false);
}

Tensor Graph::Operate(Part operation, const Tensor& y) {
  parts_.Keep(operation);
  operations_.push_back(operation);
  return y;
}

Tensor Graph::Compute(Pointwise mode, const Tensor& y, const Tensor& x, const Tensor& b, const Tensor& t) {
  return Operate(NewStep([mode, y = At(y), x = At(x), b = At(b), t = At(t)] {
                   ForEach(y->sizes, [&](const Axes& at) {
                     y->Put(at, Of(mode, x->Get(at), b ? b->Get(at) : 0, t ? t->Get(at) : 0));
                   });
                 }),
                 y);
}

Tensor Graph::Index(const Tensor& y, const Tensor&, int64_t axis) {
  return Operate(NewStep([y = At(y), axis] {
                   ForEach(y->sizes, [&](const Axes& at) { y->Put(at, static_cast<float>(at[axis])); });
                 }),
                 y);
}

Tensor Graph::Reduce(Reduction mode, const Tensor& y, const Tensor& x) {
  return Operate(NewStep([mode, y = At(y), x = At(x)] {
                   const bool sums = mode == Reduction::kSum;
                   ForEach(y->sizes, [&](const Axes& at) { y->Put(at, sums ? 0 : -HUGE_VALF); });
                   ForEach(x->sizes, [&](const Axes& at) {
                     Axes to;
                     for (int axis = 0; axis < 4; ++axis) to[axis] = at[axis] * y->sizes[axis] / x->sizes[axis];
                     const float value = x->Get(at), so_far = y->Get(to);
                     y->Put(to, sums ? so_far + value : value > so_far ? value : so_far);
                   });
                 }),
                 y);
}

Tensor Graph::MatMul(const Tensor& y, const Tensor& a, const Tensor& b) {
  return Operate(NewStep([y = At(y), a = At(a), b = At(b)] {
                   const int64_t sharing = a->sizes[1] / b->sizes[1];
                   ForEach(y->sizes, [&](const Axes& at) {
                     float sum = 0;
                     for (int64_t i = 0; i < a->sizes[3]; ++i)
                       sum += a->Get({at[0], at[1], at[2], i}) * b->Get({at[0], at[1] / sharing, i, at[3]});
                     y->Put(at, sum);
                   });
                 }),
                 y);
}

Tensor Graph::Transpose(const Tensor& y, const Tensor& x) {
  return Operate(NewStep([y = At(y), x = At(x)] {
                   ForEach(y->sizes, [&](const Axes& at) { y->Put(at, x->Get({at[0], at[1], at[3], at[2]})); });
                 }),
                 y);
}

Plan Graph::Build(Handle, int64_t) {
  auto* const program = new Program;
  for (const Part part : operations_) program->steps.push_back(static_cast<Step*>(static_cast<Node*>(part)));
  for (const Part part : parts_.all()) {
    auto* const place = dynamic_cast<Place*>(static_cast<Node*>(part));
    if (place) (place->in_memory ? program->operands[place->id] : program->inner.emplace_back()) = place;
  }
  parts_.Keep(static_cast<Node*>(program));
  Plan plan;
  plan.plan_ = static_cast<Node*>(program);
  plan.parts_ = std::move(parts_);
  return plan;
}

}  // namespace dragon::cudnn
