#pragma once
// What the hostile program can do. One process does one act, named on its command line, and reports over descriptor 3
// what came of it: "done" when it got what it wanted, else the name of the error. The tests never take its word for an
// effect they can look at themselves.
//
// Each act is preceded by a comment of what must happen: RUN (the arguments) and EXPECT (with the sandbox).

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw::hostile {

using Arguments = std::vector<std::string>;

struct Act {
  std::string_view name;
  std::string (*run)(const Arguments& arguments);
};

// One table per theme; main looks a name up in all of them.
[[nodiscard]] std::span<const Act> life_acts();
[[nodiscard]] std::span<const Act> process_acts();
[[nodiscard]] std::span<const Act> memory_acts();
[[nodiscard]] std::span<const Act> file_acts();
[[nodiscard]] std::span<const Act> inheritance_acts();
[[nodiscard]] std::span<const Act> code_acts();
[[nodiscard]] std::span<const Act> other_acts();

/// "EPERM" for errno 1; a number for one without a name.
[[nodiscard]] std::string error_name(int error);
/// "done", or errno's name when `succeeded` is false.
[[nodiscard]] std::string outcome(bool succeeded);
/// Pages as a worker has them for the buffers of a kernel: 16 of them, which exist from the first call on.
[[nodiscard]] std::span<std::byte> arena();
/// Sends one frame to the host.
void report(std::string_view text);

}  // namespace kw::hostile
