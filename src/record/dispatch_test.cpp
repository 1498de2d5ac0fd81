#include "record/dispatch.hpp"

#include <gtest/gtest.h>

#include "hardware/device_file.hpp"
#include "hardware/gpu_arch.hpp"
#include "record/json.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

const char* const k_rows = R"text(
[[dispatch]]
device   = "h200"
when     = ["Skv >= 4096", "D == 64"]
tunables = {BM = 6}

[[dispatch]]
device   = "Hopper"
tunables = {BM = 2, BN = 128}

[[dispatch]]
when     = ["shared_bytes_per_block < 102400"]
tunables = {BN = 128}
)text";

/// In normal form.
std::string text_with(const std::string& rows) {
  return R"text(/*kernelwright
format      = 1
target      = "cuda"
constraints = ["BM * BN <= 1024"]

[tunables]
BM = {values = [2, 4, 6], default = 4}
BN = {values = [128, 256], default = 256}

[[launch]]
kernel = "k"
grid   = ["ceil_div(Skv, BM)"]
block  = ["BN"]
args   = []
)text" + rows +
         "*/\nsource\n";
}

Bundle bundle_with(const std::string& rows) {
  auto bundle = parse_bundle(text_with(rows), "x.cu");
  EXPECT_TRUE(bundle.has_value()) << bundle.error().to_string();
  return bundle ? *std::move(bundle) : Bundle{};
}

std::string error_of(const std::string& rows) {
  const auto bundle = parse_bundle(text_with("[[dispatch]]\n" + rows), "x.cu");
  return bundle ? "no error" : bundle.error().to_string();
}

DeviceFacts device(const std::string& name) {
  return find_device_facts(name).value();
}

ResolvedTunables resolved(const Bundle& bundle, const std::string& name, const Axes& axes,
                          const IntBindings& overrides = {}) {
  const auto candidate = make_candidate(bundle, overrides);
  EXPECT_TRUE(candidate.has_value()) << candidate.error().to_string();
  const auto found = resolve_tunables(candidate.value(), axes, device(name));
  EXPECT_TRUE(found.has_value()) << found.error().to_string();
  return found.value();
}

const Axes k_long = {{"Skv", 8192}, {"D", 64}};
const Axes k_short = {{"Skv", 100}, {"D", 64}};

TEST(DispatchRows, are_read_and_written_in_order) {
  const Bundle bundle = bundle_with(k_rows);
  EXPECT_EQ(bundle.dispatch, (std::vector<DispatchRow>{{"h200", {"Skv >= 4096", "D == 64"}, {{"BM", 6}}},
                                                       {"Hopper", {}, {{"BM", 2}, {"BN", 128}}},
                                                       {"", {"shared_bytes_per_block < 102400"}, {{"BN", 128}}}}));
  EXPECT_EQ(bundle.to_text(), text_with(k_rows));
}

TEST(DispatchRows, change_neither_text_nor_identity_of_a_bundle_without_them) {
  const Bundle bundle = bundle_with("");
  EXPECT_TRUE(bundle.dispatch.empty());
  EXPECT_EQ(bundle.to_text(), text_with(""));
  EXPECT_EQ(bundle.id(), hash_bytes(text_with("")));
  const auto candidate = make_candidate(bundle).value();
  EXPECT_EQ(candidate.tunables, (IntBindings{{"BM", 4}, {"BN", 256}}));
  EXPECT_EQ(candidate.id(),
            Hasher().add(text_with("")).add("BM").add(std::int64_t{4}).add("BN").add(std::int64_t{256}).finish());
}

TEST(DispatchRows, are_refused_with_line_and_column) {
  EXPECT_EQ(error_of("tunables = {BM = 5}"),
            "x.cu:16:13: dispatch row 1: tunable BM cannot be 5; its values are 2, 4, 6 [bundle.value]");
  EXPECT_EQ(error_of("tunables = {BX = 4}"),
            "x.cu:16:13: dispatch row 1: the bundle has no tunable 'BX' [bundle.value]\n  try: did you mean 'BM'?");
  EXPECT_EQ(error_of("tunables = {BM = \"4\"}"), "x.cu:16:18: BM of dispatch row 1 must be an integer [bundle.value]");
  EXPECT_EQ(error_of("tunables = [4]"),
            "x.cu:16:12: 'tunables' of dispatch row 1 must be a table [bundle.value]\n"
            "  try: write, for example, tunables = {BM = 4}");
  EXPECT_EQ(error_of("device = \"h200\""),
            "x.cu:15:1: dispatch row 1 needs the key 'tunables' [bundle.missing_key]\n"
            "  try: 'tunables' is a key of the header: write it before the first [table]");
  EXPECT_EQ(error_of("devise = \"h200\"\ntunables = {}"),
            "x.cu:16:1: dispatch row 1 has no key 'devise' [bundle.unknown_key]\n  try: did you mean 'device'?");
  const std::string nothing =
      "x.cu:16:10: 'device' of dispatch row 1 names nothing [bundle.value]\n  try: write a device, an architecture or "
      "a "
      "generation, such as \"h200\", \"sm_90\" or \"Hopper\"; or leave it out for any device";
  EXPECT_EQ(error_of("device = \"\"\ntunables = {}"), nothing);
  EXPECT_EQ(error_of("device = \" - \"\ntunables = {}"), nothing);
  EXPECT_EQ(error_of("device = 90\ntunables = {}"), "x.cu:16:10: 'device' must be a string [bundle.value]");
}

TEST(DispatchRows, take_only_conditions_that_can_be_evaluated) {
  EXPECT_EQ(error_of("when = \"Skv > 1\"\ntunables = {}"),
            "x.cu:16:8: 'when' of dispatch row 1 must be an array: [...] [bundle.value]");
  EXPECT_EQ(error_of("when = [\"Skv >\"]\ntunables = {}"),
            "x.cu:16:9: in \"Skv >\": expected a number, a name or '(' at character 6, found the end [expr.syntax]\n"
            "  while reading entry 1 of 'when' of dispatch row 1");
  EXPECT_EQ(error_of("when = [\"Skv > 1\", \"BM*2 < D\"]\ntunables = {}"),
            "x.cu:16:8: 'when' of dispatch row 1 names the tunable 'BM' [bundle.value]\n"
            "  try: rows choose tunables by axes and device facts");
  EXPECT_EQ(error_of("when = [\"BMX < D_BM\"]\ntunables = {}"), "no error");
}

TEST(DispatchRows, are_bounded) {
  std::string rows = "tunables = {}\n";
  for (int i = 0; i < 63; ++i) rows += "[[dispatch]]\ntunables = {}\n";
  EXPECT_EQ(error_of(rows), "no error");
  EXPECT_EQ(error_of(rows + "[[dispatch]]\ntunables = {}\n"),
            "x.cu:15:1: 'dispatch' has 65 entries; at most 64 are allowed [bundle.too_large]");
  std::string conditions;
  for (int i = 0; i < 17; ++i) conditions += "1,";
  EXPECT_EQ(error_of("when = [" + conditions + "]\ntunables = {}"),
            "x.cu:16:8: 'when' of dispatch row 1 has 17 entries; at most 16 are allowed [bundle.too_large]");
  EXPECT_EQ(error_of("device = \"" + std::string(257, 'x') + "\"\ntunables = {}"),
            "x.cu:16:10: 'device' has 257 bytes; at most 256 are allowed [bundle.too_large]");
  EXPECT_EQ(parse_bundle(text_with("[dispatch]\n"), "x.cu").error().to_string(),
            "x.cu:15:1: 'dispatch' must be an array of tables [bundle.value]\n"
            "  try: write each dispatch below a line [[dispatch]]");
}

TEST(Dispatch, takes_the_first_row_that_fits_device_and_shape) {
  const Bundle bundle = bundle_with(k_rows);
  const auto first = resolved(bundle, "h200", k_long);
  EXPECT_EQ(first.row, 0U);
  EXPECT_EQ(first.values, (IntBindings{{"BM", 6}, {"BN", 256}})) << "what the row does not name keeps its default";
  const auto second = resolved(bundle, "h200", k_short);
  EXPECT_EQ(second.row, 1U);
  EXPECT_EQ(second.values, (IntBindings{{"BM", 2}, {"BN", 128}}));
  EXPECT_EQ(resolved(bundle, "h100", k_long).row, 1U);
  EXPECT_EQ(resolved(bundle, "rtx4090", k_long).row, 2U);
  const auto none = resolved(bundle, "b200", k_long);
  EXPECT_EQ(none.row, std::nullopt);
  EXPECT_EQ(none.values, (IntBindings{{"BM", 4}, {"BN", 256}}));
}

TEST(Dispatch, lets_an_assignment_win_over_every_row) {
  const Bundle bundle = bundle_with(k_rows);
  const auto some = resolved(bundle, "h200", k_short, {{"BM", 4}});
  EXPECT_EQ(some.row, 1U);
  EXPECT_EQ(some.values, (IntBindings{{"BM", 4}, {"BN", 128}}));
  const auto all = resolved(bundle, "h200", k_short, {{"BM", 4}, {"BN", 256}});
  EXPECT_EQ(all.row, std::nullopt) << "no row has a say";
  EXPECT_EQ(all.values, (IntBindings{{"BM", 4}, {"BN", 256}}));
}

TEST(Dispatch, leaves_to_the_rows_what_any_of_them_names_and_says_so) {
  Bundle bundle = bundle_with(k_rows);
  bundle.tunables.push_back({"C", {1, 2}, 2});
  const auto candidate = make_candidate(bundle).value();
  EXPECT_EQ(candidate.tunables, (IntBindings{{"C", 2}}));
  EXPECT_EQ(assignment_text(candidate), "C=2, by row: BM BN");
  EXPECT_EQ(assignment_text(make_candidate(bundle, {{"BN", 128}}).value()), "BN=128 C=2, by row: BM");
  EXPECT_EQ(assignment_text(make_candidate(bundle_with("")).value()), "BM=4 BN=256");
  EXPECT_NE(candidate.id(), make_candidate(bundle, {{"BM", 4}, {"BN", 256}}).value().id());
}

TEST(Dispatch, gives_workloads_of_one_candidate_definitions_and_launches_of_their_own) {
  const auto candidate = make_candidate(bundle_with(k_rows)).value();
  const DeviceFacts h200 = device("h200");
  EXPECT_EQ(build_definitions(candidate, k_long, h200).value(), (IntBindings{{"BM", 6}, {"BN", 256}}));
  EXPECT_EQ(build_definitions(candidate, k_short, h200).value(), (IntBindings{{"BM", 2}, {"BN", 128}}));
  const auto plan = plan_launches(candidate, Problem{}, k_short, h200).value();
  EXPECT_EQ(plan.launches.front().grid[0], 50);
  EXPECT_EQ(plan.launches.front().block[0], 128);
}

TEST(Dispatch, holds_what_a_row_assigns_to_the_constraints) {
  const auto candidate = make_candidate(bundle_with(k_rows)).value();
  const auto plan = plan_launches(candidate, Problem{}, k_long, device("h200"));
  ASSERT_FALSE(plan.has_value()) << "6 * 256 is over 1024";
  EXPECT_EQ(plan.error().to_string(),
            "the constraint \"BM * BN <= 1024\" does not hold for this workload and device [candidate.constraint]");
  EXPECT_TRUE(plan_launches(candidate, Problem{}, k_long, device("b200")));
}

TEST(Dispatch, says_which_condition_has_no_value) {
  const auto candidate = make_candidate(bundle_with("[[dispatch]]\ndevice = \"h200\"\nwhen = [\"Sq / Skew > 1\"]\n"
                                                    "tunables = {BM = 2}\n"))
                             .value();
  const auto found = resolve_tunables(candidate, k_long, device("h200"));
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, errc::plan_value);
  EXPECT_EQ(found.error().message,
            "'when' of dispatch row 1 (h200, Sq / Skew > 1): in \"Sq / Skew > 1\": 'Sq' is not a known name");
  EXPECT_TRUE(resolve_tunables(candidate, k_long, device("a100"))) << "the row is not for that device";
  EXPECT_FALSE(plan_launches(candidate, Problem{}, k_long, device("h200")));
  EXPECT_FALSE(build_definitions(candidate, k_long, device("h200")));
}

TEST(Dispatch, refuses_rows_that_no_reader_has_checked) {
  Bundle bundle = bundle_with("");
  bundle.dispatch = {{"h200", {}, {{"BM", 2}}}, {"a100", {}, {{"BM", 3}}}};
  const auto candidate = make_candidate(bundle);
  ASSERT_FALSE(candidate.has_value());
  EXPECT_EQ(candidate.error().to_string(),
            "tunable BM cannot be 3; its values are 2, 4, 6 [candidate.tunable]\n  while reading dispatch row 2");
}

TEST(Dispatch, puts_a_row_where_it_is_found_first_but_behind_narrower_ones) {
  const Bundle bundle = bundle_with(k_rows);
  const auto devices = [](const Bundle& b) {
    std::string text;
    for (std::size_t i = 0; i < b.dispatch.size(); ++i) text += row_label(b, i) + "; ";
    return text;
  };
  const Bundle front = with_row(bundle, {"a100", {}, {{"BM", 2}}});
  EXPECT_EQ(devices(front),
            "row 1 (a100); row 2 (h200, Skv >= 4096, D == 64); row 3 (Hopper); row 4 (any device, "
            "shared_bytes_per_block < 102400); ");
  const Bundle behind = with_row(bundle, {"h200", {}, {{"BM", 2}}});
  EXPECT_EQ(devices(behind),
            "row 1 (h200, Skv >= 4096, D == 64); row 2 (h200); row 3 (Hopper); row 4 (any device, "
            "shared_bytes_per_block < 102400); ");
  const Bundle replaced = with_row(bundle, {"Hopper", {}, {{"BM", 4}}});
  EXPECT_EQ(devices(replaced), devices(bundle));
  EXPECT_EQ(replaced.dispatch[1].tunables, (IntBindings{{"BM", 4}}));
  EXPECT_EQ(front.source, bundle.source);
}

TEST(Dispatch, becomes_defaults_where_a_candidate_assigns) {
  const Bundle bundle = bundle_with(k_rows);
  const Bundle all = with_defaults(make_candidate(bundle, {{"BM", 2}, {"BN", 128}}).value());
  EXPECT_TRUE(all.dispatch.empty());
  EXPECT_EQ(make_candidate(all).value().tunables, (IntBindings{{"BM", 2}, {"BN", 128}}));
  const auto some = make_candidate(bundle, {{"BM", 2}}).value();
  const auto again = make_candidate(with_defaults(some)).value();
  for (const char* name : {"h200", "h100", "rtx4090", "b200"}) {
    for (const Axes& axes : {k_long, k_short}) {
      EXPECT_EQ(resolve_tunables(again, axes, device(name))->values, resolve_tunables(some, axes, device(name))->values)
          << name;
    }
  }
}

TEST(Dispatch, is_archived_with_the_bundle_and_absent_from_records_without) {
  Attempt attempt;
  attempt.candidate = make_candidate(bundle_with(k_rows)).value();
  const auto again = decode_attempt(encode(attempt));
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(again->candidate.bundle, attempt.candidate.bundle);
  EXPECT_EQ(again->candidate.id(), attempt.candidate.id());
  attempt.candidate = make_candidate(bundle_with("")).value();
  EXPECT_EQ(encode(attempt).find("dispatch"), std::string::npos);
  EXPECT_EQ(decode_attempt(encode(attempt))->candidate.bundle, attempt.candidate.bundle);
}

}  // namespace
}  // namespace kw
