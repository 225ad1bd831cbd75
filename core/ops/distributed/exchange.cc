// One rank collects or hands out, or each sends something to each.
#include "core/ops/distributed/group.h"
#include "core/ops/pointwise.h"

namespace dragon {
namespace {

/// Rows that each rank is to send, or to get, and the bytes of one.
std::vector<Communicator::Piece> RowPieces(const char* who, const char* argument, const Tensor& x, char* first,
                                           const Value& given, int ranks) {
  const int64_t rows = x.ndim() == 0 ? 1 : x.shape()[0];
  const int64_t row = rows == 0 ? 0 : x.numel() / rows * ItemSize(x.dtype());
  Dims counts;
  if (given.is_none()) {
    for (int q = 0; q < ranks; ++q) counts.push_back(rows / ranks);
  } else {
    counts = given.ints();
  }
  int64_t sum = 0;
  bool positive = true;
  for (const int64_t count : counts) sum += count, positive = positive && count >= 0;
  if (counts.size() != ranks || sum != rows || !positive) {
    throw ValueError(who)
        .Got(argument, " ", counts, " for ", rows, " rows and ", ranks, " ranks")
        .Expected("a number of rows for each rank, all rows together");
  }
  std::vector<Communicator::Piece> pieces;
  for (const int64_t count : counts) {
    pieces.push_back({first, count * row});
    first += count * row;
  }
  return pieces;
}

void InferExchanged(Infer& i) {
  Dims shape = i.x("x").shape();
  if (shape.size() == 0) throw ValueError(i.name()).Got("a number").Expected("a tensor with rows");
  if (i.Given("receives")) {
    shape[0] = 0;
    for (const int64_t count : i.Ints("receives")) shape[0] += count;
  }
  i.y(0, shape, i.x("x").dtype());
}

[[maybe_unused]] const auto& all_to_all =
    DefineOp("all_to_all(Tensor x, int group, int[]? sends=None, int[]? receives=None) -> Tensor")
        .Doc("Rows of x to each rank, and rows from each rank one after the other; evenly, or as many as is said.")
        .Meets()
        .Infers(InferExchanged)
        .Runs([](Run& r) {
          const auto group = GroupInTurn(r);
          const Tensor x = r.Contiguous("x");
          RowMajor y(r);
          const auto ins =
              RowPieces("all_to_all", "sends", x, const_cast<char*>(BytesOf(x)), r.attr("sends"), group->size());
          const auto outs = RowPieces("all_to_all", "receives", y.rows(), y.bytes(), r.attr("receives"), group->size());
          group->AllToAll(ins, outs);
          y.Deliver();
        })
        .Gradient("", [](Grad& g) {
          g.dx("x", Op<"all_to_all">(g.dy(), g.Int("group"), g.attr("receives"), g.attr("sends")));
        });

[[maybe_unused]] const auto& gather_to =
    DefineOp("gather_to(Tensor x, int group, int root) -> Tensor")
        .Doc(
            "The tensors of all ranks one after the other along the first axis, on one of them; no rows on the others.")
        .Meets()
        .Infers([](Infer& i) {
          const auto group = Group(i);
          InferGathered(i);
          if (RootOf(i, *group) != group->rank()) i.outputs[0].shape[0] = 0;
        })
        .Runs([](Run& r) {
          const auto group = GroupInTurn(r);
          const int root = RootOf(r, *group);
          const Tensor x = r.Contiguous("x");
          RowMajor y(r);
          const Elements each = ElementsOf(x);
          const int parts = group->rank() == root ? group->size() : 0;
          group->Gather(BytesOf(x), PartsOf(y.bytes(), each.bytes(), parts), each, root);
          y.Deliver();
        })
        .Gradient("", [](Grad& g) {
          const auto group = GroupOf("gather_to", g.Int("group"));
          const Dims& shape = g.x_shape("x");
          const Dims rows = shape.size() == 0 ? Dims{1} : shape;
          const Tensor dx = Op<"scatter_from">(g.dy(), g.Int("group"), g.Int("root"), rows);
          g.dx("x", Op<"reshape">(dx, shape));
        });

[[maybe_unused]] const auto& scatter_from =
    DefineOp("scatter_from(Tensor x, int group, int root, int[]? shape=None) -> Tensor")
        .Doc(
            "To each rank its part of one rank's x along the first axis. What others give as x has its dtype, and says "
            "the shape of a part where `shape` does not.")
        .Meets()
        .Infers([](Infer& i) {
          const auto group = Group(i);
          if (i.Given("shape")) {
            i.y(0, i.Ints("shape"), i.x("x").dtype());
          } else if (RootOf(i, *group) == group->rank()) {
            InferDealt(i);
          } else {
            InferRows(i);
          }
        })
        .Runs([](Run& r) {
          const auto group = GroupInTurn(r);
          const int root = RootOf(r, *group);
          const Tensor x = r.Contiguous("x");
          RowMajor y(r);
          const Elements each = ElementsOf(y.rows());
          const bool mine = group->rank() == root;
          if (mine && x.numel() != each.count * group->size()) {
            throw ValueError("scatter_from")
                .Got("parts of ", each.count, " elements of a tensor of ", x.numel())
                .Expected("one for each of ", group->size(), " ranks");
          }
          group->Scatter(PartsOf(BytesOf(x), each.bytes(), mine ? group->size() : 0), y.bytes(), each, root);
          y.Deliver();
        })
        .Gradient("", [](Grad& g) {
          const auto group = GroupOf("scatter_from", g.Int("group"));
          const Tensor all = Op<"gather_to">(g.dy(), g.Int("group"), g.Int("root"));
          const bool mine = group->rank() == g.Int("root");
          g.dx("x", mine ? Op<"reshape">(all, g.x_shape("x")) : Zeros(g, "x"));
        });

}  // namespace
}  // namespace dragon
