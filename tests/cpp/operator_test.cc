// Facts about operators: told with words that must be right, and found where they are asked for.
#include "core/framework/op.h"
#include "core/framework/writes.h"
#include "tests/cpp/check.h"

namespace dragon {

TEST(FactsNameArgumentsThatAreThere) {
  Operator& op =
      DefineOp("test_told(Tensor x, Tensor y, Tensor?! mean, float alpha, bool training, int axis) -> Tensor");
  CHECK_THROWS(op.WritesWhen("trainin"), ValueError, "trainin");
  CHECK_THROWS(op.WritesWhen("axis"), ValueError, "of type int");
  CHECK_THROWS(op.WritesWhen("x"), ValueError, "of type Tensor");
  CHECK_THROWS(op.Commutes("beta"), ValueError, "beta");
  CHECK_THROWS(op.Commutes("axis"), ValueError, "axis");
  CHECK_THROWS(op.Batches(Batching::kRows, "axes"), ValueError, "axes");
  CHECK_THROWS(op.Batches(Batching::kRows, "alpha"), ValueError, "alpha");
  CHECK_THROWS(op.Batches(Batching::kRows, "axis", "z"), ValueError, "z");
  CHECK_THROWS(op.Batches(Batching::kSamples, "axis"), ValueError, "kRows");
}

TEST(FactsAreKeptByPlace) {
  Operator& op =
      DefineOp("test_kept(Tensor x, Tensor y, Tensor?! mean, float alpha, bool training, int axis) -> Tensor");
  op.WritesWhen("training").Commutes("alpha").Batches(Batching::kRows, "axis", "y, mean").Autocast(Precision::kLower);
  CHECK(op.writes_when == 1 && op.commutes && op.commutes_factor == 0);
  CHECK(op.batch_axes == 4 && op.batch_shared == 6 && op.autocast == Precision::kLower);
  const Value training[] = {Value(1.0), Value(true), Value(int64_t{0})};
  const Value still[] = {Value(1.0), Value(false), Value(int64_t{0})};
  CHECK(Writes(op, training) && !Writes(op, still));
}

TEST(FactsThatCannotBeAreRefused) {
  CHECK_THROWS(DefineOp("test_alone(Tensor x) -> Tensor").Commutes(), ValueError, "two inputs");
  CHECK_THROWS(DefineOp("test_pure(Tensor x, bool training) -> Tensor").WritesWhen("training"), ValueError, "writes");
}

}  // namespace dragon

TEST_MAIN()
