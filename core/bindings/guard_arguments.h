// What the arguments of a captured call looked like, and what one check finds among the arguments of another.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/bindings/guard.h"

namespace dragon::python {

/// (number of a tensor among the arguments, axis) of each.
using Axes = std::vector<std::pair<int, int>>;

/// Bit i: axis i of tensor `number`, which has `ndim` axes, is among these.
uint64_t OpenAxesOf(const Axes& axes, size_t number, int ndim);

/// What one check finds among the arguments. It holds what it looks at, since Python may run meanwhile, in this thread
/// or in others, and let go of it.
struct Arguments {
  std::vector<py::object> tensors;
  const Axes* axes = nullptr;  ///< open instead of those of the forms
  bool explains = false;       ///< whether the first difference is put into words
  std::string difference;

  bool Say(const Watched& argument, const std::string& text);
  /// Whether an argument looks like this; the tensors in it are noted.
  bool Take(const Watched& argument, PyObject* now);

 private:
  bool Fits(const ObjectForm& form, PyObject* now) const;
  static std::string Text(PyObject* object);
  bool SaySize(const Watched& argument, Py_ssize_t size);
  bool TakeItems(const Watched& argument, PyObject* now);
  bool TakeEntries(const Watched& argument, PyObject* now);
};

}  // namespace dragon::python
