#pragma once
// What a style's cost model says of a kernel that somebody wrote. It orders kernels of one style where nothing can be
// timed, and says nothing about how fast any of them is.

#include <functional>
#include <string>

#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

/// Lower is better; infinity for a kernel that the style could not have written.
using StaticEstimate = std::function<double(const Candidate&)>;

/// `problem` must outlive the estimate. Infinity for every kernel where there is no such style.
[[nodiscard]] StaticEstimate static_estimate(const Problem& problem, const DeviceFacts& device,
                                             const std::string& target, const std::string& style_name);

}  // namespace kw
