#include "propose/llm/prompts/machine_code_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "propose/llm/replies/code_blocks.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_float_bits = 32;
constexpr std::size_t k_most_name_bytes = 60;

std::int64_t arithmetic_in(const InstructionMix& code) {
  return code.vector_floats + code.scalar_floats;
}

std::int64_t floats_computed(const InstructionMix& code) {
  return code.vector_floats * std::max<std::int64_t>(1, code.vector_bits / k_float_bits) + code.scalar_floats;
}

std::string called_text(const InstructionMix& code) {
  std::string names;
  for (const auto& name : code.called) names += (names.empty() ? " (" : ", ") + one_line(name, k_most_name_bytes);
  return names.empty() ? "" : names + ")";
}

std::string place_text(const InstructionMix& code) {
  return fmt::format("the inner loop of {}", one_line(code.kernel, k_most_name_bytes));
}

}  // namespace

std::string machine_code_lines(const BuildReport& build) {
  std::string text;
  for (const InstructionMix& code : build.machine_code) {
    const std::string vectors = code.vector_floats > 0 ? fmt::format("{} compute with vectors of up to {} bits",
                                                                     code.vector_floats, code.vector_bits)
                                                       : "none compute with vectors";
    text += fmt::format(
        "* Machine code of {}, {}: {} instructions; {}, {} with single floats; {} load or store, {} more access the "
        "stack, {} call functions{}.\n",
        one_line(code.kernel, k_most_name_bytes),
        code.loop ? "the innermost loop with the most arithmetic, as it stands" : "all of it", code.instructions,
        vectors, code.scalar_floats, code.loads_stores, code.stack_accesses, code.calls, called_text(code));
  }
  return text;
}

const InstructionMix* hottest_code(const BuildReport& build) {
  const auto most = std::ranges::max_element(build.machine_code, {}, floats_computed);
  return most == build.machine_code.end() || arithmetic_in(*most) == 0 ? nullptr : &*most;
}

std::optional<std::string> stack_traffic(const InstructionMix& code) {
  constexpr std::int64_t k_arithmetic_for_each = 4;
  if (!code.loop || code.stack_accesses * k_arithmetic_for_each < arithmetic_in(code)) return std::nullopt;
  return fmt::format("{} accesses of the stack beside {} arithmetic instructions in {}", code.stack_accesses,
                     arithmetic_in(code), place_text(code));
}

std::optional<std::string> calls_in_loop(const InstructionMix& code) {
  if (!code.loop || code.calls == 0) return std::nullopt;
  return fmt::format("{} calls{} in {}", code.calls, called_text(code), place_text(code));
}

std::optional<std::string> narrow_arithmetic(const InstructionMix& code, std::int64_t device_floats) {
  if (code.scalar_floats > code.vector_floats) {
    return fmt::format("{} arithmetic instructions on single floats and {} on vectors in {}", code.scalar_floats,
                       code.vector_floats, place_text(code));
  }
  if (code.vector_bits >= k_float_bits * device_floats) return std::nullopt;
  return fmt::format("vectors of {} bits in {}, the device has {}", code.vector_bits, place_text(code),
                     k_float_bits * device_floats);
}

std::optional<std::string> little_reuse(const InstructionMix& code) {
  constexpr std::int64_t k_arithmetic_for_each = 2;
  if (!code.loop || code.loads_stores * k_arithmetic_for_each < arithmetic_in(code)) return std::nullopt;
  return fmt::format("{} loads and stores for {} arithmetic instructions in {}", code.loads_stores, arithmetic_in(code),
                     place_text(code));
}

}  // namespace kw
