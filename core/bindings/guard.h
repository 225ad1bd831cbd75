// What guards expect of tensors, and of the entries of Python's containers.
#pragma once

#include <cstring>
#include <memory>
#include <sstream>

#include "core/bindings/python.h"
#include "core/framework/autograd/meta.h"

namespace dragon::python {

// Objects are borrowed: the Python side keeps them in a list that the garbage collector can see into.

/// What is expected of an entry.
enum class Mode : int8_t { kAny, kSame, kEqual, kAbsent, kType };
struct Check {
  Mode mode;
  PyObject* expected;
};

/// Equal as a constant of a program: 0.0 is not -0.0, 1 is not True, and a tensor is only equal to itself.
inline bool Equal(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b) || IsTensor(a)) return false;
  if (PyFloat_Check(a)) {
    const double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
  if (PyComplex_Check(a)) {
    const Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
  if (PyTuple_Check(a)) {
    const Py_ssize_t size = PyTuple_GET_SIZE(a);
    if (PyTuple_GET_SIZE(b) != size) return false;
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (!Equal(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
    }
    return true;
  }
  const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

inline bool Matches(const Check& check, PyObject* now) {
  switch (check.mode) {
    case Mode::kAny:
      return true;
    case Mode::kSame:
      return now == check.expected;
    case Mode::kEqual:
      return now && Equal(now, check.expected);
    case Mode::kAbsent:
      return !now;
    case Mode::kType:
      return now && reinterpret_cast<PyObject*>(Py_TYPE(now)) == check.expected;
  }
  return false;
}

inline std::string ShapeText(const Dims& dims) {
  std::ostringstream text;
  text << dims;
  return text.str();
}

/// What a graph has taken for granted about a tensor, its numbers apart.
struct TensorForm {
  explicit TensorForm(PyObject* object)
      : type(Py_TYPE(object)), shape(AsTensor(object).shape()), strides(AsTensor(object).strides()) {
    const TensorImpl& impl = *AsTensor(object).impl();
    dtype = impl.dtype;
    offset = impl.offset;
    device = impl.device;
    free_layout = impl.free_layout;
    requires_grad = AsTensor(object).requires_grad();
    leaf = AsTensor(object).is_leaf();
    hooks = Hooks(impl);
    has_grad = HasGrad(impl);
  }

  static size_t Hooks(const TensorImpl& impl) {
    return impl.autograd ? impl.autograd->hooks.size() + impl.autograd->accumulated_hooks.size() : 0;
  }
  static bool HasGrad(const TensorImpl& impl) { return impl.autograd && impl.autograd->grad.defined(); }

  bool Fits(PyObject* object) const {
    if (Py_TYPE(object) != type) return false;
    const Tensor& tensor = AsTensor(object);
    const TensorImpl& impl = *tensor.impl();
    return impl.dtype == dtype && impl.device == device && impl.free_layout == free_layout && FitsShape(impl) &&
           (!fixed_place || impl.offset == offset) && FitsHistory(tensor);
  }

  /// The first difference, for people.
  std::string Difference(PyObject* object) const {
    std::ostringstream text;
    if (!IsTensor(object)) {
      text << "was a tensor, now " << Py_TYPE(object)->tp_name;
      return text.str();
    }
    const Tensor& tensor = AsTensor(object);
    const TensorImpl& impl = *tensor.impl();
    if (Py_TYPE(object) != type) {
      text << "class was " << type->tp_name << ", now " << Py_TYPE(object)->tp_name;
    } else if (impl.dtype != dtype) {
      text << "dtype was " << Name(dtype) << ", now " << Name(impl.dtype);
    } else if (impl.device != device) {
      text << "device was " << device << ", now " << impl.device;
    } else if (!FitsSizes(impl)) {
      text << "shape was " << ShapeText(shape) << ", now " << ShapeText(impl.shape);
    } else if (!FitsShape(impl) || impl.free_layout != free_layout) {
      text << "strides were " << ShapeText(strides) << ", now " << ShapeText(impl.strides);
    } else if (fixed_place && impl.offset != offset) {
      text << "storage_offset was " << offset << ", now " << impl.offset;
    } else if (tensor.requires_grad() != requires_grad) {
      text << "requires_grad was " << Truth(requires_grad) << ", now " << Truth(!requires_grad);
    } else if (requires_grad && tensor.is_leaf() != leaf) {
      text << "is_leaf was " << Truth(leaf) << ", now " << Truth(!leaf);
    } else if (Hooks(impl) != hooks) {
      text << "had " << hooks << " hooks, now " << Hooks(impl);
    } else {
      text << "grad was " << (has_grad ? "there" : "None") << ", now " << (has_grad ? "None" : "there");
    }
    return text.str();
  }

  static const char* Truth(bool value) { return value ? "True" : "False"; }

  PyTypeObject* type;
  Dims shape, strides;
  DType dtype;
  Device device;
  int64_t offset = 0;
  size_t hooks = 0;
  bool free_layout, requires_grad, leaf, has_grad;
  bool watches_grad = false;  ///< whether somebody reads or writes `.grad`
  bool fixed_place = false;   ///< whether somebody looks at the offset
  bool any_batch = false;     ///< the first size may be any from `low` to `high`
  int64_t low = 2, high = 0;

 private:
  bool FitsSizes(const TensorImpl& impl) const {
    if (!any_batch) return impl.shape == shape;
    if (impl.shape.size() != shape.size() || impl.shape[0] < low || impl.shape[0] > high) return false;
    return std::equal(shape.begin() + 1, shape.end(), impl.shape.begin() + 1);
  }
  bool FitsShape(const TensorImpl& impl) const {
    if (!FitsSizes(impl)) return false;
    for (int i = 0; i < shape.size(); ++i) {
      if (impl.strides[i] != strides[i] && shape[i] != 1) return false;  // a size of 1 is never stepped over
    }
    return true;
  }
  bool FitsHistory(const Tensor& tensor) const {
    const TensorImpl& impl = *tensor.impl();
    return tensor.requires_grad() == requires_grad && (!requires_grad || tensor.is_leaf() == leaf) &&
           Hooks(impl) == hooks && (!watches_grad || HasGrad(impl) == has_grad);
  }
};

/// A container that is reachable from a function, and what its entries should be.
struct GuardPlace {
  enum Kind { kDict, kKeys, kType, kList, kCell, kAttribute, kSet, kArray, kCall, kTensor };
  Kind kind;
  PyObject* container;
  std::vector<PyObject*> keys;
  std::vector<Check> checks;
  uint64_t version = 0;  ///< a dictionary's, when it was last seen to be right
  std::unique_ptr<TensorForm> form;
};

/// A number that no other state of any such container has, or 0.
inline uint64_t VersionOf(const GuardPlace& place) {
#if PY_VERSION_HEX < 0x030C0000  // later ones number only what somebody watches
  if (place.kind == GuardPlace::kDict || place.kind == GuardPlace::kKeys) {
    return reinterpret_cast<PyDictObject*>(place.container)->ma_version_tag;
  }
  if (place.kind == GuardPlace::kType) {
    const auto* type = reinterpret_cast<PyTypeObject*>(place.container);
    return PyType_HasFeature(const_cast<PyTypeObject*>(type), Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
  }
#endif
  return 0;
}

inline constexpr int kFits = -1;
inline constexpr int kSizeChanged = -2;

/// The first check that fails: its number, kSizeChanged, or kFits.
inline int FirstFailure(const GuardPlace& place, int first = 0) {
  const int count = static_cast<int>(place.checks.size());
  PyObject* container = place.container;
  switch (place.kind) {
    case GuardPlace::kDict: {
      if (PyDict_GET_SIZE(container) != count) return kSizeChanged;
      PyObject *key, *value;
      Py_ssize_t position = 0;
      for (int i = 0; PyDict_Next(container, &position, &key, &value); ++i) {
        if (i < first) continue;
        if (key != place.keys[i] && !Equal(key, place.keys[i])) return kSizeChanged;
        if (!Matches(place.checks[i], value)) return i;
      }
      return kFits;
    }
    case GuardPlace::kKeys:
    case GuardPlace::kType: {
      PyObject* dict =
          place.kind == GuardPlace::kType ? reinterpret_cast<PyTypeObject*>(container)->tp_dict : container;
      for (int i = first; i < count; ++i) {
        PyObject* now = PyDict_GetItemWithError(dict, place.keys[i]);
        if (!now) PyErr_Clear();
        if (!Matches(place.checks[i], now)) return i;
      }
      return kFits;
    }
    case GuardPlace::kList:
      if (PyList_GET_SIZE(container) != count) return kSizeChanged;
      for (int i = first; i < count; ++i) {
        if (!Matches(place.checks[i], PyList_GET_ITEM(container, i))) return i;
      }
      return kFits;
    case GuardPlace::kCell:
      return first > 0 || Matches(place.checks[0], PyCell_GET(container)) ? kFits : 0;
    case GuardPlace::kAttribute:
      for (int i = first; i < count; ++i) {
        PyObject* now = PyObject_GetAttr(container, place.keys[i]);
        if (!now) PyErr_Clear();
        const bool fits = Matches(place.checks[i], now);
        Py_XDECREF(now);
        if (!fits) return i;
      }
      return kFits;
    case GuardPlace::kSet: {
      const int equal = PyObject_RichCompareBool(container, place.checks[0].expected, Py_EQ);
      if (equal < 0) PyErr_Clear();
      return equal == 1 ? kFits : kSizeChanged;
    }
    case GuardPlace::kArray: {
      Py_buffer view;
      if (PyObject_GetBuffer(container, &view, PyBUF_FULL_RO) < 0) return PyErr_Clear(), kSizeChanged;
      const PyObject* expected = place.checks[0].expected;
      bool fits = view.len == PyBytes_GET_SIZE(expected);
      if (fits && PyBuffer_IsContiguous(&view, 'C')) {
        fits = std::memcmp(view.buf, PyBytes_AS_STRING(expected), view.len) == 0;
      } else if (fits) {
        std::string bytes(view.len, '\0');
        fits = PyBuffer_ToContiguous(bytes.data(), &view, view.len, 'C') == 0 &&
               std::memcmp(bytes.data(), PyBytes_AS_STRING(expected), view.len) == 0;
      }
      PyBuffer_Release(&view);
      return fits ? kFits : kSizeChanged;
    }
    case GuardPlace::kCall: {
      PyObject* now = PyObject_CallNoArgs(container);
      if (!now) PyErr_Clear();
      const bool fits = Matches(place.checks[0], now);
      Py_XDECREF(now);
      return fits ? kFits : 0;
    }
    case GuardPlace::kTensor:
      return place.form->Fits(container) ? kFits : 0;
  }
  return kFits;
}

}  // namespace dragon::python
