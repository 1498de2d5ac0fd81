#include "propose/search/static_estimate.hpp"

#include <limits>
#include <memory>

#include "propose/search/search_space.hpp"

namespace kw {
namespace {

constexpr double k_unknown = std::numeric_limits<double>::infinity();

}  // namespace

StaticEstimate static_estimate(const Problem& problem, const DeviceFacts& device, const std::string& target,
                               const std::string& style_name) {
  const auto style = find_style(problem.op, target, style_name);
  auto opened = style ? SearchSpace::open(**style, problem, device) : tl::unexpected(style.error());
  if (!opened) return [](const Candidate&) { return k_unknown; };
  // Shared, because functions are copied and the space remembers the bundles it emitted.
  return [space = std::make_shared<SearchSpace>(*std::move(opened))](const Candidate& candidate) {
    const auto point = space->point_of(candidate);
    return point ? space->estimate(*point) : k_unknown;
  };
}

}  // namespace kw
