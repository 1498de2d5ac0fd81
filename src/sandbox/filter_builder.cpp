#include "sandbox/filter_builder.hpp"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/unique_fd.hpp"
#include "sandbox/sandbox.hpp"

namespace kw {
namespace {

scmp_arg_cmp comparison_of(const ArgumentTest& test) {
  using Kind = ArgumentTest::Kind;
  if (test.kind == Kind::has_bits) return {test.index, SCMP_CMP_MASKED_EQ, test.mask, test.value};
  const auto compare = test.kind == Kind::not_equal  ? SCMP_CMP_NE
                       : test.kind == Kind::at_least ? SCMP_CMP_GE
                       : test.kind == Kind::below    ? SCMP_CMP_LT
                                                     : SCMP_CMP_EQ;
  return {test.index, compare, test.value, 0};
}

}  // namespace

struct FilterBuilder::Context {
  scmp_filter_ctx filter = nullptr;
  int error = 0;  ///< the first refusal of libseccomp, reported when the filter is used
  std::string refused;
};

FilterBuilder::FilterBuilder(Others others) : context_(std::make_unique<Context>()) {
  context_->filter = ::seccomp_init(others == Others::allowed ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM));
  if (context_->filter == nullptr) {
    context_->error = -ENOMEM;
    return;
  }
  // Calls in 32-bit or x32 numbering would go past the list below.
  ::seccomp_attr_set(context_->filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  // Before Linux 5.16 a filter turned speculation off for the whole process, which would slow down what we measure.
  ::seccomp_attr_set(context_->filter, SCMP_FLTATR_CTL_SSB, 1);
  ::seccomp_attr_set(context_->filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
}

FilterBuilder::~FilterBuilder() {
  if (context_->filter != nullptr) ::seccomp_release(context_->filter);
}

void FilterBuilder::add(std::string_view name, std::uint32_t action, std::span<const ArgumentTest> tests) {
  if (context_->filter == nullptr) return;
  const int number = ::seccomp_syscall_resolve_name(std::string(name).c_str());
  if (number == __NR_SCMP_ERROR) return;
  std::vector<scmp_arg_cmp> compared;
  for (const ArgumentTest& test : tests) {
    compared.push_back(comparison_of(test));
  }
  const auto count = static_cast<unsigned>(compared.size());
  const int failed = ::seccomp_rule_add_array(context_->filter, action, number, count, compared.data());
  // EEXIST: an equal rule is there already.
  if (failed != 0 && failed != -EEXIST && context_->error == 0) {
    context_->error = failed;
    context_->refused = name;
  }
}

void FilterBuilder::deny(std::span<const std::string_view> names) {
  for (const std::string_view name : names) add(name, SCMP_ACT_ERRNO(EPERM), {});
}

void FilterBuilder::allow(std::span<const std::string_view> names) {
  for (const std::string_view name : names) add(name, SCMP_ACT_ALLOW, {});
}

void FilterBuilder::deny_if(std::string_view name, ArgumentTest test) {
  add(name, SCMP_ACT_ERRNO(EPERM), std::span(&test, 1));
}

void FilterBuilder::allow_if(std::string_view name, std::span<const ArgumentTest> tests) {
  add(name, SCMP_ACT_ALLOW, tests);
}

void FilterBuilder::answer(std::string_view name, int error) {
  add(name, SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)), {});
}

Result<std::vector<sock_filter>> FilterBuilder::program() const {
  if (context_->error != 0) {
    return fail(errc::sandbox_failed, "libseccomp refused the rule for {}: {}", context_->refused,
                std::strerror(-context_->error));
  }
  const UniqueFd file(::memfd_create("filter", MFD_CLOEXEC));
  struct stat status {};
  if (!file.valid() || ::seccomp_export_bpf(context_->filter, file.get()) != 0 || ::fstat(file.get(), &status) != 0) {
    return fail(errc::sandbox_failed, "libseccomp could not write the system-call filter");
  }
  std::vector<sock_filter> program(static_cast<std::size_t>(status.st_size) / sizeof(sock_filter));
  if (::pread(file.get(), program.data(), program.size() * sizeof(sock_filter), 0) != status.st_size) {
    return fail(errc::sandbox_failed, "cannot read the system-call filter back");
  }
  return program;
}

Result<void> FilterBuilder::load_on_all_threads() const {
  if (context_->error != 0) {
    return fail(errc::sandbox_failed, "libseccomp refused the rule for {}: {}", context_->refused,
                std::strerror(-context_->error));
  }
  ::seccomp_attr_set(context_->filter, SCMP_FLTATR_CTL_TSYNC, 1);
  if (const int error = ::seccomp_load(context_->filter); error != 0) {
    return fail(errc::sandbox_failed, "the kernel refused the system-call filter: {}", std::strerror(-error));
  }
  return {};
}

}  // namespace kw
