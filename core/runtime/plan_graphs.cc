// Noting plans down as graphs of the device, and running those.
#include "core/runtime/plan_graphs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "core/device/stream_allocator.h"
#include "core/framework/op.h"
#include "core/runtime/plan_run.h"

namespace dragon {

namespace {

constexpr size_t kMostEntries = 8;   ///< sets of numbers for symbols; each has memory of its own
constexpr int kMostCaptures = 8;     ///< of one entry: inputs may lie elsewhere in every run
constexpr int64_t kLarge = 1 << 20;  ///< results of more bytes are not copied until one is seen to be kept

Accelerator& Cuda() { return AcceleratorOf(DeviceType::kCUDA); }

/// The stream on which runs are noted down; one for each device, as kernels keep room for each stream.
void* NotingStream(int index) {
  static auto* mutex = new std::mutex;
  static auto* streams = new std::map<int, void*>;
  std::lock_guard<std::mutex> lock(*mutex);
  void*& stream = (*streams)[index];
  if (!stream) stream = Cuda().NewStream(index, 0);
  return stream;
}

/// One at a time in a process: a generator can tell one graph only where its numbers go.
std::mutex& NotingDoor() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

/// While it lives, this thread works on another stream with memory of a pool.
class Apart {
 public:
  Apart(int index, void* stream, int64_t pool)
      : index_(index),
        stream_(Cuda().CurrentStream(index)),
        pool_(std::exchange(PoolOfThread(), PoolChoice{pool, index})) {
    Cuda().SetCurrentStream(index, stream);
  }
  ~Apart() {
    Cuda().SetCurrentStream(index_, stream_);
    PoolOfThread() = pool_;
  }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

 private:
  int index_;
  void* stream_;
  PoolChoice pool_;
};

/// A stream goes on after what another one was given.
void Follow(int index, void* stream, void* before) {
  void* const event = Cuda().NewEvent(index, false, false, false);
  Cuda().RecordEvent(index, event, before);
  Cuda().AwaitEvent(index, event, stream);
  Cuda().DropEvent(index, event);
}

bool HasDevice(const Plan::Instance& instance) {
  return std::any_of(instance.steps.begin(), instance.steps.end(),
                     [](const Step& step) { return step.device.type == DeviceType::kCUDA; });
}

/// DRAGON_CUDA_GRAPHS, read once: "1" has all plans be graphs, "0" none.
const char* EnvironmentAsks() {
  static const char* const asked = std::getenv("DRAGON_CUDA_GRAPHS");
  return asked ? asked : "";
}

void TellOnce(const std::string& text) {
  static auto* mutex = new std::mutex;
  static auto* told = new std::set<std::string>;
  std::lock_guard<std::mutex> lock(*mutex);
  if (told->insert(text).second) std::fprintf(stderr, "dragon: %s\n", text.c_str());
}

}  // namespace

/// What a graph works in. Results that are out keep it.
struct PlanGraphs::Memory {
  explicit Memory(Device the_device) : device(the_device), pool(StreamAllocator::NewPool()) {
    StreamAllocatorOf(device.index).HoldPool(pool);
  }
  ~Memory() {
    places.clear(), results.clear(), instance.reset();
    StreamAllocatorOf(device.index).ReleasePool(pool);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  Device device;
  int64_t pool;
  std::unique_ptr<Plan::Instance> instance;
  std::vector<Tensor> places;   // by input: where it is copied to; undefined where it is read as it lies
  std::vector<Tensor> results;  // by output
};

struct PlanGraphs::Noted {
  std::shared_ptr<Memory> memory;
  std::vector<const void*> addresses;  // by input
  std::vector<std::pair<Ref<Generator>, std::shared_ptr<RandomStream>>> drawn;
  DeviceGraph graph;
  std::vector<Ref<Storage>> out;  // of the last run, by output
  void* stream = nullptr;         // on which it ran last
};

bool PlanGraphs::Wanted(bool asked, const Plan::Instance& instance) {
  const std::string environment = EnvironmentAsks();
  if (environment == "0" || !(asked || environment == "1")) return false;
  return HasDevice(instance);
}

PlanGraphs::PlanGraphs(const Graph& graph, const PlanOptions& options, const Plan::Instance& instance)
    : graph_(graph), options_(options), written_(graph.inputs.size(), 0), read_(graph.inputs.size(), 0) {
  for (const auto& [input, value] : graph.updates) written_[input] = 1;
  std::set<const TensorImpl*> operands;
  for (const Step& step : instance.steps) {
    if (step.device.type == DeviceType::kCUDA) device_ = step.device;
    has_symbols_ |= !step.symbolic.empty();
    draws_ |= step.op->draws();
    for (const Tensor& x : step.inputs) operands.insert(x.impl());
    for (const Tensor& y : step.outputs) operands.insert(y.impl());
    for (const Value& attr : step.attrs) {
      if (auto* generator = dynamic_cast<Generator*>(attr.object())) generators_.push_back(Ref<Generator>(generator));
    }
  }
  for (size_t i = 0; i < instance.inputs.size(); ++i) {
    for (const Bound& bound : instance.inputs[i]) read_[i] |= operands.contains(bound.impl);
  }
  std::string why = WhyNot(graph, instance);
  if (!why.empty()) Refuse(std::move(why));
}

PlanGraphs::~PlanGraphs() = default;

/// What can be told before anything runs. What waits for the device says so itself while it is noted down.
std::string PlanGraphs::WhyNot(const Graph& graph, const Plan::Instance& instance) {
  static const std::set<std::string> kDecided = {"cond", "while_loop", "while_loop_backward", "scan", "host_call"};
  Device device;
  for (const Step& step : instance.steps) {
    const std::string& name = step.op->name();
    if (step.device.type != DeviceType::kCUDA) return name + " runs on " + step.device.str();
    if (device.type == DeviceType::kCUDA && device != step.device) return name + " runs on another device";
    device = step.device;
    if (step.op->meets) return name + " meets other processes";
    if (kDecided.contains(name)) return name + " is decided on the host";
    for (const Tensor& x : step.inputs) {
      if (!x.defined() || !x.device().is_cpu()) continue;
      const bool constant = std::any_of(graph.constants.begin(), graph.constants.end(),
                                        [&](const auto& each) { return each.second.is_same(x); });
      if (!constant) return name + " reads a tensor of the CPU";
    }
  }
  return {};
}

void PlanGraphs::Refuse(std::string why) {
  TellOnce("'" + graph_.name + "' runs call by call, not as a CUDA graph: " + why);
  facts_.refusal = std::move(why);
  entries_.clear();
}

Plan::DeviceGraphFacts PlanGraphs::facts() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return facts_;
}

bool PlanGraphs::Holds(std::span<const Tensor> inputs, Entry* entry) const {
  bool holds = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!read_[i] || IsCopied(*entry, i) || inputs[i].data() == entry->noted->addresses[i]) continue;
    entry->moves[i] = static_cast<char>(std::min(entry->moves[i] + 1, 2));
    holds = false;
  }
  return holds;
}

bool PlanGraphs::Run(std::span<const Tensor> inputs, std::span<const double> symbols, std::vector<Tensor>* results) {
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);  // another thread's run has the graph's memory
  if (!lock.owns_lock() || !facts_.refusal.empty()) return false;
  if (CapturesUnderWay().load() > 0) return false;  // somebody else's graph may have these calls in it
  const std::vector<double> key =
      has_symbols_ ? std::vector<double>(symbols.begin(), symbols.end()) : std::vector<double>();
  if (!entries_.contains(key) && entries_.size() >= kMostEntries) {
    Refuse("more than " + std::to_string(kMostEntries) + " sets of the numbers that it is called with");
    return false;
  }
  Entry& entry = entries_[key];
  if (entry.runs++ == 0) return false;
  if (entry.noted && !(Settle(&entry) && Holds(inputs, &entry))) entry.noted = nullptr;
  if (entry.noted && draws_) {
    for (const auto& [generator, stream] : entry.noted->drawn) {
      const Generator& now = generator ? *generator : CurrentGenerator();
      if (now.stream() != stream) return false;
    }
  }
  if (!entry.noted) {
    if (entry.captures == kMostCaptures) {
      Refuse("its inputs lie elsewhere all the time");
      return false;
    }
    Note(inputs, symbols, &entry);
    if (!facts_.refusal.empty()) return false;
  }
  *results = Launch(inputs, entry);
  ++facts_.runs;
  return true;
}

void PlanGraphs::Note(std::span<const Tensor> inputs, std::span<const double> symbols, Entry* entry) {
  std::lock_guard<std::mutex> door(NotingDoor());
  if (entry->moves.empty()) entry->moves.assign(inputs.size(), 0);
  auto noted = std::make_unique<Noted>();
  noted->memory = std::make_shared<Memory>(device_);
  Memory& memory = *noted->memory;
  noted->stream = Cuda().CurrentStream(device_.index);
  noted->drawn.push_back({nullptr, CurrentGenerator().stream()});
  for (const Ref<Generator>& generator : generators_) {
    noted->drawn.push_back({generator, generator->stream()});
    noted->graph.Register(*generator);
  }
  const Step* now = nullptr;
  try {
    void* const stream = NotingStream(device_.index);
    const Apart apart(device_.index, stream, memory.pool);
    std::vector<Tensor> operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& x = inputs[i];
      noted->addresses.push_back(read_[i] ? x.data() : nullptr);
      memory.places.push_back(IsCopied(*entry, i) ? Tensor::EmptyStrided(x.shape(), x.strides(), x.dtype(), x.device())
                                                  : Tensor());
      operands.push_back(IsCopied(*entry, i) ? memory.places[i] : x);
    }
    PlanMemory same;
    memory.instance = BuildInstance(graph_, options_, &same);
    memory.results = Bind(operands, memory.instance.get());
    noted->graph.Begin(device_.index, stream, /*mode: relaxed*/ 2);
    RunSteps(graph_, memory.instance.get(), symbols, {}, nullptr, &now);
    TakeMemory(memory.results);
    noted->graph.End();
    if (entry->handing.empty()) {
      for (const Tensor& made : memory.results) {
        const bool large = static_cast<int64_t>(made.impl()->storage->bytes) >= kLarge;
        entry->handing.push_back(large ? Handing::kLent : Handing::kTried);
      }
    }
    for (const auto& bounds : memory.instance->inputs) {  // they are the caller's
      for (const Bound& bound : bounds) bound.impl->storage = nullptr;
    }
  } catch (const MemoryError&) {
    noted->graph.Abandon();
    return Refuse("there is no memory for it");
  } catch (const std::exception& error) {
    noted->graph.Abandon();
    return Refuse((now ? now->op->name() + " cannot be noted down: " : "it cannot be noted down: ") + error.what());
  }
  ++entry->captures, ++facts_.captures;
  entry->noted = std::move(noted);
}

bool PlanGraphs::Settle(Entry* entry) const {
  Noted& noted = *entry->noted;
  void* const stream = Cuda().CurrentStream(device_.index);
  if (noted.stream != stream) Follow(device_.index, stream, std::exchange(noted.stream, stream));
  bool is_free = true;
  for (size_t k = 0; k < noted.out.size(); ++k) {
    if (!noted.out[k]) continue;
    const bool held = noted.out[k]->refs() > 1;
    is_free &= !(held && entry->handing[k] == Handing::kLent);
    entry->handing[k] = held ? Handing::kCopied : Handing::kLent;
  }
  noted.out.clear();
  return is_free;
}

/// A result of a run, as the caller gets it.
Tensor PlanGraphs::Handed(const Entry& entry, size_t output) const {
  const std::shared_ptr<Memory>& memory = entry.noted->memory;
  const Tensor& made = memory->results[output];
  if (made.numel() > 0 && entry.handing[output] == Handing::kLent) {
    return Tensor::Borrow(made.mutable_data(), made.shape(), made.strides(), made.dtype(), made.device(),
                          [keeps = memory] {});
  }
  const Tensor copy = Tensor::EmptyStrided(made.shape(), made.strides(), made.dtype(), made.device());
  const size_t bytes = std::min(copy.impl()->storage->bytes, made.impl()->storage->bytes);
  if (made.numel() > 0) Cuda().CopyWithin(device_.index, copy.mutable_data(), made.data(), bytes);
  return copy;
}

std::vector<Tensor> PlanGraphs::Launch(std::span<const Tensor> inputs, const Entry& entry) {
  Noted& noted = *entry.noted;
  const Memory& memory = *noted.memory;
  const ClosedDoor closed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (memory.places[i].defined() && read_[i]) OpInto<"copy">(memory.places[i], inputs[i].Detach());
    if (written_[i]) inputs[i].mutable_data();  // what the host has of it is old from now on
  }
  noted.graph.Launch();
  std::vector<Tensor> results;
  for (size_t k = 0; k < memory.results.size(); ++k) {
    const int same = memory.instance->outputs[k].same_as;
    results.push_back(same >= 0 ? results[same] : Handed(entry, k));
    const bool watched = same < 0 && entry.handing[k] != Handing::kCopied && results[k].numel() > 0;
    noted.out.push_back(watched ? results[k].impl()->storage : nullptr);
  }
  return results;
}

}  // namespace dragon
