#pragma once
// Reads where a captured tensor's values come from: the four sources of a table [tensors.NAME].

#include "base/result.hpp"
#include "problem/captures/generators.hpp"
#include "problem/file/capture_reader.hpp"
#include "problem/file/config_tree.hpp"
#include "problem/problem.hpp"

namespace kw {

/// A table [tensors.NAME] and what it may refer to.
struct CaptureTable {
  const ConfigValue& table;
  const ProblemFolder& folder;
  Axes& axes;  ///< of the primary workload; grows by the axes that only values have
  Problem& problem;
};

// Each sets source, source_text and what the source tells of the values. Type, axes and bounds have been read.

/// Written numbers, or those of an .npy file.
[[nodiscard]] Result<void> read_fixed(const CaptureTable& at, const ConfigValue& source, bool npy, Capture& capture);
[[nodiscard]] Result<void> read_formula(const CaptureTable& at, const ConfigValue& source, Capture& capture);
[[nodiscard]] Result<void> read_generator(const CaptureTable& at, const CaptureGenerator& generator,
                                          const ConfigValue& source, Capture& capture);

/// Whether the generator has a parameter of that name; it comes before a bound of the tensor's.
[[nodiscard]] bool has_parameter(const CaptureGenerator* generator, std::string_view name);

}  // namespace kw
