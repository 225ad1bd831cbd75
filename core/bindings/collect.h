// What Python's garbage collector sees of the engine. References between C++ objects are none of its business, but a
// tensor whose hook or history refers to the tensor would live for ever if nobody told.
#pragma once

#include "core/bindings/python.h"
#include "core/framework/autograd/node.h"

namespace dragon::python {

/// A Python object that C++ may let go on any thread.
class Held {
 public:
  explicit Held(py::object object) : object_(object.release().ptr()) {}
  Held(const Held&) = delete;
  ~Held() {
    if (!object_ || !Py_IsInitialized() || LockIsGone()) return;
    WithGil gil;
    Py_DECREF(object_);
  }
  py::handle get() const { return object_; }
  int Visit(visitproc visit, void* arg) const {
    Py_VISIT(object_);
    return 0;
  }

 private:
  PyObject* object_;
};

/// A C++ object that holds Python's.
class Holder {
 public:
  virtual ~Holder() = default;
  virtual int Visit(visitproc visit, void* arg) const = 0;
};

/// Visit what is held through `impl` by the caller, a Python object, alone: what others hold as well may be alive
/// without it, and is left out. Long histories are followed a part of the way; what is not seen is not collected.
int VisitHeld(const TensorImpl* impl, visitproc visit, void* arg);
int VisitHeld(const Node* node, visitproc visit, void* arg);
/// Let go of what VisitHeld sees, in a tensor that nobody can reach any more.
void ClearHeld(TensorImpl* impl);

}  // namespace dragon::python
