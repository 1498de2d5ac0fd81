#include "record/requirement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Requirement one(std::string_view text) {
  auto parsed = parse_requirements(text);
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  return parsed && parsed->size() == 1 ? parsed->front() : Requirement{};
}

Error refusal(std::string_view text) {
  auto parsed = parse_requirements(text);
  EXPECT_FALSE(parsed) << text;
  return parsed ? Error{} : parsed.error();
}

DeviceFacts device_of(const std::string& target, DeviceKind kind) {
  DeviceFacts device;
  device.id = target + ":0";
  device.name = "some device";
  device.target = target;
  device.kind = kind;
  return device;
}

TEST(Requirements, are_read_with_blanks_flags_and_every_comparison) {
  const auto parsed = parse_requirements(
      " tensor_cores, registers <= 128,occupancy>=0.5 , launches==2, stack_bytes<1, "
      "binary_bytes>0, no_spills");
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_THAT(*parsed, ElementsAre(Requirement{"tensor_cores", Relation::greater, 0, true},
                                   Requirement{"registers", Relation::at_most, 128, false},
                                   Requirement{"occupancy", Relation::at_least, 0.5, false},
                                   Requirement{"launches", Relation::equal, 2, false},
                                   Requirement{"stack_bytes", Relation::less, 1, false},
                                   Requirement{"binary_bytes", Relation::greater, 0, false},
                                   Requirement{"no_spills", Relation::equal, 0, true}));
  EXPECT_TRUE(parse_requirements("  ")->empty());
}

TEST(Requirements, print_as_they_are_read) {
  for (const char* text : {"tensor_cores", "no_spills", "registers<=128", "occupancy>=0.5", "spill_bytes==0",
                           "shared_bytes<49152", "launches>1"}) {
    EXPECT_EQ(to_string(one(text)), text);
    EXPECT_EQ(one(to_string(one(text))), one(text));
  }
  EXPECT_EQ(in_words(one("registers<=128")), "at most 128 registers per thread");
  EXPECT_EQ(in_words(one("no_spills")), "no register is spilled");
}

TEST(Requirements, that_are_not_known_name_the_known_ones) {
  const Error error = refusal("regsters<=3");
  EXPECT_EQ(error.code, errc::requirement_unknown);
  EXPECT_EQ(error.message,
            "'regsters' cannot be required; known are tensor_cores, no_spills, sanitized, registers, occupancy, "
            "spill_bytes, stack_bytes, shared_bytes, launches, scratch_bytes, binary_bytes");
  EXPECT_EQ(error.hint, "did you mean registers?");
  EXPECT_THAT(refusal("speed>2").hint, HasSubstr("--constraint"));
}

TEST(Requirements, that_cannot_be_read_say_what_to_write) {
  EXPECT_EQ(refusal("registers").code, errc::requirement_syntax);
  EXPECT_EQ(refusal("registers").message, "'registers' needs a bound");
  EXPECT_EQ(refusal("no_spills<=3").message, "'no_spills' takes no bound");
  EXPECT_EQ(refusal("registers=128").message, "'registers=128' has no comparison");
  EXPECT_EQ(refusal("registers<=128,,launches<=1").message, "there is nothing between two commas");
  EXPECT_EQ(refusal("registers<=many").code, errc::requirement_value);
  EXPECT_EQ(refusal("registers<=many").message, "'registers<=many': 'many' is not a number");
  EXPECT_EQ(refusal("registers<=").message, "'registers<=': '' is not a number");
  EXPECT_EQ(refusal("occupancy>=50").message, "'occupancy>=50': the bound must lie between 0 and 1");
  EXPECT_EQ(refusal("launches<=nan").code, errc::requirement_value);
  std::string many = "launches<=1";
  for (int i = 0; i < 40; ++i) many += ",launches<=1";
  EXPECT_EQ(refusal(many).message, "more than 32 requirements");
}

TEST(Requirements, compare_the_figure_they_name) {
  BuildReport build;
  build.registers = 96;
  build.spill_bytes = 8;
  build.occupancy = 0.5;
  build.tensor_core_instructions = 0;
  const PlanFigures plan{2, 4096, 512};
  const auto meets = [&](std::string_view text) { return holds(one(text), figure_of(one(text), build, plan).value()); };
  EXPECT_TRUE(meets("registers<=96"));
  EXPECT_FALSE(meets("registers<96"));
  EXPECT_FALSE(meets("no_spills"));
  EXPECT_TRUE(meets("spill_bytes<=8"));
  EXPECT_TRUE(meets("occupancy>=0.5"));
  EXPECT_FALSE(meets("occupancy>0.5"));
  EXPECT_FALSE(meets("tensor_cores"));
  EXPECT_TRUE(meets("launches==2"));
  EXPECT_FALSE(meets("scratch_bytes<=4095"));
  EXPECT_TRUE(meets("shared_bytes<=512"));
  build.shared_bytes = 1024;
  EXPECT_FALSE(meets("shared_bytes<=512"));
  EXPECT_FALSE(figure_of(one("stack_bytes<=0"), build, plan).has_value());
}

TEST(Requirements, know_which_of_them_a_sanitizer_judges) {
  EXPECT_EQ(in_words(one("sanitized")), "a sanitizer has run it and found nothing");
  EXPECT_TRUE(needs_sanitizer(one("sanitized")));
  EXPECT_FALSE(needs_sanitizer(one("no_spills")));
  EXPECT_EQ(refusal("sanitized>=1").message, "'sanitized' takes no bound");
}

TEST(Requirements, are_refused_up_front_where_the_device_reports_nothing) {
  const auto opencl = device_of("opencl", DeviceKind::cpu);
  EXPECT_TRUE(require_checkable(*parse_requirements("launches<=2, scratch_bytes<=0, binary_bytes<=9, shared_bytes<=1"),
                                opencl));
  const auto refused = require_checkable(*parse_requirements("launches<=2, registers<=128"), opencl);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::requirement_unchecked);
  EXPECT_EQ(refused.error().message, "'registers<=128' cannot be checked: opencl:0 (some device) reports no registers");
  EXPECT_EQ(refused.error().hint,
            "on this device these can be required: sanitized, shared_bytes, launches, scratch_bytes, binary_bytes");
  const auto all = *parse_requirements("tensor_cores, no_spills, registers<=1, occupancy>=0.5, stack_bytes<=0");
  EXPECT_TRUE(require_checkable(all, device_of("cuda", DeviceKind::gpu)));
  EXPECT_FALSE(require_checkable(all, device_of("cuda", DeviceKind::simulator)));
}

}  // namespace
}  // namespace kw
