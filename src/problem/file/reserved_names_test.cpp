#include "problem/file/reserved_names.hpp"

#include <gtest/gtest.h>

#include "hardware/device_facts.hpp"
#include "problem/errors.hpp"

namespace kw {
namespace {

const OperatorFormat& attention_names() {
  return find_operator("attention")->format;
}

/// An axis of such a name would silently replace the fact in every expression of a bundle.
TEST(ReservedNames, hold_every_fact_that_bundles_may_name) {
  DeviceFacts gpu;
  gpu.gpu.emplace();
  for (const auto& [name, value] : gpu.bindings()) {
    const auto refused = check_own_name(name, NamedThing::axis, attention_names());
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().to_string(), "'" + name + "' already means something in kernels [problem.value]\n" +
                                               "  try: choose another name, such as Documents");
  }
}

void expect_refused(const char* name, NamedThing thing, const std::string& where) {
  const auto checked = check_own_name(name, thing, attention_names());
  ASSERT_FALSE(checked) << name;
  EXPECT_EQ(checked.error().code, errc::problem_value);
  EXPECT_EQ(checked.error().message, std::string("'") + name + "' already means something in " + where);
}

TEST(ReservedNames, are_tunables_and_macros_of_the_kernel_files) {
  for (const char* name : {"RESIDENT", "WARPGROUPS", "BLOCK_N", "LANES", "SOME_KEYS", "ROWS", "HEAD_DIM"}) {
    expect_refused(name, NamedThing::axis, "kernels");
    expect_refused(name, NamedThing::tensor, "kernels");
  }
}

TEST(ReservedNames, are_words_of_mods_and_operands) {
  expect_refused("while", NamedThing::axis, "Python");
  expect_refused("lambda", NamedThing::tensor, "Python");
  expect_refused("torch", NamedThing::tensor, "Python");
  expect_refused("K", NamedThing::tensor, "this operator");
  expect_refused("Skv", NamedThing::tensor, "this operator");
  expect_refused("ceil_div", NamedThing::axis, "kernels");
}

/// The generators rename those in what they write.
TEST(ReservedNames, are_not_what_kernels_use_inside) {
  for (const char* name :
       {"panel", "bias", "row_first", "kv_idx", "head",   "batch",  "score",     "b",      "block_mask", "S", "F", "H1",
        "K4",    "t1",   "m2",        "float4", "select", "kernel", "Documents", "_table", "_Bool",      "_"}) {
    EXPECT_TRUE(check_own_name(name, NamedThing::tensor, attention_names())) << name;
    EXPECT_TRUE(check_own_name(name, NamedThing::axis, attention_names())) << name;
  }
  EXPECT_TRUE(check_own_name("compute_units", NamedThing::tensor, attention_names()));
}

TEST(ReservedNames, are_names_in_python) {
  for (const char* name : {"", "4K", "a-b", "a.b", "k\xC3\xA9y", "n12345678901234567890123456789012345678901"}) {
    const auto checked = check_own_name(name, NamedThing::tensor, attention_names());
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().message, std::string("'") + name + "' cannot be the name of a tensor");
  }
}

}  // namespace
}  // namespace kw
