// The pieces printers are made of: numbers, escaping, axes, terminal lines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "base/fenced_text.hpp"
#include "record/testing/synthetic_run.hpp"
#include "report/escape.hpp"
#include "report/format.hpp"
#include "report/report.hpp"
#include "report/scale.hpp"
#include "report/terminal.hpp"

namespace kw {
namespace {

std::string text(double value, Unit unit) {
  return format_value(Number{value, unit});
}
std::string text(double value, Unit unit, double low, double high) {
  return format_value(Number{value, unit, Interval{low, high, 0.95}});
}

TEST(Format, the_interval_decides_the_digits) {
  EXPECT_EQ(text(11'720'000, Unit::nanoseconds, 11'650'000, 11'800'000), "11.72 ms [11.65, 11.80]");
  EXPECT_EQ(text(11'720'000, Unit::nanoseconds, 9'000'000, 15'000'000), "11.7 ms [9.0, 15.0]");
  EXPECT_EQ(text(5.2231, Unit::times, 5.18, 5.264), "5.223\u00d7 [5.180, 5.264]");
  EXPECT_EQ(text(1234.5, Unit::nanoseconds, 1234.4, 1234.6), "1.23450 \u00b5s [1.23440, 1.23460]");
}

TEST(Format, units_fit_the_size) {
  EXPECT_EQ(text(812, Unit::nanoseconds), "812.0 ns");
  EXPECT_EQ(text(1.5e9, Unit::nanoseconds), "1.500 s");
  EXPECT_EQ(text(362.04, Unit::gflops), "362.0 GFLOP/s");
  EXPECT_EQ(text(1980, Unit::gflops), "1.980 TFLOP/s");
  EXPECT_EQ(text(2.147e9, Unit::flop), "2.147 GFLOP");
  EXPECT_EQ(text(0.6987, Unit::share), "69.9 %");
  EXPECT_EQ(text(1024.0 * 1024 * 24, Unit::bytes), "24 MiB");
  EXPECT_EQ(text(3.2e10, Unit::bytes_per_second), "32.00 GB/s");
  EXPECT_EQ(text(200, Unit::count), "200");
  EXPECT_EQ(text(7.13e-8, Unit::plain), "7.13e-08");
}

TEST(Format, what_is_not_a_number_is_said_in_words) {
  EXPECT_EQ(format_value(Value{}), "\u2013");
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN(), Unit::nanoseconds), "undefined");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity(), Unit::plain), "infinite");
}

TEST(Format, durations_are_read_by_people) {
  EXPECT_EQ(format_duration(60), "60 s");
  EXPECT_EQ(format_duration(57.26), "57.3 s");
  EXPECT_EQ(format_duration(900), "15 min");
  EXPECT_EQ(format_duration(125), "2 min 5 s");
  EXPECT_EQ(format_duration(3780), "1 h 3 min");
}

TEST(Escape, html_leaves_no_markup) {
  EXPECT_EQ(escape_html("<a href=\"x\" b='y'>&amp;"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
  EXPECT_EQ(escape_html("\x01\x7f\xc2\x9b\xff"
                        "caf\xc3\xa9\n\t"),
            "\ufffd\ufffd\ufffd\ufffd"
            "caf\u00e9\n\t");
}

TEST(Escape, markdown_cells_keep_to_their_line) {
  EXPECT_EQ(escape_markdown("a|b\nc_d*e`f`[g](h)#<i>\\"), "a\\|b c\\_d\\*e\\`f\\`\\[g\\](h)\\#&lt;i&gt;\\\\");
}

TEST(Escape, a_fence_is_longer_than_any_in_the_text) {
  EXPECT_EQ(fenced("c", "x"), "```c\nx\n```\n");
  EXPECT_EQ(fenced("c", "````\n"), "`````c\n````\n`````\n");
}

TEST(Escape, terminals_get_no_control_characters) {
  EXPECT_EQ(escape_terminal("a\x1b[2Jb\nc\xc2\x9b"
                            "31m"),
            "a\ufffd[2Jb c\ufffd31m");
}

ReportModel model_of(Block block) {
  ReportModel model;
  model.sections = {{"key", "Title", {std::move(block)}}};
  return model;
}

TEST(Print, a_row_leads_where_its_link_says) {
  Table table{"t", "caption", {{"a", "A"}, {"b", "B"}}, {{"one", "x"}, {"two", "y"}}, "", {"run/\"report\".html", ""}};
  const std::string html = to_html(model_of(table));
  EXPECT_NE(html.find("<td><a href=\"run/&quot;report&quot;.html\">one</a></td><td>x</td>"), std::string::npos) << html;
  EXPECT_NE(html.find("<td>two</td>"), std::string::npos);
}

TEST(Print, a_curve_ends_at_what_was_done) {
  const Curve curve{"c", "Solved", "seconds", "problems", {{1.0, 1}, {4.0, 3}}, 4, 8.0};
  const std::string html = to_html(model_of(curve));
  EXPECT_NE(html.find("3 of 4 within 8 s."), std::string::npos) << html;
  EXPECT_NE(to_markdown(model_of(curve)).find("| 4.000 s | 3 |"), std::string::npos) << to_markdown(model_of(curve));
  const std::string drawn = to_terminal(model_of(curve), false);
  EXPECT_NE(drawn.find("4 |\n"), std::string::npos) << drawn;
  EXPECT_NE(drawn.find(std::string(30, '#') + "\n"), std::string::npos) << "three of four from the middle on\n"
                                                                        << drawn;
  const Curve none{"c", "Solved", "seconds", "problems", {}, 4, 0.0};
  EXPECT_NE(to_html(model_of(none)).find("0 of 4 within 0 s."), std::string::npos);
  EXPECT_EQ(to_terminal(model_of(none), false).find('#'), std::string::npos);
}

TEST(Scale, ticks_are_round_and_within_the_range) {
  EXPECT_THAT(linear_ticks(57.3, 10), ::testing::ElementsAre(0, 10, 20, 30, 40, 50));
  EXPECT_THAT(linear_ticks(0.9, 5), ::testing::SizeIs(::testing::Ge(4U)));
  EXPECT_THAT(logarithmic_ticks(6, 140), ::testing::ElementsAre(10, 20, 50, 100));
  EXPECT_EQ(logarithmic_ticks(0.9, 1200).size(), 4U);
  EXPECT_THAT(logarithmic_ticks(11, 19), ::testing::ElementsAre(15));
}

TEST(Scale, places_values_and_keeps_outliers_inside) {
  const AxisScale y{1, 100, 200, 0, true};
  EXPECT_DOUBLE_EQ(y(10), 100);
  EXPECT_DOUBLE_EQ(y(0.001), 200);
  EXPECT_DOUBLE_EQ(y(1e9), 0);
}

TEST(Terminal, a_value_that_is_longer_than_its_line_goes_on_below) {
  SyntheticRun synthetic = synthetic_run(7, 4);
  synthetic.run.distributions = std::vector<std::string>(20, "uniform");
  const std::string text = to_terminal(build_report(synthetic.run, synthetic.attempts), false);
  std::size_t count = 0;
  for (std::size_t at = text.find("uniform"); at != std::string::npos; at = text.find("uniform", at + 1)) ++count;
  EXPECT_EQ(count, 20U) << text;
  EXPECT_THAT(text, testing::HasSubstr("uniform,\n                         uniform")) << "below where it begins";
}

TEST(Terminal, lines_fit_100_columns_and_codes_come_only_when_asked_for) {
  SyntheticRun synthetic = synthetic_run(7, 40);
  synthetic.run.device.name = std::string(300, 'd');
  synthetic.run.failure = std::string(300, 'f') + " because";
  synthetic.run.status = RunStatus::failed;
  const ReportModel model = build_report(synthetic.run, synthetic.attempts);
  const std::string plain = to_terminal(model, false);
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(to_terminal(model, true).find("\x1b[1m"), std::string::npos);
  std::istringstream lines(plain);
  for (std::string line; std::getline(lines, line);) {
    const auto continuation = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) == 0x80; });
    EXPECT_LE(static_cast<std::int64_t>(line.size()) - continuation, 100) << line;
  }
}

}  // namespace
}  // namespace kw
