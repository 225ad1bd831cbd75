// Streams, events, pinned memory and graphs of CUDA devices, seen from Python: streams are numbers, their addresses.
#include <map>
#include <memory>
#include <string>

#include "core/bindings/python.h"
#include "core/device/accelerator.h"
#include "core/device/pinned.h"
#include "core/device/stream_allocator.h"
#include "core/framework/device_graph.h"

namespace dragon::python {

namespace {

Accelerator& Cuda() { return AcceleratorOf(DeviceType::kCUDA); }

void* StreamAt(uintptr_t handle) { return reinterpret_cast<void*>(handle); }
uintptr_t HandleOf(void* stream) { return reinterpret_cast<uintptr_t>(stream); }

/// An event of a device, made when it is first recorded.
class Event {
 public:
  Event(bool timed, bool blocking, bool shared) : timed_(timed), blocking_(blocking), shared_(shared) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (event_) Cuda().DropEvent(index_, event_);
  }

  void Record(int index, uintptr_t stream) {
    if (event_ && index != index_) {
      throw RuntimeError("Event.record")
          .Got("a stream of device ", index)
          .Expected("one of device ", index_, ", where it was recorded before");
    }
    index_ = index;
    if (!event_) event_ = Cuda().NewEvent(index, timed_, blocking_, shared_);
    Cuda().RecordEvent(index, event_, StreamAt(stream));
  }
  void Await(int index, uintptr_t stream) const {
    if (event_) Cuda().AwaitEvent(index, event_, StreamAt(stream));
  }
  bool IsDone() const { return !event_ || Cuda().EventIsDone(index_, event_); }
  void Synchronize() const {
    if (!event_) return;
    py::gil_scoped_release released;
    Cuda().SynchronizeEvent(index_, event_);
  }
  double Elapsed(const Event& end) const { return Cuda().Elapsed(index_, event_, end.event_); }
  bool is_recorded() const { return event_ != nullptr; }
  /// Words for other processes; one that was never recorded is made for a device first.
  py::bytes Lend(int index) {
    if (!event_) index_ = index, event_ = Cuda().NewEvent(index, timed_, blocking_, shared_);
    return Cuda().LendEvent(index_, event_);
  }
  static std::unique_ptr<Event> Borrow(int index, const std::string& words) {
    auto made = std::make_unique<Event>(false, false, true);
    made->index_ = index, made->event_ = Cuda().BorrowEvent(index, words);
    return made;
  }
  int index() const { return index_; }
  uintptr_t handle() const { return HandleOf(event_); }

 private:
  bool timed_, blocking_, shared_;
  int index_ = -1;
  void* event_ = nullptr;
};

/// The callable that is told of waits; kept for the process's life once set.
py::object& Watcher() {
  static auto* watcher = new py::object(py::none());
  return *watcher;
}

void TellOfWait(const char* who) {
  if (!Py_IsInitialized() || LockIsGone()) return;
  WithGil gil;
  if (!Watcher().is_none()) Watcher()(who);
}

/// The callable that is told of memory; kept for the process's life once set.
py::object& Historian() {
  static auto* historian = new py::object(py::none());
  return *historian;
}

void TellOfMemory(const std::vector<MemoryNote>& notes) {
  if (!Py_IsInitialized() || LockIsGone()) return;
  WithGil gil;
  const py::error_scope kept;  // memory is freed while errors are on their way, too
  try {
    for (const MemoryNote& note : notes) {
      if (Historian().is_none()) return;
      Historian()(note.action, note.index, note.address, note.bytes, HandleOf(note.stream), note.pool);
    }
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("a watcher of memory");
  }
}

Tensor Pinned(const Tensor& x) {
  const Tensor source = x.is_contiguous() ? x.Detach() : Op<"to_row_major">(x.Detach());
  const size_t bytes = source.numel() * source.item_size();
  void* const memory = AllocatePinned(bytes);
  const Tensor pinned = Tensor::Borrow(memory, source.shape(), source.strides(), source.dtype(), Device{},
                                       [memory] { FreePinned(memory); });
  if (bytes) std::memcpy(memory, source.data(), bytes);
  return pinned;
}

py::list SnapshotOf(int index) {
  py::list segments;
  for (const SegmentFacts& facts : StreamAllocatorOf(index).Snapshot()) {
    py::list blocks;
    int64_t used = 0;
    for (const auto& piece : facts.pieces) {
      blocks.append(py::make_tuple(piece.address, piece.bytes, piece.is_used));
      if (piece.is_used) used += static_cast<int64_t>(piece.bytes);
    }
    segments.append(py::make_tuple(facts.address, facts.bytes, HandleOf(facts.stream), facts.pool, facts.is_small, used,
                                   blocks, facts.is_expandable));
  }
  return segments;
}

void RegisterStreams(py::module_& m) {
  m.def("cuda_index", &CurrentIndex, "The CUDA device that this thread means when it names none.");
  m.def("set_cuda_index", &SetCurrentIndex, "Set it.", py::arg("index"));
  m.def(
      "why_no_cuda",
      [] {
        return HasBackend(DeviceType::kCUDA) ? Cuda().WhyNone() : std::string("this build has no kernels for CUDA");
      },
      "Why there is no CUDA device; empty where there is one.");
  m.def(
      "current_stream", [](int index) { return HandleOf(Cuda().CurrentStream(index)); },
      "The stream of this thread's work on a device.", py::arg("index"));
  m.def(
      "set_current_stream", [](int index, uintptr_t stream) { Cuda().SetCurrentStream(index, StreamAt(stream)); },
      "Set it; 0 is the default stream.", py::arg("index"), py::arg("stream"));
  m.def(
      "default_stream", [](int index) { return HandleOf(Cuda().DefaultStream(index)); },
      "The stream of a device's work where none is named.", py::arg("index"));
  m.def(
      "new_stream", [](int index, int priority) { return HandleOf(Cuda().NewStream(index, priority)); },
      "The next of a device's other streams.", py::arg("index"), py::arg("priority") = 0);
  m.def(
      "stream_priority", [](int index, uintptr_t stream) { return Cuda().Priority(index, StreamAt(stream)); },
      py::arg("index"), py::arg("stream"));
  m.def("stream_priority_range", [] { return Cuda().PriorityRange(); }, "The least and the greatest priority.");
  m.def(
      "stream_is_done", [](int index, uintptr_t stream) { return Cuda().StreamIsDone(index, StreamAt(stream)); },
      py::arg("index"), py::arg("stream"));
  m.def(
      "synchronize_stream",
      [](int index, uintptr_t stream) {
        py::gil_scoped_release released;
        Cuda().SynchronizeStream(index, StreamAt(stream));
      },
      "Wait for what a stream was given.", py::arg("index"), py::arg("stream"));
  py::class_<Event>(m, "Event", "A point in a stream's work.")
      .def(py::init<bool, bool, bool>(), py::arg("timed"), py::arg("blocking"), py::arg("shared"))
      .def("record", &Event::Record, py::arg("index"), py::arg("stream"))
      .def("wait", &Event::Await, "Have a stream wait.", py::arg("index"), py::arg("stream"))
      .def("query", &Event::IsDone)
      .def("synchronize", &Event::Synchronize)
      .def("elapsed", &Event::Elapsed, "Milliseconds until another event.", py::arg("end"))
      .def("lend", &Event::Lend, "Words by which other processes find it.", py::arg("index"))
      .def_static("borrow", &Event::Borrow, "One of another process.", py::arg("index"), py::arg("words"))
      .def_property_readonly("is_recorded", &Event::is_recorded)
      .def_property_readonly("index", &Event::index)
      .def_property_readonly("handle", &Event::handle);
}

/// Memory of another process. It is mapped once, however many tensors lie in it.
class Loan {
 public:
  Loan(int index, const std::string& words) : index_(index), base_(Cuda().BorrowMemory(index, words)) {}
  Loan(const Loan&) = delete;
  ~Loan() {
    try {
      Cuda().ReturnMemory(index_, base_);
    } catch (const std::exception&) {  // the driver may be gone
    }
  }
  static std::shared_ptr<Loan> Of(int index, const std::string& words) {
    static auto* known = new std::map<std::pair<int, std::string>, std::weak_ptr<Loan>>;
    std::erase_if(*known, [](const auto& entry) { return entry.second.expired(); });
    auto& found = (*known)[{index, words}];
    auto loan = found.lock();
    if (!loan) found = loan = std::make_shared<Loan>(index, words);
    return loan;
  }
  uintptr_t address() const { return HandleOf(base_); }

 private:
  int index_;
  void* base_;
};

const Tensor& TensorOnCuda(py::handle object, const char* who) {
  const Tensor& tensor = TensorIn(object, who);
  if (tensor.device().type == DeviceType::kCUDA) return tensor;
  throw ValueError(who).Got("a tensor on ", tensor.device()).Expected("one on a CUDA device");
}

py::tuple LendMemoryOf(const py::object& object) {
  const Tensor& tensor = TensorOnCuda(object, "lend_memory");
  const int index = tensor.device().index;
  const void* const first = tensor.data();
  const void* const base = StreamAllocatorOf(index).SegmentOf(first);
  if (!base) {
    throw RuntimeError("multiprocessing")
        .Got("a tensor whose memory is borrowed from another process or library, or comes by pages")
        .Expected("one of this process's own, without expandable_segments: clone it before it is sent on");
  }
  const auto offset = static_cast<const char*>(first) - static_cast<const char*>(base);
  return py::make_tuple(py::bytes(Cuda().LendMemory(index, base)), static_cast<int64_t>(offset));
}

void RegisterLending(py::module_& m) {
  py::class_<Loan, std::shared_ptr<Loan>>(m, "DeviceLoan", "A device's memory of another process.")
      .def(py::init(&Loan::Of), py::arg("index"), py::arg("words"))
      .def_property_readonly("address", &Loan::address);
  m.def("lend_memory", &LendMemoryOf, py::arg("tensor"),
        "(Words by which other processes find the memory of a tensor, the byte in it where the tensor begins).");
}

/// Memory of other libraries.
void RegisterBorrowing(py::module_& m) {
  m.def(
      "borrow_cuda",
      [](uintptr_t address, const py::tuple& shape, const py::tuple& strides, py::object dtype, int index,
         py::object owner, py::object tensor_class) {
        const Place place{"as_tensor", nullptr};
        const Dims sizes = ParseDims(shape.ptr(), place), steps = ParseDims(strides.ptr(), place);
        const DType kind = ParseDType(dtype.ptr(), place);
        const Frontend* frontend = FrontendIn(tensor_class, place.op);
        const Device device{DeviceType::kCUDA, static_cast<int16_t>(index)};
        PyObject* const held = owner.release().ptr();
        const auto drop = [held] {
          if (!Py_IsInitialized() || LockIsGone()) return;
          WithGil gil;
          Py_DECREF(held);
        };
        const Tensor borrowed = Tensor::Borrow(StreamAt(address), sizes, steps, kind, device, drop);
        return py::reinterpret_steal<py::object>(Wrap(borrowed, frontend));
      },
      "A tensor over device memory of an object's, which lives as long as the tensor.", py::arg("address"),
      py::arg("shape"), py::arg("strides"), py::arg("dtype"), py::arg("index"), py::arg("owner"),
      py::arg("tensor_class"));
}

void RegisterDeviceMemory(py::module_& m) {
  m.def(
      "pin",
      [](py::object tensor) {
        const Tensor& given = TensorIn(tensor, "pin");
        return py::reinterpret_steal<py::object>(Wrap(Pinned(given), FrontendOf(Py_TYPE(tensor.ptr()))));
      },
      "A copy of a tensor of the CPU in memory that CUDA devices reach.", py::arg("tensor"));
  m.def(
      "is_pinned",
      [](py::object object) {
        const Tensor& tensor = TensorIn(object, "is_pinned");
        return tensor.device().is_cpu() && tensor.impl()->storage &&
               IsPinned(tensor.data(), tensor.numel() ? tensor.item_size() : 0);
      },
      "Whether a tensor lies in pinned memory.", py::arg("tensor"));
  m.def("pinned_stats", [] {
    const PinnedStats stats = StatsOfPinned();
    py::dict dict;
    dict["current"] = stats.current, dict["peak"] = stats.peak, dict["reserved"] = stats.reserved;
    dict["allocations"] = stats.allocations;
    return dict;
  });
  m.def("empty_pinned_cache", &EmptyPinnedCache);
  m.def(
      "let_copies_queue", [](bool may) { return std::exchange(CopiesMayBeQueued(), may); },
      "Set whether copies from and to pinned memory return before they are done; what was set so far.", py::arg("may"));
  m.def(
      "record_stream",
      [](py::object object, uintptr_t stream) {
        const Tensor& tensor = TensorOnCuda(object, "record_stream");
        if (!tensor.impl()->storage || tensor.numel() == 0) return;
        const Device device = tensor.device();
        StreamAllocatorOf(device.index).RecordUse(const_cast<void*>(tensor.impl()->storage->Read()), StreamAt(stream));
      },
      "A stream uses the tensor's memory.", py::arg("tensor"), py::arg("stream"));
  m.def("memory_snapshot", &SnapshotOf,
        "(address, bytes, stream, pool, whether for small blocks, bytes in use, [(address, bytes, whether used)], "
        "whether "
        "it grows) of all segments.",
        py::arg("index"));
  m.def(
      "memory_retries",
      [](int index) { return py::make_tuple(StreamAllocatorOf(index).retries(), StreamAllocatorOf(index).failures()); },
      "How often memory ran out until the cache was emptied, and for good.", py::arg("index"));
  m.def("device_memory", [](int index) { return Cuda().Memory(index); }, "Free bytes and all bytes.", py::arg("index"));
}

/// Who is told of what.
void RegisterWatchers(py::module_& m) {
  m.def(
      "set_memory_watcher",
      [](py::object watcher) {
        Historian() = watcher;
        SetMemoryWatcher(watcher.is_none() ? nullptr : &TellOfMemory);
      },
      "Have a function told of all that happens to devices' memory: action, index, address, bytes, stream, pool.",
      py::arg("watcher"));
  m.def(
      "set_wait_watcher",
      [](py::object watcher) {
        Watcher() = watcher;
        SetWaitWatcher(watcher.is_none() ? nullptr : &TellOfWait);
      },
      "Have a function told of calls that wait for the device without being asked to.", py::arg("watcher"));
}

void RegisterFacts(py::module_& m) {
  m.def(
      "device_facts",
      [](int index) {
        const DeviceFacts facts = Cuda().Facts(index);
        py::dict dict;
        dict["name"] = facts.name, dict["uuid"] = py::bytes(facts.uuid);
        for (const auto& [name, number] : facts.numbers) dict[py::str(name)] = number;
        return dict;
      },
      "What a device is.", py::arg("index"));
  m.def(
      "device_reaches", [](int index, int peer) { return Cuda().CanReach(index, peer); }, py::arg("index"),
      py::arg("peer"));
  m.def(
      "library_version",
      [](const std::string& name) { return HasBackend(DeviceType::kCUDA) ? Cuda().LibraryVersion(name) : 0; },
      "The version of a library that kernels of CUDA devices would be handed to, e.g. of \"cudnn\"; 0 without it.",
      py::arg("name"));
  m.def(
      "cuda_versions", [] { return HasBackend(DeviceType::kCUDA) ? Cuda().Versions() : std::pair<int, int>{0, 0}; },
      "The versions of CUDA's runtime and driver.");
}

void RegisterDeviceGraphs(py::module_& m) {
  py::class_<DeviceGraph>(m, "DeviceGraph", "What a stream was given, noted down to be run again.")
      .def(py::init<>())
      .def("register", &DeviceGraph::Register, "Have it draw from a generator.", py::arg("generator"))
      .def(
          "begin",
          [](DeviceGraph& graph, int index, uintptr_t stream, int mode) { graph.Begin(index, StreamAt(stream), mode); },
          py::arg("index"), py::arg("stream"), py::arg("mode"))
      .def("end", &DeviceGraph::End)
      .def("launch", &DeviceGraph::Launch, "Run on the current stream of its device.")
      .def("reset", &DeviceGraph::Reset)
      .def("dump", &DeviceGraph::Dump, py::arg("path"));
  m.def(
      "is_capturing", [](int index) { return Cuda().IsCapturing(index, Cuda().CurrentStream(index)); },
      py::arg("index"));
  m.def("new_pool", &StreamAllocator::NewPool, "A number for memory of its own.");
  m.def(
      "hold_pool", [](int index, int64_t pool) { StreamAllocatorOf(index).HoldPool(pool); }, py::arg("index"),
      py::arg("pool"));
  m.def(
      "release_pool", [](int index, int64_t pool) { StreamAllocatorOf(index).ReleasePool(pool); }, py::arg("index"),
      py::arg("pool"));
  m.def(
      "use_pool",
      [](int64_t pool, int index) {
        const PoolChoice before = std::exchange(PoolOfThread(), {pool, index});
        return py::make_tuple(before.pool, before.index);
      },
      "Set where this thread's memory of a device, or of all of them (-1), comes from; where it came from so far.",
      py::arg("pool"), py::arg("index") = -1);
  m.def("set_expands_segments", &SetExpandsSegments,
        "Set whether memory of devices is asked for by pages that make long blocks, instead of piece by piece.",
        py::arg("expands"));
  m.def("expands_segments", &ExpandsSegments, "Whether it is.");
}

}  // namespace

void RegisterAccelerator(py::module_& m) {
  RegisterStreams(m);
  RegisterBorrowing(m);
  RegisterLending(m);
  RegisterDeviceMemory(m);
  RegisterWatchers(m);
  RegisterFacts(m);
  RegisterDeviceGraphs(m);
}

}  // namespace dragon::python
