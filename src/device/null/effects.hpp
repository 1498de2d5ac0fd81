#pragma once
// What the null device's directives do to the process. Each returns nothing when it had its effect (or never returns),
// and a reason when the system stopped it.

#include <cstdint>
#include <optional>
#include <string>

namespace kw::null_effects {

[[noreturn]] void hang();
[[noreturn]] void sleep_until_killed();
[[noreturn]] void crash();
void spin(std::int64_t microseconds);
std::optional<std::string> allocate(std::int64_t bytes);
std::optional<std::string> fork_children(std::int64_t count);
std::optional<std::string> execute(const std::string& path);
std::optional<std::string> write_file(const std::string& path);
std::optional<std::string> send_garbage();

}  // namespace kw::null_effects
