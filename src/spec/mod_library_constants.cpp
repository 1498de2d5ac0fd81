// Constants of torch and math.

#include <array>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <numbers>

#include "spec/mod_calls.hpp"

namespace kw {
namespace {

struct NamedConstant {
  std::string_view path;
  double value;
};
constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<NamedConstant, 12> k_constants = {{{"torch.inf", k_infinity},
                                                        {"math.inf", k_infinity},
                                                        {"torch.nan", k_nan},
                                                        {"math.nan", k_nan},
                                                        {"torch.pi", std::numbers::pi},
                                                        {"math.pi", std::numbers::pi},
                                                        {"math.tau", 2 * std::numbers::pi},
                                                        {"torch.e", std::numbers::e},
                                                        {"math.e", std::numbers::e},
                                                        {"torch.finfo.min", -static_cast<double>(FLT_MAX)},
                                                        {"torch.finfo.max", static_cast<double>(FLT_MAX)},
                                                        {"torch.finfo.eps", static_cast<double>(FLT_EPSILON)}}};

}  // namespace

std::optional<double> library_constant(std::string_view path) {
  for (const auto& constant : k_constants) {
    if (constant.path == path) return constant.value;
  }
  return std::nullopt;
}

}  // namespace kw
