// Records of files and the examples in them, seen from Python.
#include <pybind11/numpy.h>

#include <algorithm>
#include <deque>

#include "core/bindings/python.h"
#include "core/io/crc32c.h"
#include "core/io/example.h"
#include "core/io/records.h"

namespace dragon::python {

namespace {

/// A contiguous Python buffer, held while its bytes are read.
class Bytes {
 public:
  explicit Bytes(py::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE)) throw py::error_already_set();
  }
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  const uint8_t* data() const { return static_cast<const uint8_t*>(view_.buf); }
  size_t size() const { return static_cast<size_t>(view_.len); }
  operator std::span<const uint8_t>() const { return {data(), size()}; }  // NOLINT: bytes are bytes

 private:
  Py_buffer view_;
};

py::bytes RawIntegers(const std::vector<int64_t>& numbers) {
  return py::bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t));
}

py::object ValuesOf(const ExampleColumn& column) {
  if (column.kind() == ExampleColumn::Kind::kFloat) return py::bytes(column.floats());
  if (column.kind() == ExampleColumn::Kind::kInt) return RawIntegers(column.integers());
  py::list texts;
  for (std::string_view text : column.texts()) texts.append(py::bytes(text.data(), text.size()));
  return texts;
}

py::tuple ReadColumn(const py::object& given, std::string name, uint32_t kind) {
  const py::tuple records = TupleOf(given, "example_column");
  if (kind < 1 || kind > 3) throw ValueError("example_column").Got("kind ", kind).Expected("1, 2 or 3");
  ExampleColumn column(std::move(name), static_cast<ExampleColumn::Kind>(kind));
  std::deque<Bytes> held;  // the column looks into them until its values are taken
  std::vector<int64_t> counts;
  counts.reserve(records.size());
  for (py::handle record : records) counts.push_back(column.AddExample(held.emplace_back(record)));
  return py::make_tuple(RawIntegers(counts), ValuesOf(column));
}

/// {name: a list of bytes, or an array of numbers, or None}; or None if the bytes are no example.
py::object ReadExample(py::object record) {
  const Bytes bytes(record);
  std::vector<ExampleFeature> features;
  if (!ListFeatures(bytes, &features)) return py::none();
  py::dict made;
  for (const ExampleFeature& feature : features) {
    PyObject* name = PyUnicode_DecodeUTF8(feature.name.data(), static_cast<Py_ssize_t>(feature.name.size()), nullptr);
    if (!name) {
      PyErr_Clear();
      return py::none();
    }
    const auto key = py::reinterpret_steal<py::str>(name);
    made[key] = py::none();
    if (!feature.kind) continue;
    ExampleColumn column("", static_cast<ExampleColumn::Kind>(feature.kind));
    if (column.AddList(feature.list) < 0) return py::none();
    if (column.kind() == ExampleColumn::Kind::kFloat) {
      const std::string& floats = column.floats();
      py::array_t<float> array(static_cast<py::ssize_t>(floats.size() / sizeof(float)));
      std::copy_n(floats.data(), floats.size(), reinterpret_cast<char*>(array.mutable_data()));
      made[key] = array;
    } else if (column.kind() == ExampleColumn::Kind::kInt) {
      const auto& integers = column.integers();
      made[key] = py::array_t<int64_t>(static_cast<py::ssize_t>(integers.size()), integers.data());
    } else {
      made[key] = ValuesOf(column);
    }
  }
  return made;
}

/// (records, how many bytes they take, what stopped it: 0 the end, 1 a broken header, 2 a broken record).
py::tuple SplitBytes(py::object data, bool check) {
  Bytes bytes(data);
  const RecordSplit split = SplitRecords(bytes, check);
  py::list records;
  for (std::span<const uint8_t> record : split.records) {
    records.append(py::bytes(reinterpret_cast<const char*>(record.data()), record.size()));
  }
  return py::make_tuple(records, split.size, static_cast<int>(split.trouble));
}

}  // namespace

void RegisterRecords(py::module_& m) {
  m.def(
      "crc32c",
      [](py::object data) {
        Bytes bytes(data);
        return Crc32c(bytes.data(), bytes.size());
      },
      "The CRC-32C of bytes.", py::arg("data"));
  m.def("split_records", SplitBytes, "The whole TFRecords at the start of bytes.", py::arg("data"),
        py::arg("check") = true);
  m.def("read_example", ReadExample,
        "All features of a serialized example: a list of bytes, an array of float32 or int64 numbers, or None for "
        "each; None if the bytes are no example.",
        py::arg("record"));
  m.def("example_column", ReadColumn,
        "The values of one feature of serialized examples: how many each has (-1 without it, -2 of another kind, -3 "
        "broken), and all values: a list of bytes, or the bytes of float32 or int64 numbers.",
        py::arg("records"), py::arg("name"), py::arg("kind"));
}

}  // namespace dragon::python
