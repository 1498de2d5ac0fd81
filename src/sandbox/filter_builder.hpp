#pragma once
// A deny list for system calls, on libseccomp. Everything not named stays allowed. Internal to the sandbox.

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
  };
  Kind kind = Kind::has_bits;
  unsigned index = 0;
  std::uint64_t mask = 0;
  std::uint64_t value = 0;
};

class FilterBuilder {
 public:
  FilterBuilder();
  ~FilterBuilder();
  FilterBuilder(const FilterBuilder&) = delete;
  FilterBuilder& operator=(const FilterBuilder&) = delete;

  /// EPERM for each of them; a name that this machine or libseccomp does not know is skipped.
  void deny(std::span<const std::string_view> names);
  /// EPERM when the test holds; several calls for one name are alternatives.
  void deny_if(std::string_view name, ArgumentTest test);
  /// Another error, for calls whose users know a way around.
  void answer(std::string_view name, int error);

  /// The program, to be installed by a process that may only make system calls.
  [[nodiscard]] Result<std::vector<sock_filter>> program() const;
  /// Installs it on every thread of this process, for good.
  [[nodiscard]] Result<void> load_on_all_threads() const;

 private:
  struct Context;
  void add(std::string_view name, int error, const ArgumentTest* test);

  std::unique_ptr<Context> context_;
};

}  // namespace kw
