// A graph run for each place of a first axis, handing on what it carries. Its gradient is a scan the other way.
#include "core/framework/bodies.h"
#include "core/framework/op.h"

namespace dragon {
namespace {

Dims WithoutFirst(const Dims& shape) { return Dims(shape.begin() + 1, shape.size() - 1); }

Dims InFront(int64_t size, const Dims& shape) {
  Dims longer = shape;
  longer.insert(0, size);
  return longer;
}

/// One place of a first axis, as a view; its memory is row-major.
Tensor PlaceOf(const Tensor& x, int64_t place) {
  const Dims shape = WithoutFirst(x.shape());
  return x.Alias(shape, ContiguousStrides(shape), x.offset() + place * x.strides()[0]);
}

/// How many rounds a call has; a ValueError where its tensors disagree.
int64_t LengthOf(const CallReader& c) {
  int64_t length = c.Given("length") ? c.Int("length") : -1;
  if (c.Given("length") && length < 0) throw ValueError(c.name()).Got("length ", length).Expected("0 or more");
  for (const Tensor& x : c.list("xs")) {
    if (x.ndim() == 0) throw ValueError(c.name()).Got("a number among 'xs'").Expected("tensors with a first axis");
    if (length >= 0 && x.size(0) != length) {
      throw ValueError(c.name()).Got("first axes of ", length, " and ", x.size(0)).Expected("one length");
    }
    length = x.size(0);
  }
  if (length < 0) throw ValueError(c.name()).Got("neither 'xs' nor 'length'").Expected("one of them");
  return length;
}

/// The form of what a round takes, for checks.
std::vector<Tensor> RoundInputs(const CallReader& c) {
  std::vector<Tensor> all(c.list("carried").begin(), c.list("carried").end());
  for (const Tensor& x : c.list("xs"))
    all.push_back(Tensor::Phantom(WithoutFirst(x.shape()), {}, x.dtype(), x.device()));
  all.insert(all.end(), c.list("constants").begin(), c.list("constants").end());
  return all;
}

void InferScan(Infer& i) {
  const int64_t length = LengthOf(i);
  const Graph& body = CheckedBody(i, i.attr("body"), "body");
  CheckFits(i, "body", body, RoundInputs(i));
  const std::span<const Tensor> carried = i.list("carried");
  if (body.outputs.size() < carried.size()) {
    throw ValueError(i.name()).Got(body.outputs.size(), " results of the body").Expected("at least ", carried.size());
  }
  for (size_t k = 0; k < body.outputs.size(); ++k) {
    const ValueInfo& info = body.values[body.outputs[k]];
    if (k >= carried.size()) {
      i.y(static_cast<int>(k), InFront(length, info.shape), info.dtype);
      continue;
    }
    if (info.shape != carried[k].shape() || info.dtype != carried[k].dtype()) {
      throw ValueError(i.name())
          .Got("a body that makes ", FormOf(info), " of what is carried as number ", k)
          .Expected(Name(carried[k].dtype()), " of shape ", carried[k].shape(), ", as before the round");
    }
    i.y(static_cast<int>(k), info.shape, info.dtype);
  }
}

void RunScan(Run& r) {
  const int64_t length = LengthOf(r);
  const size_t states = r.list("carried").size();
  std::vector<Tensor> state(r.list("carried").begin(), r.list("carried").end()), xs;
  for (const Tensor& x : r.list("xs")) xs.push_back(x.is_contiguous() ? x.Detach() : Op<"to_row_major">(x.Detach()));
  const std::span<const Tensor> constants = r.list("constants");
  for (int64_t round = 0; round < length; ++round) {
    AllowInterrupt();
    const int64_t place = r.Bool("reverse") ? length - 1 - round : round;
    std::vector<Tensor> all = state;
    for (const Tensor& x : xs) all.push_back(PlaceOf(x, place));
    all.insert(all.end(), constants.begin(), constants.end());
    const std::vector<Tensor> made = RunBody(r.attr("body"), all);
    state.assign(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(states));
    for (size_t k = states; k < made.size(); ++k) OpInto<"copy">(PlaceOf(r.y(static_cast<int>(k)), place), made[k]);
  }
  for (size_t k = 0; k < states; ++k) OpInto<"copy">(r.y(static_cast<int>(k)), state[k]);
}

/// The body that hands on what it carries and tells what that was: the key's second number says how much it carries.
Graph History(const Graph& body, const std::vector<int64_t>& key) {
  Graph graph = body;
  graph.outputs.resize(key[1]);
  for (int64_t k = 0; k < key[1]; ++k) graph.outputs.push_back(graph.inputs[k]);
  return graph;
}

/// How a scan's gradient is put together, as the key of its body: kind, number of carried, of xs; then the inputs of
/// the body that want gradients, and from the number of inputs on the outputs that bring some.
struct BackwardKey {
  explicit BackwardKey(const std::vector<int64_t>& key, size_t inputs)
      : carried(static_cast<int>(key[1])), xs(static_cast<int>(key[2])) {
    for (size_t k = 3; k < key.size(); ++k) {
      if (key[k] < static_cast<int64_t>(inputs)) wanted.push_back(static_cast<int>(key[k]));
      if (key[k] >= static_cast<int64_t>(inputs)) roots.push_back(static_cast<int>(key[k] - inputs));
    }
  }
  int carried, xs;
  std::vector<int> wanted, roots;
};

/// One round of the way back. It carries the gradients of what is carried and the sums of those of constants; its xs
/// are what was carried, the xs, and the gradients of what was stacked.
Graph BackwardRound(const Graph& body, const std::vector<int64_t>& all) {
  const BackwardKey key(all, body.inputs.size());
  Graph graph = GradientGraph(body, key.wanted, key.roots);
  const std::vector<ValueId> inputs = graph.inputs, grads = graph.outputs;
  const size_t own = body.inputs.size();
  graph.inputs.clear();
  graph.outputs.clear();
  for (size_t k = 0; k < key.roots.size(); ++k) {
    if (key.roots[k] < key.carried) graph.inputs.push_back(inputs[own + k]);
  }
  std::vector<ValueId> of_xs;
  for (size_t k = 0; k < key.wanted.size(); ++k) {
    const int input = key.wanted[k];
    if (input < key.carried) graph.outputs.push_back(grads[k]);
    if (input >= key.carried && input < key.carried + key.xs) of_xs.push_back(grads[k]);
  }
  for (size_t k = 0; k < key.wanted.size(); ++k) {
    if (key.wanted[k] < key.carried + key.xs) continue;
    ValueInfo info = body.values[body.inputs[key.wanted[k]]];
    info.strides = {};
    const ValueId sum = graph.AddInput(info);
    graph.outputs.push_back(graph.AddCall(OpNamed<"add">(), {sum, grads[k]}, {Value(int64_t{1})}).outputs[0]);
  }
  graph.outputs.insert(graph.outputs.end(), of_xs.begin(), of_xs.end());
  const auto constants = inputs.begin() + key.carried + key.xs;
  graph.inputs.insert(graph.inputs.end(), inputs.begin(), constants);
  for (size_t k = 0; k < key.roots.size(); ++k) {
    if (key.roots[k] >= key.carried) graph.inputs.push_back(inputs[own + k]);
  }
  graph.inputs.insert(graph.inputs.end(), constants, inputs.begin() + static_cast<std::ptrdiff_t>(own));
  return graph;
}

std::vector<Tensor> Listed(std::span<const Tensor> tensors) { return {tensors.begin(), tensors.end()}; }

Tensor OrZeros(const Grad& g, int k) {
  return g.dy(k).defined() ? g.dy(k) : Op<"zeros">(g.y_shape(k), g.y_dtype(k), g.x_device(0));
}

void ScanGradient(Grad& g) {
  const std::span<const Tensor> carried = g.list("carried"), xs = g.list("xs"), constants = g.list("constants");
  const int states = static_cast<int>(carried.size()), inputs = g.x_count();
  const int64_t length = LengthOf(g);
  std::vector<int64_t> key{kGradientOfScan, states, static_cast<int64_t>(xs.size())};
  std::vector<int> order_of_xs, order_of_states, order_of_constants;
  std::vector<Tensor> back, ways, stacked;
  for (int i = 0; i < inputs; ++i) {
    const bool is_state = i < states, is_x = !is_state && i < states + static_cast<int>(xs.size());
    if (is_state ? !IsInexact(carried[i].dtype()) : !g.needs(i)) continue;
    key.push_back(i);
    (is_state ? order_of_states : is_x ? order_of_xs : order_of_constants).push_back(i);
  }
  for (int k = 0; k < g.y_count(); ++k) {
    if (k < states ? !IsInexact(carried[k].dtype()) : !g.dy(k).defined()) continue;
    key.push_back(inputs + k);
    (k < states ? back : stacked).push_back(OrZeros(g, k));
  }
  for (int i : order_of_constants) back.push_back(Op<"zeros">(g.x_shape(i), g.x_dtype(i), g.x_device(i)));
  if (states) {
    const Tensors history =
        OpN<"scan">(Listed(carried), Listed(xs), Listed(constants),
                    Derived(g.attr("body"), {kHistoryOfScan, states}, History), length, g.Bool("reverse"));
    ways.assign(history.begin() + states, history.end());
  }
  ways.insert(ways.end(), xs.begin(), xs.end());
  ways.insert(ways.end(), stacked.begin(), stacked.end());
  const Tensors made = OpN<"scan">(back, ways, Listed(constants), Derived(g.attr("body"), key, BackwardRound), length,
                                   !g.Bool("reverse"));
  int next = 0;
  for (const std::vector<int>& order : {order_of_states, order_of_constants, order_of_xs}) {
    for (int i : order) {
      if (g.needs(i)) g.dx(i, made[next]);
      ++next;
    }
  }
}

[[maybe_unused]] const auto& scan =
    DefineOp(
        "scan(Tensor[] carried, Tensor[] xs, Tensor[] constants, *, Graph body, int? length=None, "
        "bool reverse=False) -> Tensor[]")
        .Doc(
            "The carried tensors after the body was applied at every place of the first axes of `xs`, and then its "
            "further results, stacked. The body takes the carried tensors, one place of each of `xs`, and the "
            "constants; it gives the carried tensors of the next place, and what is stacked.")
        .Infers(InferScan)
        .Runs(RunScan)
        .Batches(Batching::kApart)
        .Gradient("carried, xs, constants", ScanGradient);

}  // namespace
}  // namespace dragon
