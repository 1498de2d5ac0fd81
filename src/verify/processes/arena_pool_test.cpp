#include "verify/processes/arena_pool.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

constexpr std::int64_t k_bytes = std::int64_t{1} << 20;

Arena arena_of(std::int64_t bytes) {
  auto arena = Arena::create();
  EXPECT_TRUE(arena && arena->fix_size(bytes));
  return *std::move(arena);
}

TEST(ArenaPool, gives_what_has_room_and_nothing_twice) {
  ArenaPool pool(10 * k_bytes);
  EXPECT_FALSE(pool.take(1));
  pool.put(arena_of(k_bytes));
  pool.put(arena_of(3 * k_bytes));
  EXPECT_FALSE(pool.take(4 * k_bytes));
  const auto large = pool.take(2 * k_bytes);
  ASSERT_TRUE(large);
  EXPECT_EQ(large->bytes().size(), static_cast<std::size_t>(3 * k_bytes));
  const auto small = pool.take(1);
  ASSERT_TRUE(small);
  EXPECT_EQ(small->bytes().size(), static_cast<std::size_t>(k_bytes));
  EXPECT_FALSE(pool.take(1));
}

TEST(ArenaPool, keeps_no_more_than_it_may_and_nothing_without_a_size) {
  ArenaPool pool(2 * k_bytes);
  pool.put(Arena::create().value());
  EXPECT_FALSE(pool.take(0));
  for (int i = 0; i < 3; ++i) pool.put(arena_of(k_bytes));
  EXPECT_TRUE(pool.take(1));
  EXPECT_TRUE(pool.take(1));
  EXPECT_FALSE(pool.take(1));
}

}  // namespace
}  // namespace kw
