// A graph run over its own results for as long as another one says so, and its gradient.
#include "core/framework/bodies.h"
#include "core/framework/op.h"

namespace dragon {
namespace {

/// What a round takes: the carried tensors and the constants.
std::vector<Tensor> Joined(std::span<const Tensor> carried, std::span<const Tensor> constants) {
  std::vector<Tensor> all(carried.begin(), carried.end());
  all.insert(all.end(), constants.begin(), constants.end());
  return all;
}

void CheckCondition(const CallReader& c, const Graph& condition) {
  if (condition.outputs.size() != 1) {
    throw ValueError(c.name()).Got("a condition of ", condition.outputs.size(), " results").Expected("one");
  }
  const Dims& shape = condition.values[condition.outputs[0]].shape;
  int64_t elements = 1;
  for (int64_t size : shape) elements *= size;
  if (elements != 1) throw ValueError(c.name()).Got("a condition of shape ", shape).Expected("one element");
}

/// A round must give what the next one takes.
void CheckRound(const CallReader& c, const Graph& body, std::span<const Tensor> carried) {
  if (body.outputs.size() != carried.size()) {
    throw ValueError(c.name())
        .Got(body.outputs.size(), " results of the body")
        .Expected(carried.size(), ", as carried");
  }
  for (size_t k = 0; k < carried.size(); ++k) {
    const ValueInfo& info = body.values[body.outputs[k]];
    if (info.shape == carried[k].shape() && info.dtype == carried[k].dtype()) continue;
    throw ValueError(c.name())
        .Got("a body that makes ", FormOf(info), " of what is carried as number ", k)
        .Expected(Name(carried[k].dtype()), " of shape ", carried[k].shape(), ", as before the round");
  }
}

void CheckLoop(const CallReader& c) {
  const Graph& condition = CheckedBody(c, c.attr("condition"), "condition");
  const Graph& body = CheckedBody(c, c.attr("body"), "body");
  const std::vector<Tensor> all = Joined(c.list("carried"), c.list("constants"));
  CheckFits(c, "condition", condition, all);
  CheckFits(c, "body", body, all);
  CheckCondition(c, condition);
  CheckRound(c, body, c.list("carried"));
}

/// Run the rounds; `before` hears what each of them begins with. Returns what the last one leaves.
template <typename Before>
std::vector<Tensor> RunRounds(const CallReader& c, Before&& before) {
  const std::span<const Tensor> constants = c.list("constants");
  std::vector<Tensor> state(c.list("carried").begin(), c.list("carried").end());
  const int64_t limit = c.Given("limit") ? c.Int("limit") : -1;
  for (int64_t round = 0; limit < 0 || round < limit; ++round) {
    AllowInterrupt();
    const std::vector<Tensor> all = Joined(state, constants);
    if (!IsTrue(c.name(), RunBody(c.attr("condition"), all)[0])) break;
    before(state);
    state = RunBody(c.attr("body"), all);
  }
  return state;
}

void InferWhile(Infer& i) {
  CheckLoop(i);
  const std::span<const Tensor> carried = i.list("carried");
  for (size_t k = 0; k < carried.size(); ++k) i.y(static_cast<int>(k), carried[k].shape(), carried[k].dtype());
}

void RunWhile(Run& r) {
  const std::vector<Tensor> last = RunRounds(r, [](const std::vector<Tensor>&) {});
  for (int k = 0; k < r.y_count(); ++k) OpInto<"copy">(r.y(k), last[k]);
}

/// The carried tensors through which gradients flow: all that can, since a later round may make them of others.
std::vector<int> Flowing(std::span<const Tensor> carried) {
  std::vector<int> flowing;
  for (size_t k = 0; k < carried.size(); ++k) {
    if (IsInexact(carried[k].dtype())) flowing.push_back(static_cast<int>(k));
  }
  return flowing;
}

void WhileGradient(Grad& g) {
  const std::span<const Tensor> carried = g.list("carried"), constants = g.list("constants");
  const int all = g.x_count();
  const std::vector<int> flowing = Flowing(carried);
  std::vector<int64_t> key{kGradientOfBody};
  std::vector<int> wanted;
  std::vector<Tensor> grads;
  for (int k : flowing) key.push_back(k);
  for (int i = static_cast<int>(carried.size()); i < all; ++i) {
    if (!g.needs(i)) continue;
    wanted.push_back(i);
    key.push_back(i);
  }
  for (int k : flowing) {
    key.push_back(all + k);
    grads.push_back(g.dy(k).defined() ? g.dy(k) : Op<"zeros">(g.y_shape(k), g.y_dtype(k), carried[k].device()));
  }
  const Value limit = g.attr("limit");
  const Tensors made = OpN<"while_loop_backward">(
      std::vector<Tensor>(carried.begin(), carried.end()), std::vector<Tensor>(constants.begin(), constants.end()),
      grads, g.attr("condition"), g.attr("body"), Derived(g.attr("body"), key, GradientByKey), limit);
  for (size_t k = 0; k < flowing.size(); ++k) {
    if (g.needs(flowing[k])) g.dx(flowing[k], made[k]);
  }
  for (size_t k = 0; k < wanted.size(); ++k) g.dx(wanted[k], made[flowing.size() + k]);
}

[[maybe_unused]] const auto& while_loop =
    DefineOp(
        "while_loop(Tensor[] carried, Tensor[] constants, *, Graph condition, Graph body, int? limit=None) "
        "-> Tensor[]")
        .Doc(
            "The carried tensors after the body was applied to them for as long as the condition holds, and at most "
            "`limit` times. Both graphs take the carried tensors and then the constants.")
        .Infers(InferWhile)
        .Runs(RunWhile)
        .Batches(Batching::kApart)
        .Gradient("carried, constants", WhileGradient);

void InferWhileBackward(Infer& i) {
  CheckLoop(i);
  const Graph& gradient = CheckedBody(i, i.attr("gradient"), "gradient");
  std::vector<Tensor> all = Joined(i.list("carried"), i.list("constants"));
  const std::span<const Tensor> grads = i.list("grads");
  all.insert(all.end(), grads.begin(), grads.end());
  CheckFits(i, "gradient", gradient, all);
  if (gradient.outputs.size() < grads.size()) {
    throw ValueError(i.name()).Got(gradient.outputs.size(), " gradients").Expected("at least ", grads.size());
  }
  for (size_t k = 0; k < gradient.outputs.size(); ++k) {
    const ValueInfo& info = gradient.values[gradient.outputs[k]];
    if (k < grads.size() && (info.shape != grads[k].shape() || info.dtype != grads[k].dtype())) {
      throw ValueError(i.name())
          .Got("a gradient ", k, " of ", FormOf(info))
          .Expected(Name(grads[k].dtype()), " of shape ", grads[k].shape());
    }
    i.y(static_cast<int>(k), info.shape, info.dtype);
  }
}

/// Forward once more, keeping what each round began with, and then back.
void RunWhileBackward(Run& r) {
  std::vector<std::vector<Tensor>> states;
  RunRounds(r, [&](const std::vector<Tensor>& state) { states.push_back(state); });
  const std::span<const Tensor> constants = r.list("constants");
  std::vector<Tensor> grads(r.list("grads").begin(), r.list("grads").end());
  const size_t flowing = grads.size();
  for (int k = static_cast<int>(flowing); k < r.y_count(); ++k) OpInto<"zeros">(r.y(k), r.y(k).shape(), r.y(k).dtype());
  while (!states.empty()) {
    AllowInterrupt();
    std::vector<Tensor> all = Joined(states.back(), constants);
    states.pop_back();
    all.insert(all.end(), grads.begin(), grads.end());
    const std::vector<Tensor> made = RunBody(r.attr("gradient"), all);
    for (size_t k = 0; k < flowing; ++k) grads[k] = made[k];
    for (int k = static_cast<int>(flowing); k < r.y_count(); ++k) OpInto<"add">(r.y(k), r.y(k), made[k]);
  }
  for (size_t k = 0; k < flowing; ++k) OpInto<"copy">(r.y(static_cast<int>(k)), grads[k]);
}

[[maybe_unused]] const auto& while_loop_backward =
    DefineOp(
        "while_loop_backward(Tensor[] carried, Tensor[] constants, Tensor[] grads, *, Graph condition, Graph body, "
        "Graph gradient, int? limit=None) -> Tensor[]")
        .Doc("The gradients of while_loop: of the carried tensors that have some, and then of constants.")
        .Infers(InferWhileBackward)
        .Runs(RunWhileBackward)
        .Batches(Batching::kApart);

}  // namespace
}  // namespace dragon
