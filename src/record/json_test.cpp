#include "record/json.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/byte_text.hpp"
#include "base/file_system.hpp"
#include "record/testing/synthetic_run.hpp"

namespace kw {
namespace {

std::string golden(const std::string& name) {
  const auto path = std::filesystem::path("tests/golden") / name;
  const auto text = RealFileSystem().read(path, 1 << 20);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

Attempt full_attempt() {
  Attempt a = synthetic_run(11, 1).attempts.at(0);
  a.build.log = "warning: unused variable\n";
  a.build.registers = 32;
  a.build.machine_code = {{"k", true, 9, 8, 7, 512, 6, 5, 4, {"expf"}}};
  a.accesses = SimulatedAccesses{"sim:sm_90", 4, 8, 1, {{"k", 12, true, false, 9, 1, 280, 40, 9}}};
  a.build.spill_bytes = 0;
  a.measurement->versus = {{"incumbent", Comparison::equivalent, 1.004, {0.99, 1.02, 0.99}, 20, 1}};
  a.verdict.evidence.push_back({GateId::profile, "72 % of the roofline", true});
  return a;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " is not in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

template <typename T>
void expect_same_text(const Result<T>& decoded, const T& original) {
  ASSERT_TRUE(decoded) << decoded.error().to_string();
  EXPECT_EQ(encode(*decoded), encode(original));
}

void expect_refused(const std::string& text, const std::string& message) {
  const auto decoded = decode_attempt(text);
  ASSERT_FALSE(decoded) << text;
  EXPECT_EQ(decoded.error().code, errc::record_decode);
  EXPECT_EQ(decoded.error().message, message);
}

TEST(RecordJson, attempt_comes_back_field_by_field) {
  const Attempt a = full_attempt();
  const auto b = decode_attempt(encode(a));
  ASSERT_TRUE(b) << b.error().to_string();
  EXPECT_EQ(b->ordinal, a.ordinal);
  EXPECT_EQ(b->origin, "analytic seed 1");
  EXPECT_EQ(b->candidate.bundle, a.candidate.bundle);
  EXPECT_EQ(b->candidate.tunables, a.candidate.tunables);
  EXPECT_EQ(b->verdict.gates_passed, a.verdict.gates_passed);
  EXPECT_EQ(b->verdict.evidence.at(1).text, "72 % of the roofline");
  EXPECT_TRUE(b->verdict.evidence.at(1).hidden);
  EXPECT_EQ(b->build.binary_hash, a.build.binary_hash);
  EXPECT_EQ(b->build.registers, 32);
  EXPECT_EQ(b->build.spill_bytes, 0);
  ASSERT_TRUE(b->accesses.has_value());
  EXPECT_EQ(b->accesses->device, "sim:sm_90");
  EXPECT_EQ(b->accesses->of, 8);
  ASSERT_EQ(b->accesses->lines.size(), 1U);
  EXPECT_EQ(b->accesses->lines[0].line, 12);
  EXPECT_TRUE(b->accesses->lines[0].shared);
  EXPECT_EQ(b->accesses->lines[0].transactions, 40);
  ASSERT_EQ(b->build.machine_code.size(), 1U);
  EXPECT_EQ(b->build.machine_code[0].stack_accesses, 5);
  EXPECT_EQ(b->build.machine_code[0].called, std::vector<std::string>{"expf"});
  EXPECT_EQ(b->build.shared_bytes, std::nullopt);
  ASSERT_TRUE(b->measurement);
  EXPECT_EQ(b->measurement->median_ns, a.measurement->median_ns);
  ASSERT_EQ(b->measurement->versus.size(), 1U);
  EXPECT_EQ(b->measurement->versus[0].decision, Comparison::equivalent);
  EXPECT_EQ(b->measurement->versus[0].speedup_ci.high, 1.02);
  EXPECT_EQ(b->elapsed_seconds, a.elapsed_seconds);
  EXPECT_TRUE(b->became_best);
  EXPECT_EQ(encode(*b), encode(a));
}

TEST(RecordJson, every_kind_of_record_encodes_to_the_same_text_after_a_round_trip) {
  const SyntheticRun synthetic = synthetic_run(5, 40);
  expect_same_text(decode_run(encode(synthetic.run)), synthetic.run);
  expect_same_text(decode_device_facts(encode(synthetic.run.device)), synthetic.run.device);
  for (const auto& a : synthetic.attempts) {
    SCOPED_TRACE(a.ordinal);
    expect_same_text(decode_attempt(encode(a)), a);
    expect_same_text(decode_apart(encode_apart(a)), a);
    expect_same_text(decode_verdict(encode(a.verdict)), a.verdict);
    expect_same_text(decode_build_report(encode(a.build)), a.build);
    if (a.measurement) expect_same_text(decode_measurement(encode(*a.measurement)), *a.measurement);
  }
}

TEST(RecordJson, numbers_come_back_bit_for_bit) {
  const std::uint64_t seed = 20261120;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  std::vector<double> values{0.0,
                             -0.0,
                             0.1,
                             5e-324,
                             1.7976931348623157e308,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 2000; ++i) {
    const auto value = std::bit_cast<double>(rng.next());
    if (std::isfinite(value)) values.push_back(value);
  }
  for (const double value : values) {
    Measurement m;
    m.median_ns = value;
    const auto back = decode_measurement(encode(m));
    ASSERT_TRUE(back) << value << ": " << back.error().to_string();
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back->median_ns), std::bit_cast<std::uint64_t>(value)) << value;
  }
  Measurement undefined;
  undefined.median_ns = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(decode_measurement(encode(undefined))->median_ns));
  RunRecord run;
  run.seed = std::numeric_limits<std::uint64_t>::max();
  run.useful_flops = 1;
  EXPECT_EQ(decode_run(encode(run))->seed, run.seed);
  Attempt extreme = full_attempt();
  extreme.candidate.tunables["BM"] = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(decode_attempt(encode(extreme))->candidate.tunables, extreme.candidate.tunables);
}

TEST(RecordJson, any_bytes_in_strings_come_back) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  BuildReport report;
  for (const std::string& log : {all, std::string("caf\xc3\xa9 \xe2\x82\xac"), std::string("\xff"), std::string()}) {
    report.log = log;
    const auto back = decode_build_report(encode(report));
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(back->log, log);
  }
}

TEST(RecordJson, passes_over_unknown_keys_and_lacking_optional_ones) {
  const std::string text = encode(full_attempt());
  const auto more = decode_attempt(replaced(text, "\"ordinal\":", "\"mood\":{\"a\":[1]},\"ordinal\":"));
  ASSERT_TRUE(more) << more.error().to_string();
  EXPECT_EQ(encode(*more), text);
  EXPECT_EQ(decode_attempt(replaced(text, "\"registers\":32,", ""))->build.registers, std::nullopt);
  EXPECT_EQ(decode_attempt(replaced(text, "\"registers\":32,", "\"registers\":null,"))->build.registers, std::nullopt);
}

TEST(RecordJson, says_which_key_is_missing_or_of_the_wrong_type) {
  const std::string text = encode(full_attempt());
  expect_refused(replaced(text, "\"ordinal\":0,", ""), "stored record: attempt.ordinal is missing");
  expect_refused(replaced(text, "\"ordinal\":0", "\"ordinal\":\"0\""),
                 "stored record: attempt.ordinal is a string, expected a whole number");
  expect_refused(replaced(text, "\"ordinal\":0", "\"ordinal\":0.5"),
                 "stored record: attempt.ordinal is a number, expected a whole number");
  expect_refused(replaced(text, "\"ordinal\":0", "\"ordinal\":9223372036854775808"),
                 "stored record: attempt.ordinal is 9223372036854775808, which is out of range");
  expect_refused(replaced(text, "\"hidden\":true", "\"hidden\":1"),
                 "stored record: attempt.verdict.evidence[1].hidden is a number, expected true or false");
  expect_refused(replaced(text, "\"status\":1", "\"status\":9"),
                 "stored record: attempt.verdict.status has the value 9, which this program does not know");
  expect_refused(replaced(text, "\"binary_hash\":\"", "\"binary_hash\":\"Z"),
                 "stored record: attempt.build.binary_hash is not 64 lower-case hexadecimal digits");
}

TEST(RecordJson, refuses_other_formats_and_kinds) {
  const std::string text = encode(full_attempt());
  expect_refused(replaced(text, "\"format\":1", "\"format\":2"),
                 "stored record: attempt has format 2, this program reads format 1");
  expect_refused(replaced(text, "\"format\":1,", ""), "stored record: attempt.format is missing");
  expect_refused(encode(Verdict{}), "stored record: expected a record of \"attempt\", found \"verdict\"");
}

TEST(RecordJson, says_where_a_text_stops_being_json) {
  const auto cut = decode_attempt("{\"format\": 1,\n  \"record\": }");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().to_string(),
            "2:13: stored record: attempt is not JSON [record.decode]\n  try: the file is damaged or was cut short");
  expect_refused("", "stored record: attempt is not JSON");
  expect_refused("[]", "stored record: attempt is not an object but of type array");
}

TEST(RecordJson, no_prefix_of_a_record_is_taken_for_one) {
  const std::string text = encode(full_attempt());
  for (std::size_t length = 0; length < text.size(); ++length) {
    ASSERT_FALSE(decode_attempt(text.substr(0, length))) << length;
  }
}

TEST(RecordJson, deep_nesting_is_an_error_and_not_a_crash) {
  expect_refused(std::string(200'000, '['), "stored record: attempt is not JSON");
}

TEST(RecordJson, facts_of_a_gpu_are_kept) {
  DeviceFacts facts;
  facts.gpu = GpuFacts{"sm_90a"};
  facts.gpu->max_blocks_per_unit = 32;
  facts.gpu->clock_hz = 1.98e9;
  const auto read = decode_device_facts(encode(facts));
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_TRUE(read->gpu);
  EXPECT_EQ(read->gpu->arch, "sm_90a");
  EXPECT_EQ(read->gpu->max_blocks_per_unit, 32);
  EXPECT_EQ(read->gpu->clock_hz, 1.98e9);
}

// The files were written by the first version and are never regenerated: archives of that version must stay readable.
TEST(RecordJson, reads_files_of_format_1) {
  const auto attempt = decode_attempt(golden("record_v1_attempt.json"));
  ASSERT_TRUE(attempt) << attempt.error().to_string();
  EXPECT_EQ(attempt->candidate.bundle, synthetic::bundle());
  EXPECT_EQ(attempt->verdict.status, VerdictStatus::accepted);
  EXPECT_EQ(attempt->measurement->versus.at(0).name, "incumbent");
  EXPECT_EQ(attempt->build.log, "warning: unused variable\n");
  const auto run = decode_run(golden("record_v1_run.json"));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->id, "4f1c0a9be27d3356");
  EXPECT_EQ(run->status, RunStatus::finished);
  EXPECT_EQ(run->device.vector_floats, 16);
  EXPECT_FALSE(run->device.gpu) << "written before there were facts of GPUs";
  EXPECT_EQ(run->baselines.at(0).median_ns, 61.2e6);
  EXPECT_EQ(run->environment.at(1), (std::pair<std::string, std::string>{"kernel", "Linux 6.1.0"}));
}

TEST(ByteText, is_made_fit_for_display) {
  EXPECT_EQ(to_displayable_text("a\xff\x80z caf\xc3\xa9"), "a\xef\xbf\xbd\xef\xbf\xbdz caf\xc3\xa9");
  EXPECT_EQ(to_displayable_text(""), "");
  EXPECT_EQ(utf8_to_latin1("\xe2\x82\xac"), std::nullopt);
}

}  // namespace
}  // namespace kw
