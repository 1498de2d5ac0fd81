#pragma once
// Runs stages in double precision, one element at a time: what decompositions mean, without any kernel.

#include <map>
#include <vector>

#include "program/stages/stage.hpp"

namespace kw::program_test {

/// Elements by buffer; inputs are given, the others are computed.
using StageValues = std::map<std::size_t, std::vector<double>>;

void run_stages(const StageProgram& program, StageValues& values);

}  // namespace kw::program_test
