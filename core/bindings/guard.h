// What guards expect of tensors, and of the entries of Python's containers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/bindings/python.h"
#include "core/runtime/tensor_form.h"

namespace dragon::python {

// Objects are borrowed here: the guards keep them, where the garbage collector sees them.

/// What is expected of an entry.
enum class Mode : int8_t { kAny, kSame, kEqual, kAbsent, kType };
struct Check {
  Mode mode;
  PyObject* expected;
};

/// Equal as a constant of a program: 0.0 is not -0.0, 1 is not True, and a tensor is only equal to itself.
bool Equal(PyObject* a, PyObject* b);
bool Matches(const Check& check, PyObject* now);

/// A tensor's form, and its class in Python.
struct ObjectForm : TensorForm {
  explicit ObjectForm(PyObject* object) : TensorForm(TensorIn(object, "Guards")), type(Py_TYPE(object)) {}
  bool Fits(PyObject* object) const { return Py_TYPE(object) == type && TensorForm::Fits(SelfTensor(object)); }
  /// The first difference, for people.
  std::string Difference(PyObject* object) const;

  PyTypeObject* type;
};

/// A container that is reachable from a function, and what its entries should be.
struct GuardPlace {
  enum Kind { kDict, kKeys, kType, kList, kCell, kAttribute, kSet, kArray, kCall, kTensor, kReleased };
  Kind kind;
  PyObject* container;
  std::vector<PyObject*> keys;
  std::vector<Check> checks;
  uint64_t version = 0;  ///< a dictionary's, when it was last seen to be right
  std::unique_ptr<ObjectForm> form;
};

/// What an argument looks like: a tensor's form, a constant, or a structure of such.
struct Watched {
  enum Kind { kTensor, kConstant, kTuple, kList, kDict, kFields };
  Kind kind;
  std::string path;
  PyTypeObject* type = nullptr;
  Check check{};
  std::vector<PyObject*> keys;
  std::vector<Watched> children;
  std::unique_ptr<ObjectForm> form;
};

/// A number that no other state of any such container has, or 0.
uint64_t VersionOf(const GuardPlace& place);

inline constexpr int kFits = -1;
inline constexpr int kSizeChanged = -2;

/// The first check that fails: its number, kSizeChanged, or kFits.
int FirstFailure(const GuardPlace& place, int first = 0);

}  // namespace dragon::python
