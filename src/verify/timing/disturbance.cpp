#include "verify/timing/disturbance.hpp"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string>

namespace kw {
namespace {

constexpr double k_tolerated_share = 0.01;

}  // namespace

DisturbanceWatch::DisturbanceWatch(const Clock& clock)
    : clock_(clock), start_(clock.now()), stolen_before_(clock.stolen()) {}

bool DisturbanceWatch::disturbed() const {
  const auto stolen_now = clock_.stolen();
  if (!stolen_before_ || !stolen_now) return false;
  const double available = to_seconds(clock_.now() - start_) * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  return to_seconds(*stolen_now - *stolen_before_) > k_tolerated_share * available;
}

std::optional<double> waiting_share_in(std::string_view pressure) {
  constexpr std::string_view k_before = "some avg10=";
  const std::size_t at = pressure.find(k_before);
  if (at == std::string_view::npos) return std::nullopt;
  double percent = 0;
  const char* const begin = pressure.data() + at + k_before.size();
  const auto [end, error] = std::from_chars(begin, pressure.data() + pressure.size(), percent);
  if (error != std::errc{} || !(percent >= 0 && percent <= 100)) return std::nullopt;
  return percent / 100;
}

std::optional<double> waiting_share() {
  std::ifstream file("/proc/pressure/cpu");
  std::string line;
  std::getline(file, line);
  return waiting_share_in(line);
}

}  // namespace kw
