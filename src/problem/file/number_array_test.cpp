#include "problem/file/number_array.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.hpp"
#include "problem/problem.hpp"

namespace kw {
namespace {

/// What numpy.save writes, by the format's description.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data, char version = 1) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  const std::size_t preamble = version == 1 ? 10 : 12;
  while ((preamble + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  if (version == 2) bytes += std::string(2, '\0');
  return bytes + header + data;
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
void expect_reads(const std::string& descr, const std::vector<T>& values) {
  const auto array = parse_npy(npy(descr, "(3,)", bytes_of(values)));
  ASSERT_TRUE(array) << descr << " " << array.error().to_string();
  EXPECT_EQ(array->extents, std::vector<std::int64_t>{3}) << descr;
  EXPECT_EQ(array->values, std::vector<double>(values.begin(), values.end())) << descr;
}

TEST(Npy, holds_numbers_of_every_kind_that_is_read) {
  expect_reads<float>("<f4", {1.5F, -2.0F, 1e30F});
  expect_reads<double>("<f8", {1.5, -2.0, 1e300});
  expect_reads<std::int32_t>("<i4", {1, -2, 2147483647});
  expect_reads<std::int64_t>("<i8", {1, -2, 1LL << 50});
  expect_reads<std::int16_t>("<i2", {1, -2, 32767});
  expect_reads<std::int8_t>("|i1", {1, -2, 127});
  expect_reads<std::uint8_t>("|u1", {1, 2, 255});
  EXPECT_EQ(parse_npy(npy("|b1", "(3,)", std::string("\1\0\1", 3)))->values, (std::vector<double>{1, 0, 1}));
  const std::vector<std::uint16_t> halves = {0x3c00, 0xc000, 0x7c00};
  EXPECT_EQ(parse_npy(npy("<f2", "(3,)", bytes_of(halves)))->values, (std::vector<double>{1, -2, INFINITY}));
}

TEST(Npy, has_up_to_four_dimensions_and_two_versions) {
  const auto six = bytes_of<float>({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(parse_npy(npy("<f4", "(1, 2, 3, 1)", six, 2))->extents, (std::vector<std::int64_t>{1, 2, 3, 1}));
  const auto single = parse_npy(npy("<f4", "()", bytes_of<float>({7})));
  EXPECT_TRUE(single->extents.empty());
  EXPECT_EQ(single->values, std::vector<double>{7});
}

/// Whatever is cut off or overwritten: refused or read, never out of bounds (the sanitizers watch).
TEST(Npy, may_be_damaged_anywhere) {
  const auto good = npy("<f4", "(2, 3)", bytes_of<float>({0, 1, 2, 3, 4, 5}));
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(parse_npy(std::string_view(good).substr(0, length))) << length;
  }
  constexpr std::uint64_t k_seed = 11;
  Rng rng(k_seed);
  for (int round = 0; round < 20000; ++round) {
    auto damaged = good;
    const auto place = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(good.size())));
    damaged[place] = static_cast<char>(rng.below(256));
    const auto read = parse_npy(damaged);
    if (read) {
      ASSERT_EQ(read->values.size(), 6U) << "seed " << k_seed << " round " << round;
    } else {
      ASSERT_EQ(read.error().code, errc::npy_format);
    }
  }
}

TEST(Npy, needs_a_folder_to_be_looked_for) {
  const auto problem = parse_problem(
      "name = \"t\"\nop = \"attention\"\n[axes]\nB = 1\nHq = 1\nSq = 4\nD = 4\n[tensors.x]\ndtype = \"f32\"\n"
      "axes = [\"N\"]\nnpy = \"x.npy\"\n[attention]\ndtype = \"f32\"\n",
      "t.toml");
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().to_string(),
            "t.toml:11:7: 'x.npy' cannot be looked for, because this problem is not read from a file [problem.value]\n"
            "  try: write the numbers under 'values'");
}

TEST(Npy, is_found_beside_the_problem_file) {
  const auto problem = load_problem("tests/npy/table.toml", RealFileSystem{}, {});
  ASSERT_TRUE(problem) << problem.error().to_string();
  const auto data = draw_captures(problem->captures, problem->primary().axes, 1).value();
  EXPECT_EQ(data.at("table").extents, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(data.at("table").values, (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace kw
