#include "device/sim/shared_shadow.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/rng.hpp"

namespace kw::sim {
namespace {

constexpr std::size_t k_bytes = 700;  // not whole chunks
constexpr unsigned k_lanes = 32;

/// An access to what lies `offset` bytes behind the begin of shared memory.
struct Access {
  std::size_t offset = 0;
  std::size_t bytes = 1;
  bool write = false;
  unsigned thread = 0;
  std::uint32_t epoch = 0;
};

Access random_access(Rng& rng, std::uint32_t epoch, bool aligned) {
  Access access;
  access.bytes = std::size_t{1} << rng.below(5);
  const auto places = static_cast<std::int64_t>(aligned ? k_bytes / access.bytes : k_bytes - access.bytes + 1);
  access.offset = static_cast<std::size_t>(rng.below(places)) * (aligned ? access.bytes : 1);
  access.write = rng.below(3) == 0;
  access.thread = static_cast<unsigned>(rng.below(64));
  access.epoch = epoch;
  return access;
}

/// What a byte, or a word for its bytes, has against an access: the conflicting stamps in their order, without repeats.
std::vector<std::uint64_t> conflicts(const Access& access, const auto& each_cell) {
  const auto ordered = [&](Stamp earlier) {
    return earlier.epoch() != access.epoch || earlier.thread() == access.thread;
  };
  std::vector<std::uint64_t> found;
  each_cell([&](Cell& cell) {
    const std::uint64_t with = check(cell, access.write, ordered).with.bits;
    if (found.empty() || found.back() != with) found.push_back(with);
    record(cell, Stamp::make(access.epoch, 1, access.thread, false), 12, access.write, k_lanes, ordered);
  });
  return found;
}

void expect_the_answers_of_bytes(std::uint64_t seed, std::size_t misplaced, bool aligned) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", begin at " << misplaced << (aligned ? ", aligned" : ""));
  alignas(16) std::array<std::byte, k_bytes + 16> memory{};
  const std::byte* begin = memory.data() + misplaced;
  Rng rng(seed);
  SharedShadow words;
  std::vector<Cell> bytes(k_bytes);
  std::uint32_t epoch = 4;
  for (int launch = 0; launch < 3; ++launch) {
    epoch += 4;
    words.begin_launch(begin, k_bytes);
    for (int i = 0; i < 2000; ++i) {
      if (rng.below(50) == 0) epoch += 4;
      const Access access = random_access(rng, epoch, aligned);
      const auto by_word =
          conflicts(access, [&](const auto& use) { words.each_cell(begin + access.offset, access.bytes, use); });
      const auto by_byte = conflicts(access, [&](const auto& use) {
        for (std::size_t b = 0; b < access.bytes; ++b) use(bytes[access.offset + b]);
      });
      ASSERT_EQ(by_word, by_byte) << "launch " << launch << ", access " << i << ": " << access.bytes << " bytes at "
                                  << access.offset;
    }
  }
}

TEST(SharedShadow, answers_as_one_cell_per_byte_would) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    expect_the_answers_of_bytes(seed, 0, true);
    expect_the_answers_of_bytes(seed, seed % 16, false);
  }
}

TEST(SharedShadow, has_one_cell_for_a_word_until_something_narrower_comes) {
  alignas(16) std::array<std::byte, 512> memory{};
  SharedShadow shadow;
  shadow.begin_launch(memory.data(), memory.size());
  const auto cells = [&](std::size_t offset, std::size_t bytes) {
    int count = 0;
    shadow.each_cell(memory.data() + offset, bytes, [&](const Cell&) { ++count; });
    return count;
  };
  EXPECT_EQ(cells(16, 16), 1);
  EXPECT_EQ(cells(4, 4), 1);
  EXPECT_EQ(cells(16, 16), 4) << "words of its chunk have 4 bytes now";
  EXPECT_EQ(cells(256, 16), 1) << "not those of another";
  EXPECT_EQ(cells(254, 4), 2) << "over the border between them";
  shadow.begin_launch(memory.data(), memory.size());
  EXPECT_EQ(cells(16, 16), 1) << "another kernel may use wider words";
}

}  // namespace
}  // namespace kw::sim
