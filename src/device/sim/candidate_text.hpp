#pragma once
// What a candidate may not say to the simulator's compiler. The simulator sees accesses because that compiler adds a
// call to each; attributes, pragmas, built-in functions and names of the instrumentation could take it away. Judged is
// the text that the preprocessor leaves, in which macros and pasted names stand as they will be compiled.

#include <optional>
#include <string>
#include <string_view>

namespace kw::sim {

/// The candidate's text in front of and behind which these declarations stand; it can contain neither.
inline constexpr std::string_view k_candidate_begins = "typedef int kw_sim_candidate_begins;";
inline constexpr std::string_view k_candidate_ends = "typedef int kw_sim_candidate_ends;";

/// The first such thing between the two, as it is to be named to the author; "no candidate" without them.
[[nodiscard]] std::optional<std::string> forbidden_in_candidate(std::string_view preprocessed);

}  // namespace kw::sim
