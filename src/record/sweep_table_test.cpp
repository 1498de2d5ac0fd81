#include "record/sweep_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "record/json.hpp"

namespace kw {
namespace {

using testing::HasSubstr;

SweepTable table() {
  SweepTable table;
  table.of = {"attention/alibi",
              "abc",
              "attention",
              "f32",
              {{"B", 1}, {"Sq", 512}},
              "opencl",
              "vector",
              {},
              1e9,
              2e6,
              5e5,
              1234};
  table.of.device.name = "a CPU, of some kind";
  table.seed = 7;
  table.version = "0.1.0";
  table.started_utc = "2026-11-23T19:00:00Z";
  table.environment = {{"cpu", "2 x some = CPU"}};
  table.names = {"ROWS", "PANELS"};
  SweepRow timed{"seed 1", {{"ROWS", 4}, {"PANELS", 2}}, VerdictStatus::accepted, Reason::none, 1.25e6, 1.2e6, 1.3e6};
  timed.samples = 10;
  timed.paired_ns = 1.24e6;
  timed.is_reference = true;
  timed.estimate = 123.456;
  timed.build_ms = 80;
  timed.registers = 128;
  timed.spill_bytes = 0;
  table.rows = {timed, {"random", {{"ROWS", 6}}, VerdictStatus::rejected, Reason::build_timeout}};
  return table;
}

std::string error_of(const std::string& text) {
  const auto read = parse_sweep(text, "t.csv");
  return read ? "" : read.error().to_string();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(SweepTable, reads_what_it_wrote) {
  const auto text = encode_sweep(table());
  const auto read = parse_sweep(text, "t.csv");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(encode_sweep(*read), text);
  EXPECT_EQ(read->of.axes, table().of.axes);
  EXPECT_EQ(read->of.device.name, "a CPU, of some kind");
  EXPECT_EQ(read->environment, table().environment);
  ASSERT_EQ(read->rows.size(), 2U);
  EXPECT_EQ(read->rows[0].registers, 128);
  EXPECT_EQ(read->rows[0].spill_bytes, 0) << "none is not unknown";
  EXPECT_FALSE(read->rows[0].shared_bytes.has_value());
  EXPECT_EQ(read->rows[0].cost_ns(), 1.24e6);
  EXPECT_EQ(read->rows[1].assignment, (IntBindings{{"ROWS", 6}})) << "an empty cell is no value";
  EXPECT_EQ(read->rows[1].reason, Reason::build_timeout);
  EXPECT_FALSE(read->rows[1].cost_ns().has_value());
}

/// Of what a style's cost model takes for impossible; no time is.
TEST(SweepTable, reads_an_infinite_estimate) {
  auto written = table();
  written.rows[0].estimate = std::numeric_limits<double>::infinity();
  const auto text = encode_sweep(written);
  const auto read = parse_sweep(text, "t.csv");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(encode_sweep(*read), text);
  EXPECT_TRUE(std::isinf(read->rows[0].estimate));
  EXPECT_NE(error_of(replaced(text, ",1240000,", ",inf,")), "");
}

TEST(SweepTable, names_the_line_that_is_wrong) {
  const auto text = encode_sweep(table());
  EXPECT_THAT(error_of("a,b\n1,2\n"), HasSubstr("t.csv:1: the first line is not"));
  EXPECT_THAT(error_of(replaced(text, "# style = vector\n", "")), HasSubstr("\"# style = ...\" is missing"));
  EXPECT_THAT(error_of(replaced(text, "Sq=512", "Sq=x")), HasSubstr("\"Sq=x\" is no NAME=VALUE"));
  EXPECT_THAT(error_of(replaced(text, ",rejected,", ",refused,")), HasSubstr("status: \"refused\" is none"));
  EXPECT_THAT(error_of(replaced(text, "build_timeout", "bad_luck")), HasSubstr("reason: \"bad_luck\" is none"));
  EXPECT_THAT(error_of(replaced(text, "1250000", "nan")), HasSubstr("time_ns: \"nan\" is no such number"));
  EXPECT_THAT(error_of(replaced(text, "1250000", "-1")), HasSubstr("a time is below zero"));
  EXPECT_THAT(error_of(replaced(text, "origin,status", "origin,state")), HasSubstr("the columns do not begin with"));
  EXPECT_THAT(error_of(replaced(text, ",ROWS,PANELS", ",ROWS,ROWS")), HasSubstr("two columns ROWS"));
  EXPECT_THAT(error_of(text + "random\n"), HasSubstr("1 cells under 16 columns"));
  EXPECT_THAT(error_of(replaced(text, "# seed = 7", "# seed = 7\n# seed = 8")), HasSubstr("seed is given twice"));
  EXPECT_THAT(error_of(replaced(text, "\"record\":\"device_facts\"", "\"record\":\"run\"")),
              HasSubstr("the device's facts cannot be read"));
}

TEST(SweepTable, passes_over_headings_of_newer_programs) {
  const auto read = parse_sweep(replaced(encode_sweep(table()), "# seed = 7", "# seed = 7\n# mood = good"), "t.csv");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->seed, 7U);
}

}  // namespace
}  // namespace kw
