#include "mod/frontend/nearest_call.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/closest_name.hpp"
#include "mod/frontend/call_table.hpp"

namespace kw {
namespace {

/// Functions and methods that are not read, each between spaces.
constexpr std::string_view k_torch =
    " acos acosh addcdiv addcmul addmm addr allclose amax amin aminmax angle arccos arccosh arcsin arcsinh arctan "
    "arctan2 arctanh argmin argsort as_tensor asin asinh atan atan2 atan_ atanh baddbmm bincount bmm broadcast_to "
    "bucketize byte celu chunk complex conj copysign cosh count_nonzero cov cross cummax cummin cumprod deg2rad "
    "diag diff digamma dist einsum equal erfc erfcx erfinv expand eye fill flatten flip fmax fmin frac frexp "
    "from_numpy gcd ge_ geqrf ger glu gumbel_softmax hardshrink hardswish heaviside histc hypot i0 igamma imag "
    "index_add index_put is_tensor isclose isin isneginf isposinf isreal kron lcm ldexp lerp lgamma linspace log10 "
    "log_ndtr log_softmax logaddexp logaddexp2 logcumsumexp logit logsigmoid logspace logsumexp lu masked_fill "
    "masked_select median mish mm mode movedim msort mul_ mv nan_to_num nanmean nansum nextafter nonzero norm "
    "normalize not_equal_ one_hot outer pad permute polygamma positive prelu prod quantile rad2deg ravel real "
    "repeat reshape roll rrelu rsub scatter selu sgn short signbit sinc sinh slice softmin sort split std stft "
    "swapaxes t take tanhshrink tensordot threshold tile topk trace transpose trapezoid tril triu unbind unflatten "
    "unfold unique var view view_as vstack xlog1py xlogy zero_ ";
constexpr std::string_view k_math =
    " acos acosh asin asinh atan atan2 atanh cbrt comb copysign cosh degrees dist erfc factorial fsum gamma hypot "
    "isclose lcm ldexp lgamma log10 modf nextafter perm radians remainder sinh tan ulp ";

bool lists(std::string_view words, std::string_view word) {
  return words.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

}  // namespace

std::optional<std::string> nearest_call(std::string_view path) {
  const auto dot = path.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto module = path.substr(0, dot + 1);
  const auto name = path.substr(dot + 1);
  if (module == "torch." && lists(k_torch, name)) return std::nullopt;
  if (module == "math." && lists(k_math, name)) return std::nullopt;
  std::vector<std::string> known;
  for (const auto& row : call_table()) {
    const bool same = row.path.starts_with(module) && row.path.find('.', module.size()) == std::string_view::npos;
    if (same) known.emplace_back(row.path.substr(module.size()));
  }
  const auto near = closest_name(name, known);
  if (!near) return std::nullopt;
  return std::string(module) + *near;
}

}  // namespace kw
