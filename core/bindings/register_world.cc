// Groups of processes seen from Python.
#include <pybind11/stl.h>

#include "core/bindings/gil.h"
#include "core/bindings/python.h"
#include "core/bindings/python_communicator.h"
#include "core/world/groups.h"
#include "core/world/shared.h"
#include "core/world/together.h"

namespace dragon::python {

namespace {

void SleepOutside(const std::function<void()>& sleep) {
  if (!PyGILState_Check()) return sleep();
  const WithoutGil outside;
  sleep();
}

void RaiseSignalsOf() {
  WithGil gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

Board::Options OptionsOf(int rank, int size, uint64_t sheet_bytes, double timeout) {
  return {rank, size, sheet_bytes, timeout};
}

int64_t MakeGroup(int descriptor, int rank, int size, uint64_t sheet_bytes, double timeout) {
  const Board::Options options = OptionsOf(rank, size, sheet_bytes, timeout);
  auto board = std::make_unique<Board>(SharedBlock::Open(descriptor, SharedCommunicator::BytesFor(options)), options);
  {
    WithoutGil outside;
    board->Join();
  }
  return AddGroup(std::make_shared<SharedCommunicator>(std::move(board)));
}

/// A message of a tensor, and what has to stay while it moves.
class Posted {
 public:
  Posted(Tensor tensor, std::shared_ptr<Communicator> group, std::shared_ptr<Message> message)
      : tensor_(std::move(tensor)), group_(std::move(group)), message_(std::move(message)) {}
  Posted(const Posted&) = delete;
  ~Posted() { group_->Cancel(message_); }

  bool IsDone() { return group_->IsDone(message_); }
  void Wait(double seconds) { group_->Wait(message_, seconds); }
  int rank() const { return message_->rank; }

 private:
  Tensor tensor_;
  std::shared_ptr<Communicator> group_;
  std::shared_ptr<Message> message_;
};

/// What Python says of a message: a tensor, the other rank, a tag, and whether it goes out.
using Told = std::tuple<py::object, int, int64_t, bool>;

Communicator::Posting PostingOf(const Tensor& tensor, const Told& told) {
  const auto& [object, rank, tag, goes_out] = told;
  if (!tensor.is_contiguous()) {
    throw ValueError(goes_out ? "send" : "receive")
        .Got("a tensor with strides ", tensor.strides())
        .Expected("one in row-major order");
  }
  const int64_t bytes = tensor.numel() * ItemSize(tensor.dtype());
  const void* const data = goes_out ? tensor.data() : tensor.mutable_view().data;
  return {static_cast<char*>(const_cast<void*>(data)), bytes, rank, tag, goes_out};
}

/// Those on one device begin together.
std::vector<std::unique_ptr<Posted>> Post(const std::vector<Told>& told, int64_t group) {
  std::vector<Tensor> tensors;
  std::vector<Communicator::Posting> postings;
  for (const Told& each : told) {
    tensors.push_back(TensorIn(std::get<0>(each), "post_messages"));
    postings.push_back(PostingOf(tensors.back(), each));
    if (tensors.back().device() == tensors.front().device()) continue;
    throw ValueError("messages")
        .Got("tensors on ", tensors.front().device(), " and ", tensors.back().device())
        .Expected("those of one call on one device");
  }
  std::vector<std::unique_ptr<Posted>> made;
  if (told.empty()) return made;
  const char* const who = postings[0].goes_out ? "send" : "receive";
  const auto communicator = GroupOf(who, group, tensors[0].device());
  const auto begun = communicator->Post(postings);
  for (size_t i = 0; i < begun.size(); ++i)
    made.push_back(std::make_unique<Posted>(tensors[i], communicator, begun[i]));
  return made;
}

void Serve(int64_t group, const std::string& device, const std::string& service, double seconds, int cluster_size,
           int least_blocks, int most_blocks, const std::string& net_name) {
  ServeGroup(group, Device::Parse(device).type, ParseService(service),
             {seconds, cluster_size, least_blocks, most_blocks, net_name});
}

void Meet(int64_t group, const py::object& device) {
  const Device where = device.is_none() ? Device{} : ParseDevice(device.ptr(), {"barrier", nullptr});
  GroupOf("barrier", group)->turns().Await();
  const auto communicator = device.is_none() ? GroupOf("barrier", group) : GroupOf("barrier", group, where);
  WithoutGil outside;
  communicator->Barrier();
}

Reduction ReductionNamed(const std::string& name) {
  for (uint32_t i = 0; i <= static_cast<uint32_t>(Reduction::kAverage); ++i) {
    if (name == NameOf(static_cast<Reduction>(i))) return static_cast<Reduction>(i);
  }
  throw ValueError("collective")
      .Got("the reduction '", name, "'")
      .Expected("sum, product, minimum, maximum or average");
}

/// One tensor to read and one to write for each device, all of one dtype and in row-major order.
void CollectTogether(const std::string& name, const std::vector<py::object>& ins, const std::vector<py::object>& outs,
                     const std::string& reduction, int root) {
  Collective collective = Collective::kAllReduce;
  while (collective != Collective::kBarrier && name != NameOf(collective))
    collective = static_cast<Collective>(static_cast<uint32_t>(collective) + 1);
  if (collective == Collective::kBarrier)
    throw ValueError("collective").Got("'", name, "'").Expected("one with tensors");
  if (ins.size() != outs.size()) {
    throw ValueError(name).Got(ins.size(), " tensors to read and ", outs.size(), " to write").Expected("as many");
  }
  std::vector<Share> shares;
  for (size_t i = 0; i < ins.size(); ++i) {
    const Tensor in = TensorIn(ins[i], name.c_str()), out = TensorIn(outs[i], name.c_str());
    if (in.device().type != DeviceType::kCUDA || in.device() != out.device() || in.dtype() != out.dtype()) {
      throw ValueError(name)
          .Got(in.dtype(), " on ", in.device(), " and ", out.dtype(), " on ", out.device())
          .Expected("tensors of one dtype on one CUDA device");
    }
    const Tensor& part = collective == Collective::kReduceScatter ? out : in;
    shares.push_back({in.device().index,
                      static_cast<const char*>(in.data()),
                      static_cast<char*>(out.mutable_view().data),
                      {part.numel(), in.dtype()}});
  }
  DoTogether(DeviceType::kCUDA, collective, shares, ReductionNamed(reduction), root);
}

/// Groups whose tensors lie on devices.
void RegisterServices(py::module_& m) {
  m.def("serve_group", &Serve, py::arg("group"), py::arg("device"), py::arg("service"), py::arg("seconds") = -1.0,
        py::arg("cluster_size") = -1, py::arg("least_blocks") = -1, py::arg("most_blocks") = -1,
        py::arg("net_name") = "",
        "Say who carries a group's tensors of a kind of device: nobody, the host, or the device's library.");
  m.def("set_group_timeout", &SetGroupTimeout, py::arg("group"), py::arg("seconds"),
        "Have a group's ranks wait so long for each other from the next call on; negative seconds are no limit.");
  m.def("collect_together", &CollectTogether, py::arg("name"), py::arg("ins"), py::arg("outs"), py::arg("reduction"),
        py::arg("root"), "A collective of this process's devices: a tensor to read and one to write of each.");
  m.def(
      "collectives_version",
      [](const std::string& device) {
        DeviceWorld* const world = DeviceWorldOf(Device::Parse(device).type);
        return world && world->IsThere() ? world->Version() : 0;
      },
      py::arg("device"), "The version of a kind of device's library of collectives; 0 without one.");
  m.def(
      "raise_group_trouble",
      [](int64_t group, const std::string& device) {
        const auto communicator = GroupOf("wait", group, Device::Parse(device));
        if (const std::string why = communicator->Trouble(); !why.empty())
          throw RuntimeError("process group").Says(why).Expected("a new group");
      },
      py::arg("group"), py::arg("device"), "Raise what is known to be wrong with a group on a device.");
  m.def(
      "set_devices_compare", [](bool compare) { return std::exchange(DevicesCompare(), compare); }, py::arg("compare"),
      "Set whether ranks compare what they are about to do on devices, as they do on the host; whether they did.");
}

}  // namespace

void RegisterWorld(py::module_& m) {
  RegisterServices(m);
  Waiting() = {&SleepOutside, &RaiseSignalsOf};
  m.def(
      "group_bytes",
      [](int size, uint64_t sheet_bytes) { return SharedCommunicator::BytesFor(OptionsOf(0, size, sheet_bytes, -1)); },
      py::arg("size"), py::arg("sheet_bytes"), "Return how much shared memory a group of processes needs.");
  m.def("make_group", &MakeGroup, py::arg("descriptor"), py::arg("rank"), py::arg("size"), py::arg("sheet_bytes"),
        py::arg("timeout"), "Join a group over shared memory of this machine, and return its number.");
  m.def(
      "make_carried_group",
      [](py::object carrier) { return AddGroup(std::make_shared<PythonCommunicator>(std::move(carrier))); },
      py::arg("carrier"), "Make a group whose bytes an object of Python's carries, and return its number.");
  m.def("remove_group", &RemoveGroup, py::arg("group"), "Forget a group; return whether there was one.");
  m.def("group_barrier", &Meet, py::arg("group"), py::arg("device") = py::none(),
        "Return once all ranks of a group have called this, and a device's work here is done.");
  m.def(
      "begin_turn", [](int64_t group) { GroupOf("begin", group)->turns().Begin(); }, py::arg("group"),
      "Say that a call of a group was begun, which another thread makes: later ones wait until it has ended.");
  m.def(
      "end_turn", [](int64_t group) { GroupOf("end", group)->turns().End(); }, py::arg("group"),
      "Say that it has ended.");
  m.def(
      "make_turns", [](int64_t group) { GroupOf("make", group)->turns().Make(); }, py::arg("group"),
      "Say that this thread makes what is begun in a group.");
  py::class_<Posted>(m, "Message", "A tensor on its way to another rank, or from one.")
      .def("is_done", &Posted::IsDone, "Return whether it has arrived, or left; helps it along.")
      .def("wait", &Posted::Wait, py::arg("seconds"), py::call_guard<WithoutGil>(),
           "Wait until it has; negative seconds are no limit.")
      .def_property_readonly("rank", &Posted::rank, "The other side; -1 for a message of anybody that has not come.");
  m.def(
      "post_message",
      [](py::object tensor, int64_t group, int rank, int64_t tag, bool goes_out) {
        return std::move(Post({{std::move(tensor), rank, tag, goes_out}}, group)[0]);
      },
      py::arg("tensor"), py::arg("group"), py::arg("rank"), py::arg("tag"), py::arg("goes_out"),
      "Begin to send a tensor to a rank, or to receive one from it (-1: from anybody).");
  m.def("post_messages", &Post, py::arg("messages"), py::arg("group"),
        "Begin several, each (tensor, rank, tag, whether it goes out), in whichever order they can go.");
  m.def(
      "break_group", [](int64_t group, const std::string& why) { GroupOf("break", group)->Break(why); },
      py::arg("group"), py::arg("why"), "Tell the other ranks that this one gives up.");
}

}  // namespace dragon::python
