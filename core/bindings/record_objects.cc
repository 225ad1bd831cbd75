// Values of records as Python's objects: lists, dicts, texts, NumPy's arrays.
#include "core/bindings/record_objects.h"

#include <pybind11/numpy.h>

#include <cstring>
#include <string>

#include "core/bindings/forget_error.h"
#include "core/io/record_file.h"
#include "core/io/record_value.h"

namespace dragon::python {

namespace {

// Smaller arrays are copied: a label that is kept must not keep the picture it was read with.
constexpr size_t kSmallestView = 4096;

/// NumPy's dtypes by their letters, which the reader of values has checked.
const py::dtype& RecordDType(std::string_view letters) {
  // Never freed: the interpreter may be gone when they would be.
  struct Known {
    std::string letters;
    py::dtype dtype;
  };
  constexpr size_t kKept = 64;
  static auto* kept = new Known[kKept];
  Known& known = kept[std::hash<std::string_view>()(letters) % kKept];
  if (known.letters != letters) known = {std::string(letters), py::dtype(std::string(letters))};
  return known.dtype;
}

/// The text of a key of a dict: the same few come in every record, so those of before are kept.
PyObject* KeptKey(std::span<const uint8_t> bytes) {
  struct Key {
    std::string bytes;
    PyObject* text = nullptr;
  };
  constexpr size_t kLongest = 32, kKept = 64;
  static auto* kept = new Key[kKept];
  const char* data = reinterpret_cast<const char*>(bytes.data());
  if (bytes.size() > kLongest)
    return PyUnicode_DecodeUTF8(data, static_cast<Py_ssize_t>(bytes.size()), "surrogatepass");
  const std::string_view view(data, bytes.size());
  Key& key = kept[std::hash<std::string_view>()(view) % kKept];
  if (!key.text || key.bytes != view) {
    PyObject* text = PyUnicode_DecodeUTF8(data, static_cast<Py_ssize_t>(bytes.size()), "surrogatepass");
    if (!text) return nullptr;
    Py_XDECREF(key.text);
    key.text = text;
    key.bytes = view;
  }
  return Py_NewRef(key.text);
}

class RecordObjects {
 public:
  RecordObjects(std::span<const uint8_t> body, const std::shared_ptr<uint8_t[]>& memory)
      : reader_(body), memory_(memory) {}

  py::object Read() {
    py::object made = Make(0);
    if (!reader_.done()) reader_.Fail("bytes after the value of a record");
    return made;
  }

 private:
  py::object Make(int depth, bool is_key = false) {
    RecordValue value;
    reader_.Next(&value);
    const char* bytes = reinterpret_cast<const char*>(value.bytes.data());
    const auto size = static_cast<Py_ssize_t>(value.bytes.size());
    switch (value.tag) {
      case RecordTag::kNone:
        return py::none();
      case RecordTag::kFalse:
      case RecordTag::kTrue:
        return py::bool_(value.tag == RecordTag::kTrue);
      case RecordTag::kInteger:
        return py::int_(value.integer);
      case RecordTag::kLargeInteger:
        return py::module_::import("builtins")
            .attr("int")
            .attr("from_bytes")(py::bytes(bytes, size), "little", py::arg("signed") = true);
      case RecordTag::kReal:
        return py::float_(value.real);
      case RecordTag::kComplex:
        return Own(PyComplex_FromDoubles(value.real, value.imaginary));
      case RecordTag::kText:
        return Text(is_key ? KeptKey(value.bytes) : PyUnicode_DecodeUTF8(bytes, size, "surrogatepass"));
      case RecordTag::kBytes:
        return py::bytes(bytes, size);
      case RecordTag::kList:
      case RecordTag::kTuple:
      case RecordTag::kDict:
        if (depth == RecordValueReader::kDeepest) reader_.Fail("values that lie too deep in one another");
        return value.tag == RecordTag::kDict    ? Dict(value.count, depth)
               : value.tag == RecordTag::kTuple ? py::object(py::tuple(List(value.count, depth)))
                                                : List(value.count, depth);
      default:
        return Array(value);
    }
  }
  py::object Own(PyObject* object) {
    if (!object) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(object);
  }
  py::object Text(PyObject* text) {
    if (text) return Own(text);
    PyErr_Clear();
    reader_.Fail("text that is no UTF-8");
  }
  py::object List(uint64_t count, int depth) {
    // Not made of that many places at once: each value takes a byte in the file, and would take eight here.
    py::list list;
    for (uint64_t i = 0; i < count; ++i) {
      const py::object item = Make(depth + 1);
      if (PyList_Append(list.ptr(), item.ptr())) throw py::error_already_set();
    }
    return list;
  }
  py::object Dict(uint64_t count, int depth) {
    py::dict dict;
    for (uint64_t i = 0; i < count; ++i) {
      py::object key = Make(depth + 1, /*is_key=*/true);
      py::object value = Make(depth + 1);
      if (PyDict_SetItem(dict.ptr(), key.ptr(), value.ptr())) {
        ForgetError();  // a list or an array
        reader_.Fail("a key that dicts do not take");
      }
    }
    return dict;
  }
  py::object Array(const RecordValue& value) {
    auto& numpy = py::detail::npy_api::get();
    const bool is_view = IsView(value);
    static_assert(sizeof(Py_intptr_t) == sizeof(int64_t), "sizes of axes are handed over as they are");
    // Of more axes than this NumPy has it raises a ValueError.
    py::object array = Own(numpy.PyArray_NewFromDescr_(
        numpy.PyArray_Type_, RecordDType(value.dtype).inc_ref().ptr(), static_cast<int>(value.shape.size()),
        reinterpret_cast<const Py_intptr_t*>(value.shape.data()), nullptr,
        is_view ? const_cast<uint8_t*>(value.bytes.data()) : nullptr,
        is_view ? py::detail::npy_api::NPY_ARRAY_WRITEABLE_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_ : 0, nullptr));
    if (is_view) {
      if (numpy.PyArray_SetBaseObject_(array.ptr(), Keeper().inc_ref().ptr())) throw py::error_already_set();
    } else if (!value.bytes.empty()) {
      std::memcpy(py::detail::array_proxy(array.ptr())->data, value.bytes.data(), value.bytes.size());
    }
    return value.tag == RecordTag::kArray ? array : py::object(array[py::tuple()]);
  }
  bool IsView(const RecordValue& value) const {
    return memory_ && value.tag == RecordTag::kArray && value.bytes.size() >= kSmallestView;
  }
  /// One object for all arrays of a record.
  py::handle Keeper() {
    if (!keeper_) {
      keeper_ = py::capsule(new std::shared_ptr<uint8_t[]>(memory_),
                            [](void* memory) { delete static_cast<std::shared_ptr<uint8_t[]>*>(memory); });
    }
    return keeper_;
  }

  RecordValueReader reader_;
  const std::shared_ptr<uint8_t[]>& memory_;
  py::object keeper_;
};

}  // namespace

py::object ObjectOfRecord(std::span<const uint8_t> body, const std::shared_ptr<uint8_t[]>& memory) {
  return RecordObjects(body, memory).Read();
}

}  // namespace dragon::python
