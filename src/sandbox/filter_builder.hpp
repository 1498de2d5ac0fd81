#pragma once
// A filter of system calls, on libseccomp: a deny list, or a list of all that is left. Several filters of a process
// hold together. Internal to the sandbox.

#include <linux/filter.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

/// One argument of a call, compared as the kernel will read it.
struct ArgumentTest {
  enum class Kind : std::uint8_t {
    has_bits,   ///< (argument & mask) == value
    not_equal,  ///< all 64 bits, so that stray upper bits count as different
    equal,      ///< all 64 bits
    at_least,   ///< as a number of 64 bits
    below,      ///< the same
  };
  Kind kind = Kind::has_bits;
  unsigned index = 0;
  std::uint64_t mask = 0;
  std::uint64_t value = 0;
};

/// What is decided of calls that no rule names.
enum class Others : std::uint8_t { allowed, denied };

class FilterBuilder {
 public:
  explicit FilterBuilder(Others others = Others::allowed);
  ~FilterBuilder();
  FilterBuilder(const FilterBuilder&) = delete;
  FilterBuilder& operator=(const FilterBuilder&) = delete;

  /// EPERM for each of them; a name that this machine or libseccomp does not know is skipped.
  void deny(std::span<const std::string_view> names);
  /// EPERM when the test holds; several calls for one name are alternatives.
  void deny_if(std::string_view name, ArgumentTest test);
  /// Where others are denied: these are not.
  void allow(std::span<const std::string_view> names);
  /// When all of the tests hold.
  void allow_if(std::string_view name, std::span<const ArgumentTest> tests);
  /// Another error, for calls whose users know a way around.
  void answer(std::string_view name, int error);

  /// The program, to be installed by a process that may only make system calls.
  [[nodiscard]] Result<std::vector<sock_filter>> program() const;
  /// Installs it on every thread of this process, for good.
  [[nodiscard]] Result<void> load_on_all_threads() const;

 private:
  struct Context;
  void add(std::string_view name, std::uint32_t action, std::span<const ArgumentTest> tests);

  std::unique_ptr<Context> context_;
};

}  // namespace kw
