#include "operators/program/kernels/shared_kernels.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

GroupKernels written(const std::string& from, const std::string& to, const std::string& type = "float") {
  const auto kernel = "compute_" + to;
  return {"__kernel void " + kernel + "(const " + type + "* " + from + ", float* " + to + ") { " + to +
              "[i] = " + from + "[i]; }\n",
          {{kernel, {"n"}, {"64"}, "0", {from, to}}},
          {},
          {},
          {},
          {},
          {}};
}

class SharedKernelsOf : public testing::Test {
 protected:
  [[nodiscard]] GroupKernels shared(GroupKernels one) { return kernels_.shared(std::move(one), buffers_); }

  std::vector<KernelBuffer> buffers_ = {{"a", "a", DType::f32}, {"b", "b", DType::f32}, {"c", "c", DType::f32}};
  SharedKernels kernels_;
};

TEST_F(SharedKernelsOf, groups_that_do_the_same_to_other_tensors) {
  const auto first = shared(written("a", "b"));
  EXPECT_EQ(first.source, written("a", "b").source);
  auto wider = written("b", "c");
  wider.launches[0].grid = {"2 * n"};
  const auto second = shared(wider);
  EXPECT_EQ(second.source, "// By compute_b, as above.\n");
  EXPECT_EQ(second.launches, (std::vector<Launch>{{"compute_b", {"2 * n"}, {"64"}, "0", {"b", "c"}}}))
      << "its own tensors and groups";
}

TEST_F(SharedKernelsOf, no_groups_that_differ) {
  static_cast<void>(shared(written("a", "b")));
  EXPECT_EQ(shared(written("b", "c", "int")).source, written("b", "c", "int").source) << "another type";
  EXPECT_EQ(shared(written("b", "b")).source, written("b", "b").source) << "one tensor instead of two";
  EXPECT_EQ(shared(written("b", "other")).source, written("b", "other").source) << "a word that is no tensor";
  auto blocks = written("b", "c");
  blocks.launches[0].block = {"32"};
  EXPECT_EQ(shared(blocks).source, blocks.source) << "another block, which a kernel may be written for";
}

}  // namespace
}  // namespace kw
