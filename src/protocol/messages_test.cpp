#include "protocol/messages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/rng.hpp"

namespace kw {
namespace {

// ---- random messages

std::string random_text(Rng& rng) {
  std::string text(static_cast<std::size_t>(rng.below(20)), '\0');
  for (char& c : text) c = static_cast<char>(rng.below(256));
  return text;
}
std::int64_t random_int(Rng& rng) {
  return rng.below(4) == 0 ? static_cast<std::int64_t>(rng.next()) : rng.below(1000) - 10;
}
template <typename Make>
auto random_list(Rng& rng, Make make) {
  std::vector<decltype(make(rng))> items;
  for (std::int64_t i = rng.below(4); i > 0; --i) items.push_back(make(rng));
  return items;
}
KernelArg random_arg(Rng& rng) {
  switch (rng.below(3)) {
    case 0:
      return BufferArg{static_cast<std::int32_t>(rng.below(16))};
    case 1:
      return IntArg{static_cast<std::int32_t>(rng.next())};
    default:
      return SharedArg{};
  }
}
PlannedLaunch random_launch(Rng& rng) {
  PlannedLaunch launch;
  launch.kernel = random_text(rng);
  for (auto& extent : launch.grid) extent = random_int(rng);
  for (auto& extent : launch.block) extent = random_int(rng);
  launch.shared_bytes = random_int(rng);
  launch.args = random_list(rng, random_arg);
  if (rng.below(2) == 0) launch.only = GroupBox{{random_int(rng), 0, 1}, {1, random_int(rng), 2}};
  return launch;
}
PlannedBuffer random_buffer(Rng& rng) {
  return {random_text(rng), static_cast<BufferRole>(1 + rng.below(3)), static_cast<DType>(1 + rng.below(5)),
          random_int(rng)};
}
AccessCounts random_counts(Rng& rng) {
  return {random_text(rng), random_int(rng), rng.below(2) == 0, rng.below(2) == 0, random_int(rng),
          random_int(rng),  random_int(rng), random_int(rng),   random_int(rng)};
}
LoadedPlan random_plan(Rng& rng) {
  LoadedPlan loaded;
  loaded.binary = random_int(rng);
  loaded.plan = {random_list(rng, random_buffer), random_list(rng, random_launch)};
  loaded.slots = random_list(rng, [](Rng& r) { return ArenaSlot{random_int(r), random_int(r)}; });
  return loaded;
}
DeviceFacts random_facts(Rng& rng) {
  DeviceFacts facts;
  facts.id = random_text(rng);
  facts.name = random_text(rng);
  facts.kind = static_cast<DeviceKind>(1 + rng.below(4));
  facts.memory_bytes = random_int(rng);
  facts.peak_f32_flops = rng.normal();
  if (rng.below(2) == 0) {
    facts.gpu = GpuFacts{random_text(rng)};
    facts.gpu->max_blocks_per_unit = random_int(rng);
    facts.gpu->special_per_clock_per_unit = rng.normal();
  }
  return facts;
}
Inspection random_inspection(Rng& rng) {
  return rng.below(2) == 1 ? Inspection::done : Inspection::left_out;
}
BufferFill random_fill(Rng& rng) {
  if (rng.below(2) == 1) return {random_int(rng), BufferFilling::pattern, random_int(rng)};
  const bool uniform = rng.below(2) == 1;
  const auto rows = static_cast<DrawRule::RowScales>(1 + rng.below(3));
  const auto real = [&] { return static_cast<float>(rng.normal()); };
  const DrawRule rule{uniform ? DrawRule::Numbers::uniform : DrawRule::Numbers::normal, rows, real(), real(), real()};
  return {random_int(rng),
          BufferFilling::random,
          0,
          {rule, rng.next(), random_int(rng), random_int(rng)},
          rng.below(2) == 1};
}
HostMessage random_host_message(Rng& rng) {
  switch (rng.below(4)) {
    case 0:
      return DescribeRequest{random_text(rng)};
    case 1:
      return BuildRequest{random_text(rng), random_text(rng),
                          random_list(rng, [](Rng& r) { return std::pair(random_text(r), random_int(r)); }),
                          random_list(rng, random_launch), random_inspection(rng)};
    case 2:
      return LoadRequest{random_text(rng),
                         random_int(rng),
                         random_list(rng, random_text),
                         random_list(rng, random_plan),
                         random_inspection(rng),
                         Counting::none,
                         random_text(rng)};
    default:
      return LaunchRequest{random_int(rng), rng.below(2) == 1, random_list(rng, random_fill),
                           random_list(rng,
                                       [](Rng& r) {
                                         return BufferPart{random_int(r), random_int(r), random_int(r)};
                                       }),
                           random_list(rng, random_int)};
  }
}
WorkerMessage random_worker_message(Rng& rng) {
  switch (rng.below(5)) {
    case 0:
      return DescribeReply{random_list(rng, random_facts), random_text(rng)};
    case 1: {
      BuildReply reply;
      reply.status = static_cast<BuildStatus>(1 + rng.below(5));
      reply.log = random_text(rng);
      reply.binary = random_text(rng);
      reply.build_ns = random_int(rng);
      reply.registers = random_int(rng);
      reply.kernels = random_list(rng, [](Rng& r) {
        KernelReport report;
        report.kernel = random_text(r);
        if (r.below(2) == 0) report.instructions = random_int(r);
        if (r.below(2) == 0) report.occupancy = r.normal();
        return report;
      });
      reply.machine_code = random_list(rng, [](Rng& r) {
        return InstructionMix{
            random_text(r), r.below(2) == 0, random_int(r), random_int(r), random_int(r),
            random_int(r),  random_int(r),   random_int(r), random_int(r), random_list(r, random_text)};
      });
      return reply;
    }
    case 2:
      return LoadReply{};
    case 3:
      return LaunchReply{random_int(rng),
                         random_list(rng, random_int),
                         random_list(rng,
                                     [](Rng& r) {
                                       return UselessElements{random_int(r), random_int(r), random_int(r)};
                                     }),
                         random_list(rng, random_counts),
                         random_int(rng),
                         rng.below(2) == 0};
    default:
      return LaunchFailure{random_text(rng)};
  }
}

std::uint64_t test_seed() {
  const char* given = std::getenv("KW_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20261120;
}

std::string little_endian(std::uint64_t word) {
  std::string bytes;
  for (unsigned shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(word >> shift));
  return bytes;
}

/// A worker message that is refused with exactly this text.
void expect_refused(const std::string& payload, const std::string& message) {
  const auto decoded = decode_worker_message(payload);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, errc::protocol_malformed);
  EXPECT_EQ(decoded.error().message, message);
}

// ---- tests

TEST(Messages, random_messages_survive_the_round_trip) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(testing::Message() << "KW_TEST_SEED=" << seed);
  Rng rng(seed);
  for (int i = 0; i < 2000; ++i) {
    const HostMessage request = random_host_message(rng);
    const std::string sent = encode(request);
    const auto received = decode_host_message(sent);
    ASSERT_TRUE(received) << "message " << i << ": " << received.error().to_string();
    ASSERT_EQ(received->index(), request.index()) << "message " << i;
    ASSERT_EQ(encode(*received), sent) << "message " << i;

    const WorkerMessage reply = random_worker_message(rng);
    const std::string answered = encode(reply);
    const auto heard = decode_worker_message(answered);
    ASSERT_TRUE(heard) << "message " << i << ": " << heard.error().to_string();
    ASSERT_EQ(encode(*heard), answered) << "message " << i;
  }
}

TEST(Messages, every_field_of_a_plan_arrives) {
  LoadRequest request{"opencl:0", 8192, {std::string("\0binary", 7)}, {}};
  LoadedPlan loaded{0, {{{"O", BufferRole::output, DType::f16, 12}}, {}}, {{4096, 12}}};
  loaded.plan.launches.push_back({"add", {1, 2, 3}, {4, 5, 6}, 7, {BufferArg{0}, IntArg{-9}, SharedArg{}}});
  loaded.plan.launches.back().only = GroupBox{{0, 1, 2}, {1, 1, 1}};
  request.plans.push_back(loaded);
  const auto message = decode_host_message(encode(HostMessage{request}));
  ASSERT_TRUE(message);
  const auto& got = std::get<LoadRequest>(*message);
  EXPECT_EQ(got.device_id, "opencl:0");
  EXPECT_EQ(got.arena_bytes, 8192);
  EXPECT_EQ(got.binaries.at(0), std::string("\0binary", 7));
  const auto& plan = got.plans.at(0);
  EXPECT_EQ(plan.slots.at(0).offset, 4096);
  EXPECT_EQ(plan.slots.at(0).bytes, 12);
  EXPECT_EQ(plan.plan.buffers.at(0).name, "O");
  EXPECT_EQ(plan.plan.buffers.at(0).role, BufferRole::output);
  EXPECT_EQ(plan.plan.buffers.at(0).dtype, DType::f16);
  const auto& launch = plan.plan.launches.at(0);
  EXPECT_EQ(launch.kernel, "add");
  EXPECT_EQ(launch.grid[2], 3);
  EXPECT_EQ(launch.block[0], 4);
  EXPECT_EQ(launch.shared_bytes, 7);
  EXPECT_EQ(std::get<IntArg>(launch.args.at(1)).value, -9);
  EXPECT_TRUE(std::holds_alternative<SharedArg>(launch.args.at(2)));
  ASSERT_TRUE(launch.only);
  EXPECT_EQ(launch.only->first[2], 2);
  EXPECT_EQ(launch.only->count[1], 1);
}

TEST(Messages, the_bytes_of_a_launch_request_are_what_the_header_says) {
  EXPECT_EQ(encode(HostMessage{LaunchRequest{2, true}}),
            "\x04" + little_endian(2) + little_endian(1) + little_endian(0) + little_endian(0) + little_endian(0));
  const DrawRule rule{DrawRule::Numbers::uniform, DrawRule::RowScales::growing, 1, -2, 0.5};
  const LaunchRequest filling{
      0, false, {{3, BufferFilling::random, 7, {rule, ~std::uint64_t{0}, 9, 10}, true}}, {{4, 5, 6}}, {8}};
  const std::string fills = little_endian(1) + little_endian(3) + little_endian(2) + little_endian(7) +
                            little_endian(2) + little_endian(3) + little_endian(0x3f800000) +
                            little_endian(0xc0000000) + little_endian(0x3f000000) + little_endian(~std::uint64_t{0}) +
                            little_endian(9) + little_endian(10) + little_endian(1);
  const std::string returned = little_endian(1) + little_endian(4) + little_endian(5) + little_endian(6);
  EXPECT_EQ(encode(HostMessage{filling}),
            "\x04" + little_endian(0) + little_endian(0) + fills + returned + little_endian(1) + little_endian(8));
}

TEST(Messages, truncation_at_every_byte_is_refused) {
  Rng rng(7);
  for (int i = 0; i < 50; ++i) {
    const std::string host = encode(random_host_message(rng));
    for (std::size_t length = 0; length < host.size(); ++length) {
      ASSERT_FALSE(decode_host_message(host.substr(0, length))) << "message " << i << " cut to " << length;
    }
    const std::string worker = encode(random_worker_message(rng));
    for (std::size_t length = 0; length < worker.size(); ++length) {
      ASSERT_FALSE(decode_worker_message(worker.substr(0, length))) << "message " << i << " cut to " << length;
    }
  }
}

TEST(Messages, an_empty_payload_is_refused) {
  expect_refused("", "a message of the worker is malformed: the message ends too early at byte 0 of 0");
}

TEST(Messages, an_unknown_kind_or_a_message_of_the_other_side_is_refused) {
  expect_refused(encode(HostMessage{DescribeRequest{}}), "a message of the worker has the unknown kind 1");
  expect_refused("\xff", "a message of the worker has the unknown kind 255");
}

TEST(Messages, bytes_after_the_message_are_refused) {
  expect_refused(encode(WorkerMessage{LoadReply{}}) + "x",
                 "a message of the worker is malformed: bytes follow the message at byte 1 of 2");
}

TEST(Messages, counts_larger_than_the_message_are_refused_before_anything_is_allocated) {
  const std::string failure_kind = encode(WorkerMessage{LaunchFailure{}}).substr(0, 1);
  const std::string describe_kind = encode(WorkerMessage{DescribeReply{}}).substr(0, 1);
  for (const std::uint64_t count :
       {std::uint64_t{1}, std::uint64_t{1} << 40, std::numeric_limits<std::uint64_t>::max()}) {
    SCOPED_TRACE(count);
    expect_refused(failure_kind + little_endian(count),
                   "a message of the worker is malformed: a count is larger than the message at byte 9 of 9");
    expect_refused(describe_kind + little_endian(count),
                   "a message of the worker is malformed: a count is larger than the message at byte 9 of 9");
  }
}

TEST(Messages, enumerators_and_flags_outside_their_range_are_refused) {
  std::string reply = encode(WorkerMessage{BuildReply{}});
  reply[1] = 7;
  expect_refused(
      reply,
      fmt::format("a message of the worker is malformed: an enumerator does not exist at byte 9 of {}", reply.size()));
  std::string launch = encode(HostMessage{LaunchRequest{}});
  launch[9] = 2;
  const auto decoded = decode_host_message(launch);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message, "a message of the host is malformed: a flag is neither 0 nor 1 at byte 17 of 41");
}

TEST(Messages, random_bytes_and_flipped_bits_never_crash_the_decoder) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(testing::Message() << "KW_TEST_SEED=" << seed);
  Rng rng(seed);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = encode(random_worker_message(rng));
    for (std::int64_t flips = 1 + rng.below(4); flips > 0; --flips) {
      auto& byte = bytes[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(bytes.size())))];
      byte = static_cast<char>(byte ^ (1 << rng.below(8)));
    }
    const auto decoded = decode_worker_message(bytes);
    if (decoded) {
      ASSERT_EQ(encode(*decoded), bytes) << "a second encoding of one message, number " << i;
    } else {
      ASSERT_EQ(decoded.error().code, errc::protocol_malformed);
    }
  }
}

}  // namespace
}  // namespace kw
