#include "language/language.hpp"

#include <algorithm>

#include "base/result.hpp"
#include "hardware/device_facts.hpp"

namespace kw {

const Language* find_language(std::string_view name) {
  const auto all = languages();
  const auto found = std::ranges::find_if(all, [&](const Language* one) { return one->name == name; });
  return found == all.end() ? nullptr : *found;
}

std::vector<std::string> language_names() {
  std::vector<std::string> names;
  for (const Language* language : languages()) names.emplace_back(language->name);
  return names;
}

const Language& default_language() {
  const auto all = languages();
  KW_CHECK(!all.empty(), "a program needs a language");
  return *all.front();
}

bool runs(const DeviceFacts& device, const Language& language) {
  return device.target == language.name || device.target == language.runtime;
}

const Language* language_of_device_id(std::string_view id) {
  const std::string_view runtime = id.substr(0, id.find(':'));
  const auto all = languages();
  const auto found = std::ranges::find_if(all, [&](const Language* one) { return one->runtime == runtime; });
  return found == all.end() ? nullptr : *found;
}

std::string_view simulated_device_for(const Language& language, std::string_view arch) {
  KW_CHECK(language.simulator.has_value(), "language {} has no simulator", language.name);
  const auto& devices = language.simulator->devices;
  const auto found = std::ranges::find_if(
      devices, [&](const SimulatedDevice& one) { return !one.arch.empty() && arch.starts_with(one.arch); });
  return found == devices.end() ? language.simulator->other_archs : found->id;
}

}  // namespace kw
