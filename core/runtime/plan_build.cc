// Placing a graph's values in memory: what may overwrite what, and where the rest lies.
#include <algorithm>
#include <unordered_map>

#include "core/framework/apply.h"
#include "core/framework/graph_check.h"
#include "core/framework/op.h"
#include "core/runtime/plan_instance.h"

namespace dragon {

namespace {

/// A piece of memory that one value after another lives in.
struct Slot {
  enum class Kind : uint8_t { kBuffer, kInput, kConstant, kOutput, kOwn };
  Kind kind = Kind::kBuffer;
  int index = -1;  ///< of the input or output
  ValueId occupant = kNoValue;
  Device device;
  BufferLifetime life;
  std::vector<TensorImpl*> tensors;
};

/// Decides for every value where it lives, call by call.
class PlanBuilder {
 public:
  PlanBuilder(const Graph& the_graph, const PlanOptions& the_options)
      : graph(the_graph), options(the_options), instance(std::make_unique<Plan::Instance>()) {}

  const Graph& graph;
  const PlanOptions& options;
  std::unique_ptr<Plan::Instance> instance;
  PlanMemory memory;
  std::vector<Slot> slots;
  std::vector<int> slot_of;    // by value
  std::vector<int> last_read;  // by value: the last call that reads it or a view of it
  std::vector<int> update_of;  // by value: the input whose memory it would best be made in; -1

  std::unique_ptr<Plan::Instance> Build() {
    instance->values.resize(graph.values.size());
    slot_of.assign(graph.values.size(), -1);
    FindLastReads();
    FindUpdateTargets();
    for (size_t i = 0; i < graph.inputs.size(); ++i) AddInput(static_cast<int>(i));
    for (const auto& [id, tensor] : graph.constants) {
      instance->values[id] = tensor;
      slot_of[id] = AddSlot(Slot::Kind::kConstant, id, tensor.device());
    }
    for (size_t t = 0; t < graph.calls.size(); ++t) {
      try {
        Place(static_cast<int>(t));
      } catch (const Error& error) {
        throw Error(error.kind(), "plan: call " + std::to_string(t) + ": " + error.what());
      }
    }
    PlaceOutputs();
    PlaceUpdates();
    LayOut();
    Tell();
    return std::move(instance);
  }

  int AddSlot(Slot::Kind kind, ValueId occupant, Device device) {
    slots.emplace_back();
    slots.back().kind = kind;
    slots.back().occupant = occupant;
    slots.back().device = device;
    return static_cast<int>(slots.size()) - 1;
  }

  int Calls() const { return static_cast<int>(graph.calls.size()); }

  void FindLastReads() {
    last_read.assign(graph.values.size(), -1);
    for (ValueId id : graph.outputs) last_read[id] = Calls();
    for (const auto& [input, id] : graph.updates) last_read[id] = Calls();
    for (int t = Calls() - 1; t >= 0; --t) {
      const GraphCall& call = graph.calls[t];
      const int read = call.op->view ? last_read[call.outputs[0]] : t;
      for (ValueId id : call.inputs) {
        if (id != kNoValue) last_read[id] = std::max(last_read[id], read);
      }
    }
  }

  /// From each update back through the calls that could compute in place: those values belong into the input's memory.
  void FindUpdateTargets() {
    update_of.assign(graph.values.size(), -1);
    const std::vector<int> producers = graph.Producers();
    for (const auto& [input, updated] : graph.updates) {
      ValueId id = updated;
      while (id != kNoValue && update_of[id] < 0 && producers[id] >= 0) {
        update_of[id] = input;
        const GraphCall& call = graph.calls[producers[id]];
        const auto place = std::find(call.outputs.begin(), call.outputs.end(), id) - call.outputs.begin();
        ValueId before = kNoValue;
        if (place >= call.result_count()) {
          before = call.inputs[call.Written()[place - call.result_count()]];
        } else if (call.op->edits || call.op->view) {
          before = call.inputs[0];
          if (call.op->view) break;
        } else if (call.op->pointwise) {
          for (ValueId x : call.inputs) {
            if (x == graph.inputs[input] ||
                (x != kNoValue && before == kNoValue && producers[x] >= 0 &&
                 graph.values[x].shape == graph.values[id].shape && graph.values[x].dtype == graph.values[id].dtype &&
                 last_read[x] <= producers[id])) {
              before = x;
            }
            if (x == graph.inputs[input]) break;
          }
        }
        id = before;
      }
    }
  }

  void Hold(ValueId id, int slot, Tensor tensor) {
    slot_of[id] = slot;
    slots[slot].tensors.push_back(tensor.impl());
    instance->values[id] = std::move(tensor);
  }

  void AddInput(int position) {
    const ValueId id = graph.inputs[position];
    const int slot = AddSlot(Slot::Kind::kInput, id, graph.values[id].device);
    slots[slot].index = position;
    Hold(id, slot, graph.Phantom(id));
  }

  Tensor Make(const Dims& shape, const Dims& strides, DType dtype, Device device) {
    return Tensor::Phantom(shape, strides, dtype, device);
  }

  /// A new piece of memory, first written by call t.
  int NewBuffer(ValueId id, const Tensor& like, int t) {
    const int slot = AddSlot(Slot::Kind::kBuffer, id, like.device());
    BufferLifetime& life = slots[slot].life;
    life.bytes = static_cast<int64_t>(like.impl()->storage->bytes);
    life.first = t;
    life.last = std::max(t, id == kNoValue ? t : last_read[id]);
    memory.naive += life.bytes;
    return slot;
  }

  /// May `id`, which has the form of `like`, be made by call t in the memory where `x` lies?
  bool MayTake(const GraphCall& call, int t, ValueId id, const Tensor& like, ValueId x, bool elementwise) {
    if (x == kNoValue || last_read[x] > t) return false;
    const int slot = slot_of[x];
    const Slot& place = slots[slot];
    if (place.occupant != x || place.kind == Slot::Kind::kConstant) return false;
    if (place.kind == Slot::Kind::kInput ? update_of[id] != place.index : !options.in_place) return false;
    const Tensor& there = instance->values[x];
    if (there.shape() != like.shape() || there.strides() != like.strides() || there.dtype() != like.dtype())
      return false;
    int times = 0;
    for (ValueId other : call.inputs) {
      if (other == kNoValue || slot_of[other] != slot) continue;
      if (other != x) {  // a view of the same memory: fine only if it is the same elements, read one by one
        const Tensor& seen = instance->values[other];
        const bool same = seen.shape() == there.shape() && seen.strides() == there.strides() &&
                          seen.offset() == there.offset() && seen.dtype() == there.dtype();
        if (!elementwise || !same) return false;
      }
      ++times;
    }
    return elementwise || times == 1;
  }

  /// The memory of the input that `id` is to end up in, if nobody needs what is there any more.
  int FreeInput(int t, ValueId id, const Tensor& like) {
    if (update_of[id] < 0) return -1;
    const ValueId input = graph.inputs[update_of[id]];
    const int slot = slot_of[input];
    const Slot& place = slots[slot];
    const Tensor& there = instance->values[input];
    if (last_read[place.occupant] >= t || last_read[input] >= t) return -1;
    if (there.shape() != like.shape() || there.strides() != like.strides() || there.dtype() != like.dtype()) return -1;
    return slot;
  }

  void Occupy(int slot, ValueId id, Tensor tensor) {
    memory.naive += static_cast<int64_t>(tensor.impl()->storage->bytes);
    slots[slot].occupant = id;
    slots[slot].life.last = std::max(slots[slot].life.last, last_read[id]);
    Hold(id, slot, std::move(tensor));
  }

  Tensor ValueOf(ValueId id) { return id == kNoValue ? Tensor() : instance->values[id]; }

  void Place(int t) {
    const GraphCall& call = graph.calls[t];
    Step step{call.op, {}, call.attrs, call.list_sizes, {}, {}, t, call.symbolic};
    for (ValueId id : call.inputs) step.inputs.push_back(ValueOf(id));
    if (call.op->view) return PlaceView(call, step);
    if (call.op->compose) {
      throw RuntimeError(call.op->name()).Says("a composition; take it apart first (Decompose)");
    }
    const Call concrete{call.op, step.inputs, step.attrs, step.list_sizes};
    Infer infer(concrete);
    infer.device = CommonDevice(concrete);
    call.op->infer(infer);
    step.device = infer.device;
    const int results = call.result_count();
    if (static_cast<int>(infer.outputs.size()) != results) {
      throw ValueError(call.op->name()).Got(results, " results").Expected(infer.outputs.size());
    }
    for (int k = 0; k < results; ++k) PlaceResult(call, t, k, infer.outputs[k], infer.device, &step);
    const std::vector<int> written = call.Written();
    for (size_t k = 0; k < written.size(); ++k) PlaceWritten(call, t, written[k], call.outputs[results + k], &step);
    instance->steps.push_back(std::move(step));
  }

  /// What passes and kernels were told of a value is what it will be.
  void CheckForm(ValueId id, const Dims& shape) const {
    if (graph.values[id].shape == shape) return;
    throw RuntimeError("plan").Got("a value of shape ", shape).Expected(graph.values[id].shape, ", as the graph says");
  }

  void PlaceView(const GraphCall& call, const Step& step) {
    const Call concrete{call.op, step.inputs, step.attrs, step.list_sizes};
    ViewOf view(concrete);
    call.op->view(view);
    const ValueId id = call.outputs[0];
    if (id == kNoValue) return;
    const Tensor& x = step.inputs[0];
    const int slot = slot_of[call.inputs[0]];
    const auto bytes = static_cast<int64_t>(x.impl()->storage->bytes);
    if (!LiesWithin(view.shape, view.strides, view.offset, bytes / ItemSize(view.dtype))) {
      throw RuntimeError(call.op->name())
          .Got("a view of shape ", view.shape, " at strides ", view.strides, " from ", view.offset)
          .Expected("places within the memory of its operand");
    }
    CheckForm(id, view.shape);
    Tensor alias = x.Alias(view.shape, view.strides, view.offset, view.dtype);
    slot_of[id] = slot;
    if (slots[slot].kind != Slot::Kind::kConstant) slots[slot].tensors.push_back(alias.impl());
    instance->values[id] = std::move(alias);
  }

  void PlaceResult(const GraphCall& call, int t, int k, const OutputSpec& spec, Device device, Step* step) {
    const ValueId id = call.outputs[k];
    if (id != kNoValue) CheckForm(id, spec.shape);
    Tensor tensor = Make(spec.shape, spec.strides, spec.dtype, device);
    step->outputs.push_back(tensor);
    if (id == kNoValue) {  // nobody asks for it, the kernel writes it all the same
      const int slot = NewBuffer(kNoValue, tensor, t);
      slots[slot].tensors.push_back(tensor.impl());
      instance->values.push_back(std::move(tensor));
      return;
    }
    // A fused call looks itself whether a result lies over an operand; other calls write their first result last.
    const bool elementwise = call.op->pointwise && (k == 0 || call.has_body());
    if (elementwise || (call.op->edits && k == 0)) {
      for (ValueId x : call.inputs) {
        if (MayTake(call, t, id, tensor, x, elementwise)) return Occupy(slot_of[x], id, std::move(tensor));
        if (!elementwise) break;
      }
    }
    const int free = FreeInput(t, id, tensor);
    if (free >= 0) return Occupy(free, id, std::move(tensor));
    Hold(id, NewBuffer(id, tensor, t), tensor);
  }

  void PlaceWritten(const GraphCall& call, int t, int position, ValueId id, Step* step) {
    const ValueId before = call.inputs[position];
    const Tensor old = instance->values[before];
    Tensor tensor = Make(old.shape(), old.strides(), old.dtype(), old.device());
    if (id != kNoValue && MayTake(call, t, id, tensor, before, /*elementwise=*/false)) {
      step->inputs[position] = tensor;
      return Occupy(slot_of[before], id, std::move(tensor));
    }
    const int slot = NewBuffer(id, tensor, t);
    if (id == kNoValue) {
      slots[slot].tensors.push_back(tensor.impl());
      instance->values.push_back(tensor);
    } else {
      Hold(id, slot, tensor);
    }
    Copy(old, tensor);
    step->inputs[position] = tensor;
  }

  void Copy(const Tensor& from, const Tensor& to) {
    instance->steps.push_back({&OpNamed<"clone">(), {from}, {}, {}, {to}, from.device(), -1});
  }

  void PlaceOutputs() {
    instance->outputs.resize(graph.outputs.size());
    for (size_t k = 0; k < graph.outputs.size(); ++k) {
      const ValueId id = graph.outputs[k];
      Plan::Instance::Output& output = instance->outputs[k];
      const auto earlier = std::find(graph.outputs.begin(), graph.outputs.begin() + k, id) - graph.outputs.begin();
      if (earlier < static_cast<std::ptrdiff_t>(k)) {
        output.same_as = static_cast<int>(earlier);
        continue;
      }
      const Tensor value = instance->values[id];
      Slot& slot = slots[slot_of[id]];
      const ValueInfo& info = graph.values[id];
      const Dims strides = info.strides.empty() ? ContiguousStrides(info.shape) : info.strides;
      const bool alike = value.numel() <= 1 || value.strides() == strides;
      if (slot.kind == Slot::Kind::kBuffer && slot.occupant == id && alike) {
        slot.kind = Slot::Kind::kOutput;
        slot.index = static_cast<int>(k);
        output.like = value;
        continue;
      }
      const bool dense = IsDense(value.shape(), strides);
      Tensor copy = Make(value.shape(), dense ? strides : Dims{}, value.dtype(), value.device());
      const int fresh = AddSlot(Slot::Kind::kOutput, kNoValue, value.device());
      slots[fresh].index = static_cast<int>(k);
      slots[fresh].life.bytes = static_cast<int64_t>(copy.impl()->storage->bytes);
      slots[fresh].life.first = Calls();
      slots[fresh].tensors.push_back(copy.impl());
      Copy(value, copy);
      output.like = copy;
      instance->values.push_back(copy);
    }
  }

  void PlaceUpdates() {
    std::vector<std::pair<Tensor, Tensor>> copies;
    for (const auto& [input, id] : graph.updates) {
      const Slot& slot = slots[slot_of[id]];
      const Tensor target = instance->values[graph.inputs[input]];
      Tensor value = instance->values[id];
      if (slot.kind == Slot::Kind::kInput && slot.index == input && slot.occupant == id) continue;
      if (slot.kind == Slot::Kind::kInput) {  // another input's memory, which may be overwritten as well
        Tensor kept = Make(value.shape(), {}, value.dtype(), value.device());
        const int fresh = NewBuffer(kNoValue, kept, Calls());
        slots[fresh].life.last = Calls();
        slots[fresh].tensors.push_back(kept.impl());
        Copy(value, kept);
        instance->values.push_back(kept);
        value = kept;
      }
      copies.push_back({value, target});
    }
    for (const auto& [from, to] : copies) Copy(from, to);
  }

  /// Give every piece of memory its place, and every tensor its offset there.
  void LayOut() {
    instance->inputs.resize(graph.inputs.size());
    std::vector<std::vector<int>> by_arena, own_by_arena;
    for (size_t s = 0; s < slots.size(); ++s) {
      Slot& slot = slots[s];
      if (slot.kind == Slot::Kind::kInput) {
        for (TensorImpl* impl : slot.tensors) {
          instance->inputs[slot.index].push_back({impl, impl->offset * ItemSize(impl->dtype)});
        }
      } else if (slot.kind == Slot::Kind::kOutput) {
        Plan::Instance::Output& output = instance->outputs[slot.index];
        output.bytes = slot.life.bytes;
        ++memory.buffers;
        for (TensorImpl* impl : slot.tensors) output.tensors.push_back({impl, 0});
      } else if (slot.kind == Slot::Kind::kBuffer) {
        size_t a = 0;
        while (a < instance->arenas.size() && instance->arenas[a].device != slot.device) ++a;
        if (a == instance->arenas.size()) {
          instance->arenas.emplace_back();
          instance->arenas.back().device = slot.device;
          by_arena.emplace_back();
          own_by_arena.emplace_back();
        }
        const bool own = options.memory == MemoryMode::kArena && slot.life.bytes >= kOwnMemory;
        (own ? own_by_arena : by_arena)[a].push_back(static_cast<int>(s));
      }
    }
    for (size_t a = 0; a < by_arena.size(); ++a) {
      Plan::Instance::Arena& arena = instance->arenas[a];
      arena.bytes = Pack(by_arena[a], 0);
      memory.planned += arena.bytes;
      for (int s : by_arena[a]) {
        for (TensorImpl* impl : slots[s].tensors) {
          impl->offset += slots[s].life.offset / ItemSize(impl->dtype);
          arena.tensors.push_back(impl);
        }
      }
      Pack(own_by_arena[a], arena.bytes);  // where a picture shows it
      for (int s : own_by_arena[a]) {
        slots[s].kind = Slot::Kind::kOwn;
        slots[s].index = static_cast<int>(instance->own.size());
        instance->own.push_back({slots[s].device, slots[s].life.bytes, slots[s].tensors});
      }
    }
    memory.planned += PeakOutside();
    FindReleases();
  }

  /// Place pieces beside each other from `start` on; returns how many bytes that takes.
  int64_t Pack(const std::vector<int>& pieces, int64_t start) {
    std::vector<BufferLifetime> lifetimes;
    for (int s : pieces) lifetimes.push_back(slots[s].life);
    const int64_t bytes = PlanOffsets(lifetimes, options.memory);
    for (size_t i = 0; i < pieces.size(); ++i) slots[pieces[i]].life.offset = start + lifetimes[i].offset;
    memory.buffers += CountPlaces(lifetimes);
    return bytes;
  }

  /// The most that results and pieces with memory of their own take at one time.
  int64_t PeakOutside() const {
    std::vector<int64_t> change(Calls() + 2, 0);
    for (const Slot& slot : slots) {
      if (slot.kind != Slot::Kind::kOwn && slot.kind != Slot::Kind::kOutput) continue;
      const bool waits = slot.life.bytes >= kOwnMemory;
      change[waits ? std::min(slot.life.first, Calls()) : 0] += slot.life.bytes;
      if (slot.kind == Slot::Kind::kOwn) change[std::min(slot.life.last, Calls()) + 1] -= slot.life.bytes;
    }
    int64_t now = 0, peak = 0;
    for (int64_t bytes : change) peak = std::max(peak, now += bytes);
    return peak;
  }

  /// After which steps large pieces, and large inputs that are the plan's to drop, are not read any more.
  void FindReleases() {
    std::unordered_map<const TensorImpl*, size_t> places;  // among the releases
    const auto watch = [&](const Slot& slot) {
      for (const TensorImpl* impl : slot.tensors) places[impl] = instance->releases.size();
      instance->releases.push_back({-1, slot.kind == Slot::Kind::kInput, slot.index});
    };
    for (const Slot& slot : slots) {
      const bool large_input =
          slot.kind == Slot::Kind::kInput && static_cast<int64_t>(slot.tensors[0]->storage->bytes) >= kOwnMemory;
      if (slot.kind == Slot::Kind::kOwn || large_input) watch(slot);
    }
    if (places.empty()) return;
    const auto touch = [&](const Tensor& tensor, size_t s) {
      const auto found = tensor.defined() ? places.find(tensor.impl()) : places.end();
      if (found != places.end()) instance->releases[found->second].step = static_cast<int>(s);
    };
    for (size_t s = 0; s < instance->steps.size(); ++s) {
      for (const Tensor& x : instance->steps[s].inputs) touch(x, s);
      for (const Tensor& y : instance->steps[s].outputs) touch(y, s);
    }
    std::stable_sort(instance->releases.begin(), instance->releases.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
  }

  /// Note what lies where, for people.
  void Tell() {
    std::vector<std::vector<ValueId>> values(slots.size());
    for (size_t id = 0; id < slot_of.size(); ++id) {
      if (slot_of[id] >= 0) values[slot_of[id]].push_back(static_cast<ValueId>(id));
    }
    for (size_t s = 0; s < slots.size(); ++s) {
      const Slot& slot = slots[s];
      PlanPiece piece{static_cast<PlanPiece::Kind>(slot.kind), slot.device, slot.life, std::move(values[s])};
      if (slot.kind == Slot::Kind::kInput || slot.kind == Slot::Kind::kConstant) {
        const ValueId id = slot.kind == Slot::Kind::kInput ? graph.inputs[slot.index] : slot.occupant;
        piece.life.bytes = instance->values[id].numel() * instance->values[id].item_size();
        piece.life.last = Calls();
      }
      if (slot.kind == Slot::Kind::kOutput) piece.life.last = Calls();
      memory.pieces.push_back(std::move(piece));
    }
  }

  static int CountPlaces(const std::vector<BufferLifetime>& lifetimes) {
    std::vector<int64_t> offsets;
    for (const BufferLifetime& life : lifetimes) {
      if (life.bytes) offsets.push_back(life.offset);
    }
    std::sort(offsets.begin(), offsets.end());
    return static_cast<int>(std::unique(offsets.begin(), offsets.end()) - offsets.begin());
  }
};

}  // namespace

std::unique_ptr<Plan::Instance> BuildInstance(const Graph& graph, const PlanOptions& options, PlanMemory* memory) {
  PlanBuilder builder(graph, options);
  std::unique_ptr<Plan::Instance> instance = builder.Build();
  *memory = builder.memory;
  return instance;
}

}  // namespace dragon
