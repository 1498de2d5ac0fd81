#include "record/useful_rate.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(UsefulRate, counts_operations_and_where_there_are_none_bytes) {
  EXPECT_EQ(useful_rate_text(2e9, 1e6, 4e6), "500.0 GFLOP/s");
  EXPECT_EQ(useful_rate_text(0, 134e6, 4e6), "33.5 GB/s");
  EXPECT_EQ(useful_rate_text(0, 0, 4e6), "");
  EXPECT_EQ(useful_rate_text(2e9, 1e6, 0), "");
}

}  // namespace
}  // namespace kw
