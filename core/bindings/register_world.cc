// Groups of processes seen from Python.
#include <pybind11/stl.h>

#include "core/bindings/gil.h"
#include "core/bindings/python.h"
#include "core/bindings/python_communicator.h"
#include "core/world/groups.h"
#include "core/world/shared.h"

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
  Posted(const Tensor& tensor, int64_t group, int rank, int64_t tag, bool goes_out)
      : tensor_(tensor), group_(GroupOf(goes_out ? "send" : "receive", group)) {
    if (!tensor.is_contiguous() || !tensor.device().is_cpu()) {
      throw ValueError(goes_out ? "send" : "receive")
          .Got("a tensor on ", tensor.device(), " with strides ", tensor.strides())
          .Expected("one in row-major order in the memory of the host");
    }
    const int64_t bytes = tensor.numel() * ItemSize(tensor.dtype());
    if (goes_out) {
      message_ = group_->Send(static_cast<const char*>(tensor.data()), bytes, rank, tag);
    } else {
      message_ = group_->Receive(static_cast<char*>(tensor.mutable_view().data), bytes, rank, tag);
    }
  }
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

std::unique_ptr<Posted> Post(const py::object& tensor, int64_t group, int rank, int64_t tag, bool goes_out) {
  return std::make_unique<Posted>(AsTensor(tensor.ptr()), group, rank, tag, goes_out);
}

}  // namespace

void RegisterWorld(py::module_& m) {
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
  m.def(
      "group_barrier",
      [](int64_t group) {
        const auto communicator = GroupOf("barrier", group);
        WithoutGil outside;
        communicator->turns().Await();
        communicator->Barrier();
      },
      py::arg("group"), "Return once all ranks of a group have called this.");
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
  m.def("post_message", &Post, py::arg("tensor"), py::arg("group"), py::arg("rank"), py::arg("tag"),
        py::arg("goes_out"), "Begin to send a tensor to a rank, or to receive one from it (-1: from anybody).");
  m.def(
      "break_group", [](int64_t group, const std::string& why) { GroupOf("break", group)->Break(why); },
      py::arg("group"), py::arg("why"), "Tell the other ranks that this one gives up.");
}

}  // namespace dragon::python
