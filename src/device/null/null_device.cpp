#include "device/null/null_device.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "device/null/effects.hpp"
#include "device/null/program.hpp"

namespace kw {
namespace {

DeviceFacts null_facts() {
  DeviceFacts facts;
  facts.id = "null";
  facts.target = "null";
  facts.name = "null device (for tests)";
  facts.driver = "null 1";
  facts.kind = DeviceKind::null_device;
  facts.max_block_items = 1024;
  facts.shared_bytes_per_block = 64 << 10;
  facts.memory_bytes = std::int64_t{4} << 30;
  return facts;
}

void misbehave_while_building(const std::string& how) {
  if (how == "crash_late") null_effects::spin(400'000);
  if (how.starts_with("crash")) null_effects::crash();
  if (how == "hang") null_effects::hang();
  if (how == "sleep_until_killed") null_effects::sleep_until_killed();
  if (how == "exit") ::_exit(0);
}

/// What one directive works on.
struct Scene {
  const LoadedPlan& loaded;
  std::span<std::byte> arena;
  std::optional<std::int64_t>& claimed_ns;

  [[nodiscard]] std::optional<ArenaSlot> slot(const std::string& buffer) const {
    const auto& buffers = loaded.plan.buffers;
    const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const auto& b) { return b.name == buffer; });
    if (found == buffers.end()) return std::nullopt;
    return loaded.slots[static_cast<std::size_t>(found - buffers.begin())];
  }
  [[nodiscard]] std::span<std::byte> payload(const ArenaSlot& place) const {
    return arena.subspan(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(place.bytes));
  }
};

std::optional<std::string> touch_buffer(const Scene& scene, const NullDirective& directive) {
  const auto slot = scene.slot(directive.text);
  if (!slot) return fmt::format("{}: the plan has no buffer '{}'", directive.name, directive.text);
  const std::span<std::byte> payload = scene.payload(*slot);
  if (directive.name == "modify_input") {
    payload[0] = ~payload[0];
  } else if (directive.name == "touch_guard") {
    const std::int64_t at = slot->offset + (directive.number < 0 ? directive.number : slot->bytes + directive.number);
    if (at < 0 || at >= static_cast<std::int64_t>(scene.arena.size())) return "touch_guard: outside the arena";
    scene.arena[static_cast<std::size_t>(at)] = std::byte{0x5a};
  } else if (directive.name == "fill") {
    const auto value = static_cast<float>(directive.value);
    for (std::size_t i = 0; i + sizeof value <= payload.size(); i += sizeof value) {
      std::memcpy(&payload[i], &value, sizeof value);
    }
  } else {
    const auto target = scene.slot(directive.second_text);
    if (!target) return fmt::format("copy: the plan has no buffer '{}'", directive.second_text);
    const std::span<std::byte> to = scene.payload(*target);
    std::memcpy(to.data(), payload.data(), std::min(to.size(), payload.size()));
  }
  return std::nullopt;
}

std::optional<std::string> carry_out(const Scene& scene, const NullDirective& directive) {
  const std::string& name = directive.name;
  if (name == "hang") null_effects::hang();
  if (name == "sleep_until_killed") null_effects::sleep_until_killed();
  if (name == "crash") null_effects::crash();
  if (name == "abort") std::abort();
  if (name == "exit") ::_exit(0);
  if (name == "allocate") return null_effects::allocate(directive.number);
  if (name == "fork") return null_effects::fork_children(directive.number);
  if (name == "exec") return null_effects::execute(directive.text);
  if (name == "write_file") return null_effects::write_file(directive.text);
  if (name == "garbage_reply") return null_effects::send_garbage();
  if (name == "spin_us") {
    null_effects::spin(directive.number);
    return std::nullopt;
  }
  if (name == "claim_ns") {
    scene.claimed_ns = directive.number;
    return std::nullopt;
  }
  return touch_buffer(scene, directive);
}

class NullDevice final : public Device {
 public:
  [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }

  BuildReply build(const BuildRequest& request) override {
    BuildReply reply;
    const auto program = parse_null_program(request.source);
    if (!program) {
      reply.status = BuildStatus::source_error;
      reply.log = program.error().to_string();
      return reply;
    }
    misbehave_while_building(program->at_build);
    for (const PlannedLaunch& launch : request.launches) {
      const NullKernel* kernel = program->find(launch.kernel);
      if (kernel == nullptr) {
        reply.status = BuildStatus::kernel_missing;
        reply.log = fmt::format("the source has no kernel '{}'", launch.kernel);
        return reply;
      }
      if (kernel->arguments >= 0 && kernel->arguments != static_cast<std::int64_t>(launch.args.size())) {
        reply.status = BuildStatus::kernel_args;
        reply.log = fmt::format("kernel '{}' takes {} arguments but the launch passes {}", launch.kernel,
                                kernel->arguments, launch.args.size());
        return reply;
      }
    }
    reply.binary = request.source;
    return reply;
  }

  Result<void> load(const LoadRequest& request, std::span<std::byte> arena) override {
    KW_TRY_VOID(check_load_request(request, arena.size()));
    KW_TRY_VOID(refuse_boxes(request));
    for (const std::string& binary : request.binaries) {
      KW_TRY(NullProgram program, parse_null_program(binary));
      programs_.push_back(std::move(program));
    }
    plans_ = request.plans;
    arena_ = arena;
    return {};
  }

  Result<LaunchReply> launch(const LaunchRequest& request) override {
    if (request.plan < 0 || static_cast<std::size_t>(request.plan) >= plans_.size()) {
      return fail(errc::device_refused, "there is no plan {}", request.plan);
    }
    const LoadedPlan& loaded = plans_[static_cast<std::size_t>(request.plan)];
    const NullProgram& program = programs_[static_cast<std::size_t>(loaded.binary)];
    std::optional<std::int64_t> claimed_ns;
    const auto begin = std::chrono::steady_clock::now();
    for (const PlannedLaunch& launch : loaded.plan.launches) {
      const NullKernel* kernel = program.find(launch.kernel);
      if (kernel == nullptr) return fail(errc::device_refused, "the binary has no kernel '{}'", launch.kernel);
      for (const NullDirective& directive : kernel->body) {
        if (auto stopped = carry_out({loaded, arena_, claimed_ns}, directive)) {
          return fail(errc::device_refused, "{}", *stopped);
        }
      }
    }
    const auto took = std::chrono::steady_clock::now() - begin;
    return LaunchReply{claimed_ns.value_or(std::chrono::nanoseconds(took).count())};
  }

 private:
  DeviceFacts facts_ = null_facts();
  std::vector<NullProgram> programs_;
  std::vector<LoadedPlan> plans_;
  std::span<std::byte> arena_;
};

}  // namespace

Result<std::vector<DeviceFacts>> describe_null_device() {
  return std::vector<DeviceFacts>{null_facts()};
}

Result<std::unique_ptr<Device>> open_null_device(const std::string& device_id) {
  if (device_id != "null")
    return fail(errc::device_unavailable, "the null device is called 'null', not '{}'", device_id);
  return std::make_unique<NullDevice>();
}

}  // namespace kw
