// dragon._C: the engine as a Python module. Translation only.
#include "core/bindings/python.h"

namespace dragon::python {
void RegisterAccelerator(py::module_& m);
void RegisterBatching(py::module_& m);
void RegisterErrors(py::module_& m);
void RegisterExits(py::module_& m);
void RegisterFusion(py::module_& m);
void RegisterGuard(py::module_& m);
void RegisterSymbolic(py::module_& m);
}  // namespace dragon::python

PYBIND11_MODULE(_C, m) {
  using namespace dragon::python;  // NOLINT: the module is this namespace
  m.doc() = "The engine of Dragon.";
  RegisterEnd();
  RegisterErrors(m);
  RegisterExits(m);
  RegisterDType(m);
  RegisterShape(m);
  RegisterTensor(m);
  RegisterOps(m);
  RegisterSchema(m);
  RegisterOverride(m);
  RegisterAutograd(m);
  RegisterRecording(m);
  RegisterDevice(m);
  RegisterMemory(m);
  RegisterAccelerator(m);
  RegisterRecords(m);
  RegisterPictures(m);
  RegisterRecordFiles(m);
  RegisterRecordBuffer(m);
  RegisterDLPack(m);
  RegisterRandom(m);
  RegisterDoor(m);
  RegisterGuard(m);
  RegisterSymbolic(m);
  RegisterSizes(m);
  RegisterBatching(m);
  RegisterShared(m);
  RegisterWorld(m);
  RegisterTrace(m);
  RegisterProcedure(m);
  RegisterGraph(m);
  RegisterFusion(m);
  RegisterPasses(m);
  RegisterTensorParts(m);
  RefuseNoneAsSelf(m);
}
