#include "hardware/device_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

#include "base/embedded_texts.hpp"
#include "base/text.hpp"
#include "hardware/gpu_arch.hpp"

namespace kw {
namespace {

using Json = nlohmann::json;

/// No number of a device is larger; a mistyped one would only overflow later.
constexpr double k_most = 1e18;

/// A key of the file and where its number goes.
struct Number {
  std::string_view key;
  std::variant<std::int64_t DeviceFacts::*, double DeviceFacts::*, std::int64_t GpuFacts::*, double GpuFacts::*> field;
};

constexpr std::array k_numbers{
    Number{"compute_units", &DeviceFacts::compute_units},
    Number{"sm_count", &DeviceFacts::compute_units},
    Number{"clock_hz", &GpuFacts::clock_hz},
    Number{"memory_bytes", &DeviceFacts::memory_bytes},
    Number{"l2_cache_bytes", &DeviceFacts::l2_cache_bytes},
    Number{"last_level_cache_bytes", &DeviceFacts::last_level_cache_bytes},
    Number{"l1_cache_bytes", &DeviceFacts::l1_cache_bytes},
    Number{"shared_bytes_per_block", &DeviceFacts::shared_bytes_per_block},
    Number{"shared_bytes_per_unit", &GpuFacts::shared_bytes_per_unit},
    Number{"reserved_shared_bytes_per_block", &GpuFacts::reserved_shared_bytes_per_block},
    Number{"max_threads_per_unit", &GpuFacts::max_threads_per_unit},
    Number{"max_blocks_per_unit", &GpuFacts::max_blocks_per_unit},
    Number{"registers_per_unit", &GpuFacts::registers_per_unit},
    Number{"registers_per_block", &GpuFacts::registers_per_block},
    Number{"peak_bytes", &DeviceFacts::peak_bytes},
    Number{"peak_f32_flops", &DeviceFacts::peak_f32_flops},
    Number{"peak_f16_flops", &GpuFacts::peak_f16_flops},
    Number{"special_per_clock_per_unit", &GpuFacts::special_per_clock_per_unit},
};

std::string known_keys() {
  std::string known = "arch, name, source";
  for (const Number& number : k_numbers) known.append(", ").append(number.key);
  return known;
}

std::string known_archs() {
  return join(gpu_archs(), ", ",
              [](const GpuArch& arch) { return fmt::format("{} ({})", arch.name, arch.generation); });
}

tl::unexpected<Error> refuse(const std::string& file, std::string message, std::string hint) {
  return fail(Error{errc::device_file, std::move(message), std::move(hint), {file}});
}

/// Peaks of the whole device follow from units and clock, which only the file knows.
void fill_peaks(const GpuArch& arch, DeviceFacts& facts) {
  const double flops_per_unit = 2 * facts.gpu->clock_hz;
  const double units = static_cast<double>(facts.compute_units);
  if (facts.peak_f32_flops == 0) {
    facts.peak_f32_flops = units * flops_per_unit * static_cast<double>(arch.f32_per_clock);
  }
  if (facts.gpu->peak_f16_flops == 0) {
    facts.gpu->peak_f16_flops = units * flops_per_unit * static_cast<double>(arch.f16_per_clock);
  }
  if (facts.last_level_cache_bytes == 0) facts.last_level_cache_bytes = facts.l2_cache_bytes;
}

void store(const Number& number, double value, DeviceFacts& facts) {
  std::visit(
      [&](auto field) {
        const auto assign = [&](auto& into) { into = static_cast<std::remove_reference_t<decltype(into)>>(value); };
        if constexpr (std::is_invocable_v<decltype(field), DeviceFacts&>) {
          assign(facts.*field);
        } else {
          assign((*facts.gpu).*field);
        }
      },
      number.field);
}

bool takes_whole_numbers(const Number& number) {
  return std::holds_alternative<std::int64_t DeviceFacts::*>(number.field) ||
         std::holds_alternative<std::int64_t GpuFacts::*>(number.field);
}

Result<void> read_number(const Json& json, const Number& number, const std::string& file, DeviceFacts& facts) {
  const double value = json.is_number() ? json.get<double>() : -1;
  const bool whole = std::floor(value) == value;
  if (value <= 0 || value > k_most || (takes_whole_numbers(number) && !whole)) {
    return refuse(file, fmt::format("\"{}\" is {}", number.key, json.dump()),
                  takes_whole_numbers(number) ? "write a whole number above 0" : "write a number above 0");
  }
  store(number, value, facts);
  return {};
}

Result<void> read_entry(const std::string& key, const Json& json, const std::string& file, DeviceFacts& facts) {
  if (key == "name" || key == "source" || key == "arch") {
    if (!json.is_string()) return refuse(file, fmt::format("\"{}\" is {}", key, json.dump()), "write a string");
    if (key == "name") facts.name = json.get<std::string>();
    return {};
  }
  const auto* const number =
      std::find_if(k_numbers.begin(), k_numbers.end(), [&](const Number& entry) { return entry.key == key; });
  if (number == k_numbers.end()) {
    return refuse(file, fmt::format("a device has no field \"{}\"", key), "known fields: " + known_keys());
  }
  return read_number(json, *number, file, facts);
}

Result<Json> parse_object(std::string_view text, const std::string& file) {
  try {
    Json json = Json::parse(text);
    if (json.is_object()) return json;
    return refuse(file, "a device file is one JSON object", R"(write for example {"arch": "Hopper", "sm_count": 132})");
  } catch (const Json::exception& error) {
    return refuse(file, fmt::format("this is not JSON: {}", error.what()),
                  R"(write for example {"arch": "Hopper", "sm_count": 132})");
  }
}

}  // namespace

std::vector<std::string> shipped_devices() {
  std::vector<std::string> names;
  for (const EmbeddedText& text : embedded_texts()) names.emplace_back(text.name);
  return names;
}

Result<DeviceFacts> find_device_facts(std::string_view name) {
  for (const EmbeddedText& text : embedded_texts()) {
    if (text.name != lower_case(name)) continue;
    KW_TRY(auto facts, parse_device_file(text.text, std::string(text.name)));
    return facts;
  }
  return fail(Error{errc::device_unknown, fmt::format("there are no facts about a device \"{}\"", name),
                    fmt::format("one of: {}; or a file of your own, --device FILE.json", join(shipped_devices()))});
}

Result<DeviceFacts> parse_device_file(std::string_view json, const std::string& file) {
  KW_TRY(const Json object, parse_object(json, file));
  const auto arch_entry = object.find("arch");
  if (arch_entry == object.end() || !arch_entry->is_string()) {
    return refuse(file, "\"arch\" is missing or not a string", "one of: " + known_archs());
  }
  const auto arch = find_gpu_arch(arch_entry->get_ref<const std::string&>());
  if (!arch)
    return refuse(file, fmt::format("there is no architecture {}", arch_entry->dump()), "one of: " + known_archs());
  DeviceFacts facts = gpu_arch_facts(*arch);
  facts.id = file;
  facts.name = fmt::format("{}{}", k_unnamed_device, arch->generation);
  for (const auto& entry : object.items()) KW_TRY_VOID(read_entry(entry.key(), entry.value(), file, facts));
  fill_peaks(*arch, facts);
  return facts;
}

}  // namespace kw
