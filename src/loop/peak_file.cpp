#include "loop/peak_file.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/byte_text.hpp"

namespace kw {
namespace {

using PeakJson = nlohmann::ordered_json;

constexpr std::int64_t k_most_bytes_of_peaks = 1 << 16;
/// 1 had bandwidths of stores in four parts, which are too low, and 2 no copies.
constexpr int k_peak_format = 3;

std::string key_of(const DeviceFacts& device) {
  return to_displayable_text(device.name + ", " + device.driver);
}

/// The object of devices; an empty one where the file does not have it.
PeakJson devices_in(const FileSystem& files, const std::filesystem::path& path) {
  const auto text = files.read(path, k_most_bytes_of_peaks);
  if (!text) return PeakJson::object();
  const PeakJson json = PeakJson::parse(*text, nullptr, false);
  const bool known = json.is_object() && json.value("format", PeakJson()) == k_peak_format &&
                     json.contains("devices") && json["devices"].is_object();
  return known ? json["devices"] : PeakJson::object();
}

/// Of "2026-11-23".
std::optional<std::chrono::sys_days> day_of(const std::string& date) {
  constexpr std::string_view k_form = "0000-00-00";
  if (date.size() != k_form.size() || date[4] != '-' || date[7] != '-') return std::nullopt;
  const auto number = [&](std::size_t from, std::size_t digits) -> unsigned {
    unsigned value = 0;
    const char* const end = date.data() + from + digits;
    return std::from_chars(date.data() + from, end, value).ptr == end ? value : 0;
  };
  const std::chrono::year_month_day calendar{std::chrono::year(static_cast<int>(number(0, 4))),
                                             std::chrono::month(number(5, 2)), std::chrono::day(number(8, 2))};
  if (!calendar.ok()) return std::nullopt;
  return std::chrono::sys_days(calendar);
}

std::optional<double> positive(const PeakJson& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number()) return std::nullopt;
  const auto value = found->get<double>();
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

bool are_recent(const std::string& date, const std::string& today) {
  constexpr int k_days = 30;
  const auto measured = day_of(date);
  const auto now = day_of(today);
  return measured && now && *measured <= *now && *now - *measured <= std::chrono::days(k_days);
}

std::optional<MeasuredPeaks> PeakFile::find(const DeviceFacts& device) const {
  const PeakJson devices = devices_in(files_, path_);
  const auto entry = devices.find(key_of(device));
  if (entry == devices.end() || !entry->is_object()) return std::nullopt;
  const auto flops = positive(*entry, "peak_f32_flops");
  const auto bytes = positive(*entry, "peak_bytes");
  const auto date = entry->find("date");
  if (!flops || !bytes || date == entry->end() || !date->is_string()) return std::nullopt;
  // Files of earlier versions have no such mark, and were measured in full.
  const auto brief = entry->find("brief");
  return MeasuredPeaks{date->get<std::string>(), *flops, *bytes, brief != entry->end() && *brief == true};
}

Result<void> PeakFile::keep(const DeviceFacts& device, const std::string& date, bool brief) const {
  PeakJson devices = devices_in(files_, path_);
  devices[key_of(device)] = {
      {"date", date}, {"peak_f32_flops", device.peak_f32_flops}, {"peak_bytes", device.peak_bytes}};
  if (brief) devices[key_of(device)]["brief"] = true;
  const PeakJson json{{"format", k_peak_format}, {"devices", std::move(devices)}};
  return files_.write_atomic(path_, json.dump(2, ' ', false, PeakJson::error_handler_t::replace) + "\n");
}

void raise_peaks(DeviceFacts& device, const MeasuredPeaks& known) {
  device.peak_f32_flops = std::max(device.peak_f32_flops, known.f32_flops);
  device.peak_bytes = std::max(device.peak_bytes, known.bytes);
}

}  // namespace kw
