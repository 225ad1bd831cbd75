// Graphs' bytes under the sanitizers: what is damaged is an error, and nothing is read beyond its end.
#include <filesystem>
#include <random>
#include <string>

#include "core/framework/graph_body.h"
#include "core/framework/graph_proto.h"
#include "core/framework/op.h"
#include "core/proto/wire.h"
#include "tests/cpp/check.h"

namespace dragon {

ValueInfo InfoOf(Dims shape, const std::string& name) {
  ValueInfo info;
  info.shape = std::move(shape);
  info.name = name;
  return info;
}

/// A graph with a constant, an update, a list, symbols, every easy kind of attribute, and a graph within.
Graph MakeGraph() {
  Graph body;
  const ValueId inner = body.AddInput(InfoOf({2, 3}, "inner"));
  body.outputs = {body.AddCall(GetOp("mul"), {inner, inner}, {}).outputs[0]};
  Graph graph;
  graph.symbols = {"batch"};
  ValueInfo info = InfoOf({2, 3}, "x");
  info.symbolic = {{0, Expression::Of(0, 2, 1)}};
  const ValueId x = graph.AddInput(info);
  const ValueId half = graph.AddConstant(Tensor::Scalar(Value(0.5), DType::kFloat32), "half");
  const ValueId y = graph.AddCall(GetOp("add"), {x, half}, {Value(1.5)}).outputs[0];
  const ValueId joined = graph.AddCall(GetOp("cat"), {x, y, x}, {Value(1)}, {3}).outputs[0];
  const ValueId flat = graph.AddCall(GetOp("reshape"), {joined}, {Value(Dims{-1})}).outputs[0];
  graph.AddCall(GetOp("cast"), {flat}, {Value(DType::kFloat16)});
  graph.AddCall(GetOp("fused"), {x}, {Value(Ref<Object>(MakeRef<GraphBody>(body)))}, {1});
  graph.outputs = {flat};
  graph.updates = {{0, y}};
  return graph;
}

std::span<const uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(BytesComeBackAsTheyWere) {
  const std::string bytes = EncodeGraph(MakeGraph());
  const Graph again = DecodeGraph(BytesOf(bytes));
  CHECK(EncodeGraph(again) == bytes);
  CHECK(again.str() == MakeGraph().str());
}

TEST(FilesComeBackAsTheyWere) {
  const std::string name = (std::filesystem::temp_directory_path() / "dragon_graph_test").string();
  for (bool map : {false, true}) {
    SaveGraph(MakeGraph(), name);
    const Graph again = LoadGraph(name, map);
    CHECK(EncodeGraph(again) == EncodeGraph(MakeGraph()));
  }
  std::filesystem::remove(name);
}

TEST(DamagedBytesAreErrors) {
  const std::string whole = EncodeGraph(MakeGraph());
  std::mt19937 random(7);
  int graphs = 0, errors = 0;
  for (int round = 0; round < 50000; ++round) {
    // The copy is as long as need be, so that a read beyond it is seen.
    std::string bytes = whole;
    for (int count = 1 + random() % 3; count > 0 && !bytes.empty(); --count) {
      const size_t place = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[place] ^= static_cast<char>(1 << random() % 8);
          break;
        case 1:
          bytes.resize(place);
          break;
        case 2:
          bytes[place] = static_cast<char>(random());
          break;
        default:
          bytes.insert(place, whole.substr(random() % whole.size(), random() % 20));
      }
    }
    bytes.shrink_to_fit();
    try {
      DecodeGraph(BytesOf(bytes));
      ++graphs;
    } catch (const Error& error) {
      ++errors;
    }
  }
  CHECK(graphs > 100 && errors > 10000);
}

TEST(TextsAreUtf8) {
  for (const char* good : {"", "a", "ß", "✓", "😀", "\xf4\x8f\xbf\xbf"}) CHECK(wire::IsUtf8(good));
  for (const char* bad : {"\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x9c", "\xff"}) {
    CHECK(!wire::IsUtf8(bad));
  }
}

}  // namespace dragon

TEST_MAIN()
