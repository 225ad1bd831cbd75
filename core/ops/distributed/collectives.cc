// What the processes of a group do together. All of them make the same calls in the same order. Numbers travel in
// row-major order, whatever the layout of tensors.
#include "core/ops/distributed/group.h"

namespace dragon {
namespace {

[[maybe_unused]] const auto& all_reduce =
    DefineOp("all_reduce(Tensor x, int group, str reduction=\"sum\") -> Tensor")
        .Doc("The reduction over all ranks of a group, on all of them; the same bits on each.")
        .Meets()
        .Edits()
        .Infers(InferRows)
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous("x");
          RowMajor y(r);
          const auto group = GroupInTurn(r);
          group->AllReduce(BytesOf(x), y.bytes(), ElementsOf(x), ReductionOf(r, *group));
          y.Deliver();
        })
        .Gradient("", [](Grad& g) {
          const std::string& reduction = g.String("reduction");
          CheckLinear("all_reduce", reduction);
          g.dx("x", Op<"all_reduce">(g.dy(), g.Int("group"), reduction));
        });

[[maybe_unused]] const auto& all_gather =
    DefineOp("all_gather(Tensor x, int group) -> Tensor")
        .Doc("The tensors of all ranks one after the other along the first axis, on all ranks.")
        .Meets()
        .Infers(InferGathered)
        .Runs([](Run& r) {
          const auto group = GroupInTurn(r);
          const Tensor x = r.Contiguous("x");
          RowMajor y(r);
          const Elements each = ElementsOf(x);
          group->AllGather(BytesOf(x), PartsOf(y.bytes(), each.bytes(), group->size()), each);
          y.Deliver();
        })
        .Gradient("", [](Grad& g) {
          const Tensor dx = Op<"reduce_scatter">(g.dy(), g.Int("group"), std::string("sum"));
          g.dx("x", g.x_shape("x").size() == 0 ? Op<"reshape">(dx, Dims{}) : dx);
        });

[[maybe_unused]] const auto& reduce_scatter =
    DefineOp("reduce_scatter(Tensor x, int group, str reduction=\"sum\") -> Tensor")
        .Doc("The reduction over all ranks, of which each gets its part along the first axis.")
        .Meets()
        .Infers(InferDealt)
        .Runs([](Run& r) {
          const auto group = GroupInTurn(r);
          const Tensor x = r.Contiguous("x");
          RowMajor y(r);
          const Elements each = ElementsOf(y.rows());
          group->ReduceScatter(PartsOf(BytesOf(x), each.bytes(), group->size()), y.bytes(), each,
                               ReductionOf(r, *group));
          y.Deliver();
        })
        .Gradient("", [](Grad& g) {
          const std::string& reduction = g.String("reduction");
          const auto group = GroupOf("reduce_scatter", g.Int("group"));
          CheckLinear("reduce_scatter", reduction);
          const Tensor dx = Op<"all_gather">(g.dy(), g.Int("group"));
          g.dx("x", reduction == "sum" ? dx : Op<"div">(dx, static_cast<double>(group->size())));
        });

[[maybe_unused]] const auto& broadcast_from =
    DefineOp("broadcast_from(Tensor x, int group, int root) -> Tensor")
        .Doc("The tensor of one rank, on all ranks.")
        .Meets()
        .Edits()
        .Infers(InferRows)
        .Runs([](Run& r) {
          const auto group = GroupInTurn(r);
          const int root = RootOf(r, *group);
          RowMajor y(r);
          if (group->rank() == root && BytesOf(y.rows()) != BytesOf(r.x("x"))) OpInto<"copy">(y.rows(), r.x("x"));
          group->Broadcast(y.bytes(), ElementsOf(y.rows()), root);
          y.Deliver();
        })
        .Gradient("", [](Grad& g) {
          const auto group = GroupOf("broadcast_from", g.Int("group"));
          const Tensor sum = Op<"reduce_to">(g.dy(), g.Int("group"), g.Int("root"), std::string("sum"));
          g.dx("x", group->rank() == g.Int("root") ? sum : Op<"zeros_like">(sum));
        });

[[maybe_unused]] const auto& reduce_to =
    DefineOp("reduce_to(Tensor x, int group, int root, str reduction=\"sum\") -> Tensor")
        .Doc("The reduction over all ranks, on one of them; the others get what they gave.")
        .Meets()
        .Edits()
        .Infers(InferRows)
        .Runs([](Run& r) {
          const auto group = GroupInTurn(r);
          const int root = RootOf(r, *group);
          const Tensor x = r.Contiguous("x");
          RowMajor y(r);
          group->Reduce(BytesOf(x), y.bytes(), ElementsOf(x), ReductionOf(r, *group), root);
          if (group->rank() != root && BytesOf(x) != y.bytes()) OpInto<"copy">(y.rows(), x);
          y.Deliver();
        })
        .Gradient("", [](Grad& g) {
          const std::string& reduction = g.String("reduction");
          if (reduction != "sum") {
            throw NotImplementedError("reduce_to")
                .Got("the gradient of the reduction '", reduction, "'")
                .Expected("that of sum");
          }
          g.dx("x", Op<"broadcast_from">(g.dy(), g.Int("group"), g.Int("root")));
        });

}  // namespace
}  // namespace dragon
