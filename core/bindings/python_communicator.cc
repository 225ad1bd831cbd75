// How calls of a group become calls of Python.
#include "core/bindings/python_communicator.h"

#include "core/world/mail.h"

namespace dragon::python {

namespace {

/// A message whose state Python keeps.
struct CarriedMessage : Message {
  std::shared_ptr<PyObject> carried;
};

py::object CarriedBy(const std::shared_ptr<Message>& message) {
  return py::reinterpret_borrow<py::object>(static_cast<const CarriedMessage&>(*message).carried.get());
}

py::object Readable(const char* data, int64_t bytes) { return py::memoryview::from_memory(data, bytes); }
py::object Writable(char* data, int64_t bytes) { return py::memoryview::from_memory(data, bytes); }

template <typename Byte>
py::list ListOf(std::span<Byte* const> parts, int64_t bytes) {
  py::list list;
  for (Byte* part : parts) list.append(py::memoryview::from_memory(part, bytes));
  return list;
}

py::list ListOf(std::span<const Communicator::Piece> pieces) {
  py::list list;
  for (const auto& piece : pieces) list.append(Writable(piece.data, piece.bytes));
  return list;
}

}  // namespace

PythonCommunicator::PythonCommunicator(py::object carrier)
    : rank_(carrier.attr("rank").cast<int>()), size_(carrier.attr("size").cast<int>()) {
  carrier_ = KeptWithoutGil(std::move(carrier));
}

/// With the lock.
template <typename... Args>
py::object PythonCommunicator::Call(const char* method, const Args&... args) const {
  return py::reinterpret_borrow<py::object>(carrier_.get()).attr(method)(args...);
}

std::string PythonCommunicator::Trouble() {
  WithGil gil;
  return Call("trouble").cast<std::string>();
}

void PythonCommunicator::SetTimeout(double seconds) {
  WithGil gil;
  py::reinterpret_borrow<py::object>(carrier_.get()).attr("timeout") = seconds;
}

void PythonCommunicator::AllReduce(const char* in, char* out, Elements elements, Reduction reduction) {
  WithGil gil;
  const py::object result = Writable(out, elements.bytes());
  const py::object given = in == out ? result : Readable(in, elements.bytes());
  Call("all_reduce", given, result, Name(elements.dtype), NameOf(reduction));
}

void PythonCommunicator::Reduce(const char* in, char* out, Elements elements, Reduction reduction, int root) {
  WithGil gil;
  const py::object result = Writable(out, elements.bytes());
  const py::object given = in == out ? result : Readable(in, elements.bytes());
  Call("reduce", given, result, Name(elements.dtype), NameOf(reduction), root);
}

void PythonCommunicator::Broadcast(char* data, Elements elements, int root) {
  WithGil gil;
  Call("broadcast", Writable(data, elements.bytes()), Name(elements.dtype), root);
}

void PythonCommunicator::AllGather(const char* in, std::span<char* const> outs, Elements each) {
  WithGil gil;
  Call("all_gather", Readable(in, each.bytes()), ListOf(outs, each.bytes()), Name(each.dtype));
}

void PythonCommunicator::Gather(const char* in, std::span<char* const> outs, Elements each, int root) {
  WithGil gil;
  Call("gather", Readable(in, each.bytes()), ListOf(outs, each.bytes()), Name(each.dtype), root);
}

void PythonCommunicator::Scatter(std::span<const char* const> ins, char* out, Elements each, int root) {
  WithGil gil;
  Call("scatter", ListOf(ins, each.bytes()), Writable(out, each.bytes()), Name(each.dtype), root);
}

void PythonCommunicator::ReduceScatter(std::span<const char* const> ins, char* out, Elements each,
                                       Reduction reduction) {
  WithGil gil;
  Call("reduce_scatter", ListOf(ins, each.bytes()), Writable(out, each.bytes()), Name(each.dtype), NameOf(reduction));
}

void PythonCommunicator::AllToAll(std::span<const Piece> ins, std::span<const Piece> outs) {
  WithGil gil;
  Call("all_to_all", ListOf(ins), ListOf(outs));
}

void PythonCommunicator::Barrier() {
  WithGil gil;
  Call("barrier");
}

void PythonCommunicator::Break(const std::string& why) {
  WithGil gil;
  Call("give_up", why);
}

std::shared_ptr<Message> PythonCommunicator::Post(const char* method, char* data, int64_t bytes, int rank, int64_t tag,
                                                  bool goes_out) {
  WithGil gil;
  auto message = std::make_shared<CarriedMessage>();
  static_cast<Message&>(*message) = {data, bytes, rank, tag, goes_out};
  const py::object carried_tag = tag == kOwnTag ? py::object(py::none()) : py::int_(tag);
  message->carried = KeptWithoutGil(Call(method, Writable(data, bytes), rank, carried_tag));
  return message;
}

std::shared_ptr<Message> PythonCommunicator::Send(const char* data, int64_t bytes, int to, int64_t tag) {
  return Post("send", const_cast<char*>(data), bytes, to, tag, true);
}

std::shared_ptr<Message> PythonCommunicator::Receive(char* data, int64_t bytes, int from, int64_t tag) {
  return Post("receive", data, bytes, from, tag, false);
}

bool PythonCommunicator::IsDone(const std::shared_ptr<Message>& message) {
  WithGil gil;
  const py::object carried = CarriedBy(message);
  const bool done = carried.attr("is_done")().cast<bool>();
  message->rank = carried.attr("rank").cast<int>();
  return done;
}

void PythonCommunicator::Wait(const std::shared_ptr<Message>& message, double seconds) {
  WithGil gil;
  const py::object carried = CarriedBy(message);
  carried.attr("wait")(seconds);
  message->rank = carried.attr("rank").cast<int>();
}

void PythonCommunicator::Cancel(const std::shared_ptr<Message>& message) {
  WithGil gil;
  CarriedBy(message).attr("cancel")();
}

}  // namespace dragon::python
