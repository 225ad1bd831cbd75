// Comparing the entries of Python's containers with what is expected of them.
#include "core/bindings/guard.h"

#include <cstring>

#include "core/bindings/forget_error.h"

namespace dragon::python {

bool Equal(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b) || IsTensor(a)) return false;
  const auto held = py::reinterpret_borrow<py::object>(a);  // what it is compared by may take it out of where it is
  if (PyFloat_Check(a)) {
    const double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
  if (PyComplex_Check(a)) {
    const Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
  if (PyTuple_Check(a)) {
    const Deeper deeper(" while guards compare tuples");
    Py_ssize_t place = 0;
    return Py_SIZE(a) == Py_SIZE(b) && !AnyItem(a, [&](PyObject* item) { return !Equal(item, ItemAt(b, place++)); });
  }
  const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) ForgetError();
  return equal == 1;
}

bool Matches(const Check& check, PyObject* now) {
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
      return now && Upcast(Py_TYPE(now)) == check.expected;
  }
  return false;
}

std::string ObjectForm::Difference(PyObject* object) const {
  if (!IsTensor(object)) return std::string("was a tensor, now ") + Py_TYPE(object)->tp_name;
  if (Py_TYPE(object) != type) {
    return std::string("class was ") + type->tp_name + ", now " + Py_TYPE(object)->tp_name;
  }
  return TensorForm::Difference(*TensorIf(object));
}

uint64_t VersionOf(const GuardPlace& place) {
#if PY_VERSION_HEX < 0x030C0000  // later ones number only what somebody watches
  if (place.kind == GuardPlace::kDict || place.kind == GuardPlace::kKeys) {
    return Self<PyDictObject>(place.container)->ma_version_tag;
  }
  if (place.kind == GuardPlace::kType) {
    auto* type = Self<PyTypeObject>(place.container);
    return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
  }
#endif
  return 0;
}

namespace {

int FirstInDict(const GuardPlace& place, int first) {
  const int count = static_cast<int>(place.checks.size());
  if (PyDict_GET_SIZE(place.container) != count) return kSizeChanged;
  PyObject *key, *value;
  Py_ssize_t position = 0;
  for (int i = 0; PyDict_Next(place.container, &position, &key, &value); ++i) {
    if (i >= count) return kSizeChanged;  // a comparison has put something in
    if (i < first) continue;
    const auto held = py::reinterpret_borrow<py::object>(key == place.keys[i] ? nullptr : value);
    if (held && !Equal(key, place.keys[i])) return kSizeChanged;
    if (!Matches(place.checks[i], value)) return i;
  }
  return kFits;
}

int FirstAmongKeys(const GuardPlace& place, PyObject* dict, int first) {
  for (int i = first; i < static_cast<int>(place.checks.size()); ++i) {
    PyObject* now = PyDict_GetItemWithError(dict, place.keys[i]);
    if (!now) ForgetError();
    if (!Matches(place.checks[i], now)) return i;
  }
  return kFits;
}

int FirstInList(const GuardPlace& place, int first) {
  const int count = static_cast<int>(place.checks.size());
  if (PyList_GET_SIZE(place.container) != count) return kSizeChanged;
  for (int i = first; i < count; ++i) {
    if (PyList_GET_SIZE(place.container) != count) return kSizeChanged;
    if (!Matches(place.checks[i], ItemAt(place.container, i))) return i;
  }
  return kFits;
}

int FirstAmongAttributes(const GuardPlace& place, int first) {
  for (int i = first; i < static_cast<int>(place.checks.size()); ++i) {
    const auto now = py::reinterpret_steal<py::object>(PyObject_GetAttr(place.container, place.keys[i]));
    if (!now) ForgetError();
    if (!Matches(place.checks[i], now.ptr())) return i;
  }
  return kFits;
}

bool FitsSet(const GuardPlace& place) {
  const int equal = PyObject_RichCompareBool(place.container, place.checks[0].expected, Py_EQ);
  if (equal < 0) ForgetError();
  return equal == 1;
}

bool FitsArray(const GuardPlace& place) {
  Py_buffer view;
  if (PyObject_GetBuffer(place.container, &view, PyBUF_FULL_RO) < 0) return ForgetError(), false;
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
  return fits;
}

bool FitsCall(const GuardPlace& place) {
  const auto now = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(place.container));
  if (!now) ForgetError();
  return Matches(place.checks[0], now.ptr());
}

}  // namespace

int FirstFailure(const GuardPlace& place, int first) {
  switch (place.kind) {
    case GuardPlace::kDict:
      return FirstInDict(place, first);
    case GuardPlace::kKeys:
      return FirstAmongKeys(place, place.container, first);
    case GuardPlace::kType:
      return FirstAmongKeys(place, Self<PyTypeObject>(place.container)->tp_dict, first);
    case GuardPlace::kList:
      return FirstInList(place, first);
    case GuardPlace::kCell:
      return first > 0 || Matches(place.checks[0], PyCell_GET(place.container)) ? kFits : 0;
    case GuardPlace::kAttribute:
      return FirstAmongAttributes(place, first);
    case GuardPlace::kSet:
      return FitsSet(place) ? kFits : kSizeChanged;
    case GuardPlace::kArray:
      return FitsArray(place) ? kFits : kSizeChanged;
    case GuardPlace::kCall:
      return first > 0 || FitsCall(place) ? kFits : 0;
    case GuardPlace::kTensor:
      return first > 0 || place.form->Fits(place.container) ? kFits : 0;
    case GuardPlace::kReleased:
      break;
  }
  return kFits;
}

}  // namespace dragon::python
