// Constants of torch and math.

#include <array>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <numbers>

#include "mod/frontend/calls.hpp"

namespace kw {
namespace {

struct NamedConstant {
  std::string_view path;
  double value;
};
constexpr double k_inf = std::numeric_limits<double>::infinity();
constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
// The largest finite values of the narrow types: (2 - 2^-10) * 2^15 and (2 - 2^-7) * 2^127.
constexpr double k_half_max = 65504.0;
constexpr double k_bfloat_max = 0x1.fep127;
constexpr std::array<NamedConstant, 18> k_constants = {{{"torch.inf", k_inf},
                                                        {"math.inf", k_inf},
                                                        {"torch.nan", k_nan},
                                                        {"math.nan", k_nan},
                                                        {"torch.pi", std::numbers::pi},
                                                        {"math.pi", std::numbers::pi},
                                                        {"math.tau", 2 * std::numbers::pi},
                                                        {"torch.e", std::numbers::e},
                                                        {"math.e", std::numbers::e},
                                                        {"torch.finfo.float32.min", -static_cast<double>(FLT_MAX)},
                                                        {"torch.finfo.float32.max", static_cast<double>(FLT_MAX)},
                                                        {"torch.finfo.float32.eps", static_cast<double>(FLT_EPSILON)},
                                                        {"torch.finfo.float16.min", -k_half_max},
                                                        {"torch.finfo.float16.max", k_half_max},
                                                        {"torch.finfo.float16.eps", 0x1p-10},
                                                        {"torch.finfo.bfloat16.min", -k_bfloat_max},
                                                        {"torch.finfo.bfloat16.max", k_bfloat_max},
                                                        {"torch.finfo.bfloat16.eps", 0x1p-7}}};

}  // namespace

std::optional<double> library_constant(std::string_view path) {
  for (const auto& constant : k_constants) {
    if (constant.path == path) return constant.value;
  }
  return std::nullopt;
}

}  // namespace kw
