// Calls that are listened to, and run again from C++: traces, programs with their backward passes, procedures at other
// sizes, control flow. Kernels are compiled in, so that the sanitizers see all that is touched.
#include "core/framework/autograd/backward.h"
#include "core/framework/graph_body.h"
#include "core/framework/op.h"
#include "core/framework/scribe.h"
#include "core/runtime/program.h"
#include "tests/cpp/check.h"

namespace dragon {
namespace {

/// Numbers 1, 2, 3... times `step`.
Tensor Ramp(const Dims& shape, float step = 1) {
  const Tensor x = Tensor::Empty(shape, DType::kFloat32);
  auto* numbers = static_cast<float*>(x.mutable_data());
  for (int64_t i = 0; i < x.numel(); ++i) numbers[i] = static_cast<float>(i + 1) * step;
  return x;
}
Tensor Leaf(const Dims& shape, float step = 1) {
  const Tensor x = Ramp(shape, step);
  x.set_requires_grad(true);
  return x;
}

bool SameNumbers(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return false;
  const Tensor left = Op<"clone">(a.Detach()), right = Op<"clone">(b.Detach());
  for (int64_t i = 0; i < left.numel(); ++i) {
    const float x = static_cast<const float*>(left.data())[i], y = static_cast<const float*>(right.data())[i];
    if (x != y && std::abs(x - y) > 1e-5f * std::abs(y)) return false;
  }
  return true;
}

/// Pointwise calls, views, writes and a reduction. Its maps are large enough to have memory of their own.
Tensor Chain(const Tensor& x, const Tensor& w) {
  const Tensor bent = Op<"maximum">(x * w, x + 3.0);
  const Tensor turned = Op<"transpose">(bent * bent + w, 0, 1);
  const Tensor written = Op<"clone">(turned);
  OpInto<"mul">(Op<"select">(written, 0, 0), Op<"select">(written, 0, 0), Op<"select">(turned, 0, 1));
  return Op<"sum">(written * turned, Dims{0}, false);
}

template <typename F>
Capture Record(F&& function, const std::vector<Tensor>& arguments, bool differentiates) {
  Trace trace;
  for (const Tensor& argument : arguments) trace.AddInput(argument);
  trace.Start();
  const std::vector<Tensor> results = {function(arguments)};
  trace.Stop();
  CHECK(trace.failure().empty());
  Capture capture = trace.Finish(results);
  if (differentiates) capture.backward = trace.Differentiate(results, capture);
  CHECK(capture.backward.failure.empty());
  return capture;
}

CompileOptions OptionsAt(int level, MemoryMode memory) {
  CompileOptions options;
  options.forward.level = options.backward.level = level;
  options.forward.verify = options.backward.verify = true;
  options.plan.memory = memory;
  options.plan.in_place = level >= 2;
  return options;
}

constexpr MemoryMode kModes[] = {MemoryMode::kNaive, MemoryMode::kArena, MemoryMode::kFifo, MemoryMode::kLifo};

const auto kChain = [](const std::vector<Tensor>& given) { return Chain(given[0], given[1]); };

}  // namespace

TEST(CallsRunAgainWithTheirGradients) {
  for (const Dims& shape : {Dims{3, 4}, Dims{300, 260}}) {
    for (int level = 0; level <= 3; ++level) {
      for (MemoryMode memory : kModes) {
        const Tensor x = Leaf(shape, 1e-3f), w = Leaf(shape, -2e-3f);
        Program program(Record(kChain, {x, w}, /*differentiates=*/true), OptionsAt(level, memory));
        const Tensor y = program.Run(std::vector<Tensor>{x, w})[0], wanted = Chain(x, w);
        CHECK(SameNumbers(y, wanted));
        const Tensor slope = Ramp(y.shape(), 0.5f);
        BackwardOptions twice;
        twice.retain_graph = true;
        const std::vector<Tensor> eager = Gradients({wanted}, {slope}, {x, w}, {});
        for (const BackwardOptions& options : {twice, BackwardOptions()}) {  // the last one lets go of what was saved
          const std::vector<Tensor> mine = Gradients({y}, {slope}, {x, w}, options);
          CHECK(SameNumbers(mine[0], eager[0]) && SameNumbers(mine[1], eager[1]));
        }
        CHECK_THROWS(Gradients({y}, {slope}, {x, w}, {}), Error, "freed by an earlier backward pass");
      }
    }
  }
}

TEST(WhatIsNotGivenIsRefused) {
  const Tensor x = Leaf({3, 4}), w = Leaf({3, 4});
  Program program(Record(kChain, {x, w}, true), OptionsAt(3, MemoryMode::kArena));
  CHECK_THROWS(program.Run(std::vector<Tensor>{x}), Error, "nothing for input 1");
  CHECK_THROWS(program.Run(std::vector<Tensor>{x, Ramp({4, 3})}), Error, "shape (4, 3)");
  const Tensor y = program.Run(std::vector<Tensor>{x, w})[0];
  {
    GradMode off(false);
    OpInto<"mul">(x, x, x);
  }
  CHECK_THROWS(Gradients({y}, {Ramp(y.shape())}, {x, w}, {}), Error, "written 1 time");
}

TEST(TracesThatAreGivenUpLeaveNothing) {
  for (int round = 0; round < 20; ++round) {
    const Tensor x = Leaf({3, 4});
    Trace trace;
    trace.AddInput(x);
    trace.Start();
    const Tensor y = x * 2.0;
    if (round % 2) Op<"sum">(y).Item();
    trace.GiveUp("the test");
    trace.Stop();
    CHECK(!trace.failure().empty());
    CHECK(SameNumbers(y, x * 2.0));
  }
}

TEST(AWholeStepUpdatesWhatItIsGiven) {
  const Tensor w = Ramp({400, 300}, 1e-3f), x = Ramp({400, 300}, 2e-3f);
  const auto step = [&](const std::vector<Tensor>& given) {
    OpInto<"add">(given[0], given[0], given[1] * given[1]);
    return Op<"sum">(given[0]);
  };
  Program program(Record(step, {w, x}, false), OptionsAt(3, MemoryMode::kArena));  // the first call is a step, too
  const Tensor before = Op<"clone">(w);
  const Tensor total = program.Run(std::vector<Tensor>{w, x})[0];
  CHECK(SameNumbers(w, before + x * x));
  CHECK(SameNumbers(total, Op<"sum">(w)));
}

TEST(ProceduresRunAtOtherSizes) {
  const Tensor x = Leaf({3, 4}), w = Leaf({3, 4});
  Trace trace;
  Scribe scribe;
  for (const Tensor& argument : {x, w}) {
    trace.AddInput(argument);
    scribe.AddArgument(argument, std::vector<int>{0, 1});
  }
  trace.Start();
  scribe.Start();
  const std::vector<Tensor> results = {Chain(x, w)};
  scribe.Stop();
  trace.Stop();
  CHECK(scribe.failure().empty() && trace.failure().empty());
  const Procedure procedure = scribe.Finish(results);
  const Capture like = trace.Finish(results);
  for (const Dims& shape : {Dims{2, 2}, Dims{7, 5}, Dims{300, 260}}) {
    const Tensor a = Leaf(shape, 1e-3f), b = Leaf(shape, -2e-3f);
    const std::vector<Tensor> given = {a, b};
    CHECK(SameNumbers(procedure.Run(given, {})[0], Chain(a, b)));
    Trace again;
    std::vector<Tensor> made;
    Capture capture = procedure.Traced(PhantomsOf(given), like, &again, &made);
    capture.backward = again.Differentiate(made, capture);
    Program program(std::move(capture), OptionsAt(3, MemoryMode::kArena));
    const Tensor y = program.Run(given)[0], wanted = Chain(a, b);
    CHECK(SameNumbers(y, wanted));
    const std::vector<Tensor> mine = Gradients({y}, {y.Detach()}, given, {}),
                              eager = Gradients({wanted}, {wanted.Detach()}, given, {});
    CHECK(SameNumbers(mine[0], eager[0]) && SameNumbers(mine[1], eager[1]));
  }
  CHECK(!procedure.Refusal(std::vector<Tensor>{Ramp({2, 3}), Ramp({4, 5})}, {}).empty());
}

TEST(ControlFlowRunsItsGraphs) {
  const auto body_of = [](const char* op) {
    Graph body;
    ValueInfo info;
    info.shape = {3};
    const ValueId x = body.AddInput(info);
    body.outputs = {body.AddCall(GetOp(op), {x, x},
                                 op == std::string("add") ? std::vector<Value>{Value(1.0)} : std::vector<Value>{})
                        .outputs[0]};
    return Value(Ref<Object>(MakeRef<GraphBody>(std::move(body))));
  };
  const Value then = body_of("mul"), otherwise = body_of("add");
  for (bool taken : {true, false}) {
    const Tensor predicate = Tensor::Scalar(Value(taken), DType::kBool), x = Leaf({3});
    const Tensor operands[] = {x};
    const auto choose = [&](const std::vector<Tensor>& given) {
      return OpN<"cond">(given[0], std::span<const Tensor>(given).subspan(1), then, otherwise)[0];
    };
    const Tensor eager = taken ? x * x : x + x;
    CHECK(SameNumbers(OpN<"cond">(predicate, std::span<const Tensor>(operands), then, otherwise)[0], eager));
    for (int level : {0, 1, 3}) {
      Program program(Record(choose, {predicate, x}, true), OptionsAt(level, MemoryMode::kArena));
      const Tensor y = program.Run(std::vector<Tensor>{predicate, x})[0];
      CHECK(SameNumbers(y, eager));
      const Tensor mine = Gradients({y}, {Ramp({3})}, {x}, {})[0];
      CHECK(SameNumbers(mine, taken ? x.Detach() * Ramp({3}) * 2.0 : Ramp({3}, 2)));
    }
  }
}

}  // namespace dragon

TEST_MAIN()
