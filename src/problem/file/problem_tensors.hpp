#pragma once
// Adds captured tensors to a problem without editing its file: what --tensor says.

#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "base/result.hpp"
#include "problem/problem.hpp"

namespace kw {

/// Each declaration is "NAME=FILE.npy" or "NAME=[1, 2]", numbers as problem files and Python write them; or
/// "NAME[B,Skv]=...", which names the axes. Without names, each dimension is an axis of its own, NAME_dim0, NAME_dim1,
/// that no workload changes. The type is f32 when any number has a point, i32, or bool; f16 of such an .npy file.
/// The text of the problem (Problem::source, required) grows by a table for each, so that it is stored with the rest.
/// `file` is the problem's, for its own .npy files; those of declarations are anywhere. errc::problem_value names a
/// declaration that cannot be read; the rest as parse_problem, without a place.
[[nodiscard]] Result<Problem> with_tensors(Problem problem, const std::string& file,
                                           const std::vector<std::string>& declarations, const FileSystem& files);

}  // namespace kw
