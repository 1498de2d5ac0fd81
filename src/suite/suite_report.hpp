#pragma once
// The suite as something to read: a row per problem that leads to its report, the curve, the figures. Printed by the
// printers of report/. Pure.

#include <span>

#include "report/model.hpp"
#include "suite/suite_figures.hpp"

namespace kw {

/// `folder` names the suite.
[[nodiscard]] ReportModel build_suite_report(const SuiteState& state, const SuiteFigures& figures,
                                             std::span<const SuiteBaseline> others, const std::string& folder);

/// "correct (5 of 5 trials)": what stands beside our own verdict. Empty without one.
[[nodiscard]] std::string kernelbench_words(const SuiteRow& row);

}  // namespace kw
