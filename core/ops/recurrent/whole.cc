// A network in one call, for libraries of vendors that take whole ones; the layers one by one stay its slow twin.
#include <algorithm>
#include <vector>

#include "core/device/accelerator.h"
#include "core/device/precision.h"
#include "core/framework/autograd/backward.h"
#include "core/framework/infer.h"
#include "core/ops/recurrent/layer.h"
#include "core/ops/recurrent/network.h"

namespace dragon {

namespace recurrent {

namespace {

/// Sizes for the library, if all tensors are as it takes them: of one dtype, in one place, without projections.
std::optional<RecurrentNetwork> SizesOf(const Network& n, const Tensor& x, const Tensor& h0, const Tensor& c0) {
  const int64_t each = n.biases ? 4 : 2;
  if (n.layers < 1 || n.layers > static_cast<int64_t>(n.params.size())) return std::nullopt;
  if (x.ndim() != 2 || !h0.defined() || h0.ndim() != 3 || n.batch_sizes.size() == 0 || c0.defined() != n.lstm() ||
      static_cast<int64_t>(n.params.size()) != n.places() * each) {
    return std::nullopt;
  }
  RecurrentNetwork sizes;
  sizes.steps = {ModeNamed(n.who, n.mode), false, n.batch_sizes.data(), n.batch_sizes.size()};
  sizes.layers = n.layers, sizes.directions = n.directions, sizes.biases = n.biases;
  sizes.inputs = x.size(1), sizes.batch = h0.size(1), sizes.units = h0.size(2);
  int64_t before = sizes.batch;
  for (const int64_t size : n.batch_sizes) {
    if (size < 1 || size > before) return std::nullopt;
    before = size;
  }
  const auto fits = [&](const Tensor& tensor, const Dims& shape) {
    return tensor.defined() && tensor.shape() == shape && tensor.dtype() == x.dtype() && tensor.device() == x.device();
  };
  const Dims states{n.places(), sizes.batch, sizes.units};
  if (n.batch_sizes[0] != sizes.batch || sizes.rows() != x.size(0)) return std::nullopt;
  if (!fits(h0, states) || (n.lstm() && !fits(c0, states))) return std::nullopt;
  const int64_t gates = GateCount(sizes.steps.mode) * sizes.units;
  for (int64_t place = 0; place < n.places(); ++place) {
    const Tensor* const params = n.params.data() + place * each;
    if (!fits(params[0], {gates, sizes.InputsOf(place / n.directions)}) || !fits(params[1], {gates, sizes.units}) ||
        (n.biases && (!fits(params[2], {gates}) || !fits(params[3], {gates})))) {
      return std::nullopt;
    }
  }
  return sizes;
}

bool NeedsGradient(const Network& n, const Tensor& x, const Tensor& h0, const Tensor& c0) {
  const auto needs = [](const Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); };
  return Door().grad_enabled &&
         (needs(x) || needs(h0) || needs(c0) || std::any_of(n.params.begin(), n.params.end(), needs));
}

/// One call, or nothing.
std::optional<Tensors> Attempt(const Network& n, const Tensor& x, const Tensor& h0, const Tensor& c0) {
  std::optional<RecurrentNetwork> sizes = SizesOf(n, x, h0, c0);
  if (!sizes) return std::nullopt;
  sizes->tf32 = ConvolutionsAllowTf32();  // as in PyTorch, where the switch is all of cuDNN's
  const Device device = x.device();
  Context ctx{device, BackendOf(device.type).CurrentStream(device.index)};
  int64_t room = -1;
  kernels::RecurrentNetworkRoom(ctx, x.dtype(), &room, *sizes);
  if (room < 0) return std::nullopt;
  if (!NeedsGradient(n, x, h0, c0)) room = 0;
  try {
    return OpN<"recurrent_network">(x, h0, c0, n.params, n.mode, n.biases, n.layers, n.directions == 2, n.batch_sizes,
                                    sizes->tf32, room);
  } catch (const Error& error) {  // the library may have changed its mind
    if (error.kind() != ErrorKind::kNotImplemented) throw;
    return std::nullopt;
  }
}

}  // namespace

std::optional<Tensors> InOneCall(const Network& n, Tensor x, const Tensor& h0, const Tensor& c0) {
  const Device device = x.device();
  if (Door().tracer || Door().phantom || !kernels::RecurrentNetworkRoom.Has(device.type, x.dtype()))
    return std::nullopt;
  Tensors results;
  if (n.dropout > 0 && n.layers > 1) {
    Network one = n;
    one.layers = 1, one.dropout = 0;
    if (n.params.size() % n.layers != 0 || !h0.defined() || h0.ndim() != 3 || h0.size(0) != n.places())
      return std::nullopt;
    const size_t each = n.params.size() / n.layers;
    std::vector<Tensor> hn, cn;
    for (int64_t layer = 0; layer < n.layers; ++layer) {
      one.params = n.params.subspan(layer * each, each);
      const auto of_layer = [&](const Tensor& state) {
        return state.defined() ? Op<"narrow">(state, 0, layer * n.directions, n.directions) : state;
      };
      const std::optional<Tensors> found = Attempt(one, x, of_layer(h0), of_layer(c0));
      if (!found) return std::nullopt;
      x = (*found)[0];
      hn.push_back((*found)[1]), cn.push_back((*found)[2]);
      if (layer + 1 < n.layers) x = Op<"dropout">(x, n.dropout, true);
    }
    results.push_back(x), results.push_back(Op<"cat">(hn, 0));
    if (n.lstm()) results.push_back(Op<"cat">(cn, 0));
    return results;
  }
  const std::optional<Tensors> found = Attempt(n, x, h0, c0);
  if (!found) return std::nullopt;
  for (int i = 0; i < (n.lstm() ? 3 : 2); ++i) results.push_back((*found)[i]);
  return results;
}

}  // namespace recurrent

namespace {

using namespace recurrent;  // NOLINT: the two halves of one thing

Network NetworkOf(const CallReader& c) {
  return {c.name(),
          c.String("mode").c_str(),
          c.list("params"),
          c.Bool("has_biases"),
          c.Int("num_layers"),
          c.Bool("bidirectional") ? 2 : 1,
          0,
          c.Ints("batch_sizes")};
}

/// The sizes of a call; a ValueError if its tensors do not go together.
RecurrentNetwork CheckNetwork(const CallReader& c) {
  const Network network = NetworkOf(c);
  if (std::optional<RecurrentNetwork> sizes = SizesOf(network, c.x("x"), c.x("h0"), c.x("c0"))) {
    sizes->steps.batch_sizes = c.Ints("batch_sizes").data();
    sizes->tf32 = c.Bool("tf32");
    return *sizes;
  }
  throw ValueError(c.name())
      .Got("x ", c.x("x").shape(), ", h0 ", c.x("h0").shape(), " and ", network.params.size(), " parameters")
      .Expected("packed rows, first states and weights of ", network.layers, " layers, of one dtype and in one place");
}

Dims CellsOf(const CallReader& c) { return c.has("c0") ? c.x("c0").shape() : Dims{0}; }

void InferNetwork(Infer& i) {
  const RecurrentNetwork sizes = CheckNetwork(i);
  const DType dtype = i.x("x").dtype();
  if (i.Int("room") < 0) throw ValueError(i.name()).Got("room ", i.Int("room")).Expected("a number of bytes");
  i.y(0, {i.x("x").size(0), sizes.directions * sizes.units}, dtype);
  i.y(1, i.x("h0").shape(), dtype);
  i.y(2, CellsOf(i), dtype);
  i.y(3, {i.Int("room")}, DType::kUInt8);
}

void InferBackward(Infer& i) {
  const RecurrentNetwork sizes = CheckNetwork(i);
  const DType dtype = i.x("x").dtype();
  const auto expect = [&](ArgumentName name, const Dims& shape) {
    if (i.x(name).shape() == shape && i.x(name).dtype() == dtype) return;
    throw ValueError(i.name())
        .Got(name.text, " ", i.x(name).shape(), " of ", i.x(name).dtype())
        .Expected(shape, " of ", dtype);
  };
  for (const ArgumentName name : {ArgumentName("dy"), ArgumentName("y")})
    expect(name, {i.x("x").size(0), sizes.directions * sizes.units});
  expect("dhn", i.x("h0").shape());
  expect("dcn", CellsOf(i));
  if (const Tensor& kept = i.x("kept"); kept.ndim() != 1 || kept.dtype() != DType::kUInt8) {
    throw ValueError(i.name()).Got("kept ", kept.shape(), " of ", kept.dtype()).Expected("bytes in a row");
  }
  int64_t numbers = 0;
  for (const Tensor& param : i.list("params")) numbers += param.numel();
  i.y(0, i.x("x").shape(), dtype);
  i.y(1, i.x("h0").shape(), dtype);
  i.y(2, CellsOf(i), dtype);
  i.y(3, {i.Bool("weights") ? numbers : 0}, dtype);
}

/// The parameters in row-major order, and what kernels see of them.
struct Laid {
  std::vector<LentView> lent;
  std::vector<View> views;

  explicit Laid(const Run& r) {
    const std::span<const Tensor> params = r.list("params");
    const int first = static_cast<int>(params.data() - r.call().inputs.data());
    for (int i = 0; i < static_cast<int>(params.size()); ++i) {
      lent.push_back(r.rows(first + i));
      views.push_back(lent.back());
    }
  }
};

void RunNetwork(Run& r) {
  const Laid params(r);
  const LentView x = r.rows("x"), h0 = r.rows("h0"), c0 = r.rows("c0");
  kernels::RecurrentNetworkForward(r.ctx(), r.x("x").dtype(),
                                   {x, h0, c0, r.out(0), r.out(1), r.out(2), r.out(3), params.views}, CheckNetwork(r));
}

void RunBackward(Run& r) {
  const Laid params(r);
  const LentView dy = r.rows("dy"), dhn = r.rows("dhn"), dcn = r.rows("dcn"), x = r.rows("x"), h0 = r.rows("h0"),
                 c0 = r.rows("c0"), y = r.rows("y"), kept = r.rows("kept");
  kernels::RecurrentNetworkBackward(r.ctx(), r.x("x").dtype(), {r.out(0), r.out(1), r.out(2), r.out(3)}, dy, dhn, dcn,
                                    {x, h0, c0, y, View{}, View{}, kept, params.views}, CheckNetwork(r));
}

/// Gradients by the layers one by one, computed once more: for gradients of gradients, and for a call that has kept
/// nothing. Inputs are looked at through views, so that paths between them outside this network do not count.
void GradByLayers(Grad& g) {
  const bool further = Door().grad_enabled;
  const GradMode recording(true);
  std::vector<Tensor> inputs, wanted, roots, grads;
  std::vector<int> slots;
  for (int i = 0; i < g.x_count(); ++i) {
    Tensor input = g.x(i);
    if (input.defined() && further) {
      input = Op<"expand">(input, input.shape());
    } else if (input.defined()) {
      input = input.Detach();
      input.set_requires_grad(g.needs(i));
    }
    if (input.defined() && g.needs(i)) wanted.push_back(input), slots.push_back(i);
    inputs.push_back(std::move(input));
  }
  Network network = NetworkOf(g);
  network.params = std::span<const Tensor>(inputs).subspan(3);
  const Tensors results = ByLayers(network, inputs[0], inputs[1], inputs[2]);
  for (int i = 0; i < static_cast<int>(results.size()); ++i) {
    if (!g.dy(i).defined() || !results[i].requires_grad()) continue;
    roots.push_back(results[i]), grads.push_back(g.dy(i));
  }
  BackwardOptions options;
  options.retain_graph = options.create_graph = further;
  options.allow_unused = true;
  const std::vector<Tensor> found = Gradients(roots, grads, wanted, options);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (found[i].defined()) g.dx(slots[i], found[i]);
  }
}

void GradNetwork(Grad& g) {
  constexpr int kParams = 3;
  if (Door().grad_enabled || g.y_shape(3)[0] == 0) return GradByLayers(g);
  const auto given = [&](int i) {
    return g.dy(i).defined() ? g.dy(i) : Op<"zeros">(g.y_shape(i), g.y_dtype(i), g.device());
  };
  bool weights = false;
  for (int i = kParams; i < g.x_count(); ++i) weights = weights || g.needs(i);
  Tensors d;
  try {
    d = OpN<"recurrent_network_backward">(given(0), given(1), given(2), g.y(0), g.y(3), g.x("x"), g.x("h0"), g.x("c0"),
                                          g.list("params"), g.attr("mode"), g.Bool("has_biases"), g.attr("num_layers"),
                                          g.Bool("bidirectional"), g.attr("batch_sizes"), g.Bool("tf32"), weights);
  } catch (const Error& error) {  // the library may have changed its mind
    if (error.kind() != ErrorKind::kNotImplemented) throw;
    return GradByLayers(g);
  }
  for (int i = 0; i < kParams; ++i) {
    if (g.needs(i)) g.dx(i, d[i]);
  }
  int64_t begin = 0;
  for (int i = kParams; i < g.x_count(); ++i) {
    const int64_t end = begin + g.x(i).numel();
    if (g.needs(i)) g.dx(i, Op<"reshape">(Op<"slice">(d[3], 0, begin, end), g.x_shape(i)));
    begin = end;
  }
}

constexpr const char* kNetwork =
    "Tensor x, Tensor h0, Tensor? c0, Tensor[] params, str mode, bool has_biases, int num_layers, bool bidirectional, "
    "int[] batch_sizes, bool tf32, ";

[[maybe_unused]] const auto& network =
    DefineOp("recurrent_network(" + std::string(kNetwork) +
             "int room) -> (Tensor out, Tensor hn, Tensor cn, Tensor kept)")
        .Doc("A recurrent network over packed sequences by a vendor's library, which keeps what gradients need.")
        .Batches(Batching::kApart)
        .Infers(InferNetwork)
        .Runs(RunNetwork)
        .NoGradientFor(0b1000)
        .Gradient("x, h0, c0, params, out, kept", GradNetwork);

[[maybe_unused]] const auto& network_backward =
    DefineOp("recurrent_network_backward(Tensor dy, Tensor dhn, Tensor dcn, Tensor y, Tensor kept, " +
             std::string(kNetwork) + "bool weights) -> (Tensor dx, Tensor dh0, Tensor dc0, Tensor dparams)")
        .Doc("The gradients of recurrent_network, those of all parameters in a row.")
        .Batches(Batching::kApart)
        .Infers(InferBackward)
        .Runs(RunBackward)
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
