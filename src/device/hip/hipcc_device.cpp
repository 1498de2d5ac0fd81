#include "device/hip/hipcc_device.hpp"

#include <filesystem>
#include <system_error>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "device/build_steps.hpp"
#include "device/hip/hipcc_build.hpp"
#include "device/sim/child_program.hpp"
#include "hardware/gpu_arch.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_hipcc_prefix = "hipcc:";

/// The variable alone when it is set; else $HIP_PATH, $ROCM_PATH and the usual places.
Result<std::string> find_hipcc() {
  std::vector<fs::path> places;
  if (const std::string given = environment_variable(hip::k_hipcc_variable); !given.empty()) {
    places.emplace_back(given);
  } else {
    for (const char* root : {"HIP_PATH", "ROCM_PATH"}) {
      if (const std::string value = environment_variable(root); !value.empty())
        places.push_back(fs::path(value) / "bin/hipcc");
    }
    places.insert(places.end(), {"/opt/rocm/bin/hipcc", "/usr/bin/hipcc"});
  }
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::is_regular_file(place, error)) return place.string();
  }
  const std::string looked = join(places, " or ", [](const fs::path& place) { return place.string(); });
  return fail(Error{errc::device_unavailable, "hipcc, the HIP compiler, is not at " + looked,
                    "install ROCm or the package hipcc (apt-get install hipcc), set ROCM_PATH, or name the program in "
                    "KERNELWRIGHT_HIPCC; `--device sim` runs HIP kernels without it"});
}

class HipccDevice final : public Device {
 public:
  HipccDevice(std::string program, DeviceFacts facts) : program_(std::move(program)), facts_(std::move(facts)) {}

  [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }
  BuildReply build(const BuildRequest& request) override {
    return hip::build(program_, private_directory(), facts_, request);
  }
  Result<void> load(const LoadRequest&, std::span<std::byte>) override { return refuse(); }
  Result<LaunchReply> launch(const LaunchRequest&) override { return tl::unexpected(refuse().error()); }

 private:
  [[nodiscard]] Result<void> refuse() const {
    return fail(errc::device_refused, "{} compiles, it runs nothing", facts_.id);
  }

  std::string program_;
  DeviceFacts facts_;
};

}  // namespace

Result<std::vector<DeviceFacts>> describe_hipcc() {
  constexpr std::size_t k_most_version_bytes = 4096;
  KW_TRY(const std::string program, find_hipcc());
  KW_TRY(const auto version, sim::run_program({program, "--version"}, k_most_version_bytes));
  DeviceFacts facts;
  facts.id = "hipcc";
  facts.target = "hip";
  facts.name = version.output.substr(0, version.output.find('\n'));
  facts.driver = program;
  facts.kind = DeviceKind::null_device;  // nothing runs on it
  return std::vector{std::move(facts)};
}

Result<std::unique_ptr<Device>> open_hipcc(const std::string& device_id) {
  const bool named = device_id.starts_with(k_hipcc_prefix);
  const auto arch = named ? find_gpu_arch(std::string_view(device_id).substr(k_hipcc_prefix.size())) : std::nullopt;
  if (!arch || arch->target != "hip") {
    return fail(errc::device_unavailable, "'{}' is not an architecture that hipcc can compile for", device_id);
  }
  KW_TRY(std::string program, find_hipcc());
  DeviceFacts facts = gpu_arch_facts(*arch);
  facts.id = device_id;
  return std::make_unique<HipccDevice>(std::move(program), std::move(facts));
}

}  // namespace kw
