#include "loop/peak_file.hpp"

#include <gtest/gtest.h>

#include "base/testing/scratch_directory.hpp"

namespace kw {
namespace {

DeviceFacts device_with(const std::string& name, double flops, double bytes) {
  DeviceFacts device;
  device.name = name;
  device.driver = "driver 1";
  device.peak_f32_flops = flops;
  device.peak_bytes = bytes;
  return device;
}

class PeakFileTest : public ::testing::Test {
 protected:
  ScratchDirectory scratch;
  RealFileSystem files;
  PeakFile peaks{files, scratch.path()};
};

TEST_F(PeakFileTest, remembers_each_device) {
  EXPECT_FALSE(peaks.find(device_with("a", 0, 0)).has_value());
  ASSERT_TRUE(peaks.keep(device_with("a", 3e11, 2e10), "2026-11-22", true));
  ASSERT_TRUE(peaks.keep(device_with("b", 5e13, 4e12), "2026-11-23", false));
  const auto a = peaks.find(device_with("a", 0, 0));
  ASSERT_TRUE(a.has_value());
  EXPECT_EQ(a->date, "2026-11-22");
  EXPECT_EQ(a->f32_flops, 3e11);
  EXPECT_EQ(a->bytes, 2e10);
  EXPECT_TRUE(a->brief);
  EXPECT_FALSE(peaks.find(device_with("b", 0, 0))->brief);
  DeviceFacts other_driver = device_with("a", 0, 0);
  other_driver.driver = "driver 2";
  EXPECT_FALSE(peaks.find(other_driver).has_value()) << "another compiler reaches other peaks";
}

TEST_F(PeakFileTest, what_makes_no_sense_is_not_known) {
  const std::filesystem::path file = scratch.path() / "peaks.json";
  const std::string good = R"({"date": "2026-11-22", "peak_f32_flops": 3e11, "peak_bytes": 2e10}}})";
  const std::string earlier = R"({"format": 2, "devices": {"a, driver 1": )" + good;
  const std::string entry = R"({"format": 3, "devices": {"a, driver 1": )";
  for (const std::string& text : {std::string("not JSON"), std::string("[]"), std::string(R"({"format": 4})"), earlier,
                                  entry + "7}}", entry + R"({"date": 1, "peak_f32_flops": 1, "peak_bytes": 1}}})",
                                  entry + R"({"date": "x", "peak_f32_flops": -1, "peak_bytes": 1}}})",
                                  entry + R"({"date": "x", "peak_f32_flops": 1e999, "peak_bytes": 1}}})"}) {
    ASSERT_TRUE(files.write_atomic(file, text));
    EXPECT_FALSE(peaks.find(device_with("a", 0, 0)).has_value()) << text;
  }
  ASSERT_TRUE(peaks.keep(device_with("a", 3e11, 2e10), "2026-11-23", false));
  EXPECT_TRUE(peaks.find(device_with("a", 0, 0)).has_value()) << "and is written anew";
}

TEST_F(PeakFileTest, reads_files_that_say_nothing_of_how_peaks_were_measured) {
  const std::string before =
      R"({"format": 3, "devices": {"a, driver 1": {"date": "2026-11-22", "peak_f32_flops": 3e11, "peak_bytes": 2e10}}})";
  ASSERT_TRUE(files.write_atomic(scratch.path() / "peaks.json", before));
  const auto a = peaks.find(device_with("a", 0, 0));
  ASSERT_TRUE(a.has_value());
  EXPECT_EQ(a->bytes, 2e10);
  EXPECT_FALSE(a->brief);
}

TEST(Peaks, serve_for_thirty_days) {
  EXPECT_TRUE(are_recent("2026-11-25", "2026-11-25"));
  EXPECT_TRUE(are_recent("2026-11-25", "2026-12-25"));
  EXPECT_FALSE(are_recent("2026-11-25", "2026-12-26"));
  EXPECT_TRUE(are_recent("2027-12-31", "2028-01-30"));
  EXPECT_FALSE(are_recent("2026-11-26", "2026-11-25")) << "a clock that was wrong";
  for (const char* date : {"", "x", "2026-13-01", "2026-02-30", "2026-1-011", "2026-11-2x", "2026-11-25T"}) {
    EXPECT_FALSE(are_recent(date, "2026-11-25")) << date;
  }
}

TEST_F(PeakFileTest, peaks_never_fall) {
  DeviceFacts device = device_with("a", 3e11, 2e10);
  raise_peaks(device, {"2026-11-22", 2e11, 3e10});
  EXPECT_EQ(device.peak_f32_flops, 3e11);
  EXPECT_EQ(device.peak_bytes, 3e10);
}

}  // namespace
}  // namespace kw
