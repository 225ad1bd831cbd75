// Random graphs through every pass: verified after each, run in every kind of plan, and the same numbers come out.
#include <random>

#include "core/framework/op.h"
#include "core/passes/pass.h"
#include "core/runtime/program.h"
#include "tests/cpp/check.h"

namespace dragon {
namespace {

/// Whole numbers, so that sums in another order are the same.
Tensor WholeNumbers(const Dims& shape, std::mt19937& dice) {
  const Tensor x = Tensor::Empty(shape, DType::kFloat32);
  auto* numbers = static_cast<float*>(x.mutable_data());
  for (int64_t i = 0; i < x.numel(); ++i) numbers[i] = static_cast<float>(static_cast<int>(dice() % 5) - 2);
  return x;
}

/// Calls of pointwise operators, views, reductions and constants over values of a few shapes.
class Maker {
 public:
  explicit Maker(uint32_t seed) : dice_(seed) {}

  Graph Make() {
    const Dims shape = Roll(4) == 0 ? Dims{256, 300} : Dims{Roll(4), Roll(5) + 1};
    for (int i = 0; i < 2; ++i) {
      ValueInfo info;
      info.shape = shape;
      values_.push_back(graph_.AddInput(info));
    }
    values_.push_back(graph_.AddConstant(Tensor::Scalar(Value(Roll(3) - 1), DType::kFloat32)));
    values_.push_back(graph_.AddConstant(WholeNumbers(shape, dice_)));
    for (int count = 3 + Roll(12); count > 0; --count) AddCall();
    for (int count = 1 + Roll(3); count > 0; --count) graph_.outputs.push_back(Any());
    if (Roll(3) == 0 && graph_.values[values_.back()].shape == shape) graph_.updates = {{0, values_.back()}};
    return std::move(graph_);
  }

 private:
  int Roll(int sides) { return static_cast<int>(dice_() % sides); }
  ValueId Any() { return values_[dice_() % values_.size()]; }
  void AddCall() try {
    const ValueId x = Any(), y = Any();
    const int ndim = graph_.values[x].shape.size();
    switch (Roll(8)) {
      case 0:
        return Add("add", {x, y}, {Value(1 + Roll(2))});
      case 1:
        return Add("sub", {x, y}, {Value(1)});
      case 2:
        return Add("maximum", {x, y}, {});
      case 3:
        return Add("minimum", {Add2("maximum", x, y), x}, {});
      case 4:
        return Add("transpose", {x}, {Value(0), Value(ndim - 1)});
      case 5:
        return Add("sum", {x}, {Value(Dims{Roll(2)}), Value(true), Value()});
      case 6:
        return Add("clone", {x}, {});
      default:
        return Add("unsqueeze", {x}, {Value(0)});
    }
  } catch (const Error&) {  // shapes that do not meet: the call is left out
  }
  ValueId Add2(const char* op, ValueId a, ValueId b) {
    Add(op, {a, b}, {});
    return values_.back();
  }
  void Add(const char* op, std::vector<ValueId> inputs, std::vector<Value> attrs) {
    values_.push_back(graph_.AddCall(GetOp(op), std::move(inputs), std::move(attrs)).outputs[0]);
  }

  std::mt19937 dice_;
  Graph graph_;
  std::vector<ValueId> values_;
};

bool SameBits(const Tensor& a, const Tensor& b) {
  const Tensor left = Op<"clone">(a), right = Op<"clone">(b);
  if (a.shape() != b.shape()) return false;
  for (int64_t i = 0; i < left.numel(); ++i) {
    if (static_cast<const float*>(left.data())[i] != static_cast<const float*>(right.data())[i]) return false;
  }
  return true;
}

/// What a graph gives, and what its first input holds then.
std::vector<Tensor> RunAt(const Graph& graph, int level, MemoryMode memory, const std::vector<Tensor>& given) {
  PassOptions passes;
  passes.level = level;
  passes.verify = true;
  PlanOptions how;
  how.memory = memory;
  how.in_place = level >= 2;
  std::vector<Tensor> inputs;
  for (const Tensor& x : given) inputs.push_back(Op<"clone">(x));
  const Tensor first = inputs[0];
  const std::shared_ptr<Plan> plan = Compile(graph, passes, how);
  std::vector<Tensor> results = graph.updates.empty() ? plan->RunOnce(std::move(inputs)) : plan->Run(inputs);
  results.push_back(first);
  return results;
}

}  // namespace

TEST(EveryLevelGivesTheSameNumbers) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Graph graph = Maker(seed).Make();
    std::mt19937 dice(seed);
    std::vector<Tensor> given;
    for (ValueId id : graph.inputs) given.push_back(WholeNumbers(graph.values[id].shape, dice));
    const std::vector<Tensor> wanted = RunAt(graph, 0, MemoryMode::kNaive, given);
    for (int level = 1; level <= 3; ++level) {
      for (MemoryMode memory : {MemoryMode::kArena, MemoryMode::kFifo}) {
        const std::vector<Tensor> mine = RunAt(graph, level, memory, given);
        CHECK(mine.size() == wanted.size());
        for (size_t k = 0; k < mine.size(); ++k) CHECK(SameBits(mine[k], wanted[k]));
      }
    }
  }
}

TEST(AttentionWithItsGradientIsExchanged) {
  Graph graph;
  ValueInfo info;
  info.shape = {1, 2, 5, 4};
  const ValueId q = graph.AddInput(info), k = graph.AddInput(info), v = graph.AddInput(info), dy = graph.AddInput(info);
  const auto call = [&](const char* op, std::vector<ValueId> inputs, std::vector<Value> attrs) {
    return graph.AddCall(GetOp(op), std::move(inputs), std::move(attrs)).outputs[0];
  };
  const auto turn = [&](ValueId x) { return call("transpose", {x}, {Value(-1), Value(-2)}); };
  const ValueId weights = call("softmax", {call("matmul", {q, turn(k)}, {})}, {Value(-1), Value()});
  const ValueId y = call("matmul", {weights, v}, {});
  const ValueId slope = call("softmax_backward", {call("matmul", {dy, turn(v)}, {}), weights}, {Value(-1)});
  graph.outputs = {y, call("matmul", {slope, k}, {}), call("matmul", {turn(q), slope}, {}),
                   call("matmul", {turn(weights), dy}, {})};
  PassOptions options;
  options.verify = true;
  Optimize(graph, options);
  int found = 0;
  for (const GraphCall& made : graph.calls) found += made.op->name() == "attention_backward";
  CHECK(found == 1);
}

}  // namespace dragon

TEST_MAIN()
