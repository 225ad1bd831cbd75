// KPLRecord files, seen from Python.
#include <algorithm>
#include <numeric>
#include <optional>

#include "core/bindings/python.h"
#include "core/bindings/record_reading.h"
#include "core/io/record_file.h"

namespace dragon::python {

namespace {

py::bytes PlacesAsBytes(const std::vector<RecordPlace>& places) {
  return py::bytes(reinterpret_cast<const char*>(places.data()), places.size() * sizeof(RecordPlace));
}

std::vector<size_t> OrderOfPlaces(const std::vector<RecordPlace>& places) {
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto by_place = [&](size_t a, size_t b) { return places[a].offset < places[b].offset; };
  if (!std::is_sorted(order.begin(), order.end(), by_place)) std::stable_sort(order.begin(), order.end(), by_place);
  return order;
}

/// (values in the order of their places, None), or (None, (what is wrong, where)).
py::tuple ReadValues(py::object source, uint64_t file_size, py::bytes pairs, uint8_t kind, py::object unpack) {
  const auto places = PlacesOf(pairs);
  const auto order = OrderOfPlaces(places);
  std::vector<RecordPlace> sorted(places.size());
  for (size_t i = 0; i < order.size(); ++i) sorted[i] = places[order[i]];
  const auto bytes = SourceOf(source);
  py::list values(places.size());
  RecordMemory memory;
  try {
    for (size_t first = 0; first < sorted.size();) {
      const std::span<const RecordPlace> rest(sorted.data() + first, sorted.size() - first);
      const size_t count = RecordBlock::CountTogether(rest);
      std::optional<RecordBlock> block;
      {
        const WithoutGil free;
        block.emplace(*bytes, file_size, rest.first(count), &memory);
      }
      for (size_t i = 0; i < count; ++i) {
        // The list is new, and nobody else has it: each place is filled once.
        PyList_SET_ITEM(values.ptr(), static_cast<Py_ssize_t>(order[first + i]),
                        ValueOf(block->records()[i], memory, kind, unpack).release().ptr());
      }
      first += count;
    }
  } catch (const RecordTrouble& trouble) {
    return py::make_tuple(py::none(), py::make_tuple(trouble.what, trouble.offset));
  }
  return py::make_tuple(values, py::none());
}

py::tuple ScanFile(py::object source, uint64_t file_size, uint64_t start) {
  const auto bytes = SourceOf(source);
  RecordScan found;
  {
    const WithoutGil free;
    found = ScanRecords(*bytes, file_size, start);
  }
  return py::make_tuple(PlacesAsBytes(found.samples), PlacesAsBytes(found.lost));
}

/// (kind, bytes of the frame without the zeros after it), or None.
py::object HeadAt(py::bytes bytes, uint64_t offset) {
  const std::string_view view = bytes;
  RecordHead head;
  if (view.size() < RecordHead::kSize) return py::none();
  if (!ReadRecordHead(reinterpret_cast<const uint8_t*>(view.data()), offset, &head)) return py::none();
  if (head.stored > UINT64_MAX - RecordHead::kSize) return py::none();
  return py::make_tuple(static_cast<int>(head.kind), head.FrameSize());
}

}  // namespace

void RegisterRecordFiles(py::module_& m) {
  RegisterRecordWalk(m);
  m.def("kpl_read", ReadValues,
        "The values of the records at some places of a file, a descriptor or a function of place and size: (values, "
        "None), or (None, (what is wrong, where)).",
        py::arg("source"), py::arg("size"), py::arg("places"), py::arg("kind"), py::arg("unpack"));
  m.def("kpl_scan", ScanFile, "The places of samples found without an index, and of what is lost between them.",
        py::arg("source"), py::arg("size"), py::arg("start"));
  m.def("kpl_head", HeadAt, "(kind, size) of the frame whose head stands at some place of a file, or None.",
        py::arg("bytes"), py::arg("offset"));
}

}  // namespace dragon::python
