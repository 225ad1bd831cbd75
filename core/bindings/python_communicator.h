// A group of processes whose bytes Python carries: MPI, by mpi4py, where processes are on several machines.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/bindings/python.h"
#include "core/world/communicator.h"

namespace dragon::python {

/// Calls an object of Python's, which has `rank`, `size` and a method for each call. Memory comes as bytes that are
/// read or written in place, the same object twice where a result may take the place of what is given. The engine's own
/// messages have the tag None.
class PythonCommunicator : public Communicator {
 public:
  explicit PythonCommunicator(py::object carrier);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string Trouble() override;
  void SetTimeout(double seconds) override;

  void AllReduce(const char* in, char* out, Elements elements, Reduction reduction) override;
  void Reduce(const char* in, char* out, Elements elements, Reduction reduction, int root) override;
  void Broadcast(char* data, Elements elements, int root) override;
  void AllGather(const char* in, std::span<char* const> outs, Elements each) override;
  void Gather(const char* in, std::span<char* const> outs, Elements each, int root) override;
  void Scatter(std::span<const char* const> ins, char* out, Elements each, int root) override;
  void ReduceScatter(std::span<const char* const> ins, char* out, Elements each, Reduction reduction) override;
  void AllToAll(std::span<const Piece> ins, std::span<const Piece> outs) override;
  void Barrier() override;
  void Break(const std::string& why) override;

  std::shared_ptr<Message> Send(const char* data, int64_t bytes, int to, int64_t tag) override;
  std::shared_ptr<Message> Receive(char* data, int64_t bytes, int from, int64_t tag) override;
  bool IsDone(const std::shared_ptr<Message>& message) override;
  void Wait(const std::shared_ptr<Message>& message, double seconds) override;
  void Cancel(const std::shared_ptr<Message>& message) override;

 private:
  template <typename... Args>
  py::object Call(const char* method, const Args&... args) const;
  std::shared_ptr<Message> Post(const char* method, char* data, int64_t bytes, int rank, int64_t tag, bool goes_out);

  std::shared_ptr<PyObject> carrier_;
  int rank_, size_;
};

}  // namespace dragon::python
