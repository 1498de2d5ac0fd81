#pragma once
// Loaded programs and the plans that launch them: the run process's side of the device.

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/sim/access_table.hpp"
#include "device/sim/block.hpp"
#include "device/sim/findings.hpp"
#include "device/sim/image.hpp"
#include "device/sim/program.hpp"
#include "device/sim/runtime/abi.hpp"
#include "protocol/messages.hpp"

namespace kw::sim {

class Simulator {
 public:
  /// Writes the programs' objects into `directory`; loads nothing yet. `lanes` is the width of a warp.
  [[nodiscard]] static Result<std::unique_ptr<Simulator>> open(const LoadRequest& request, std::span<std::byte> arena,
                                                               const std::filesystem::path& directory, unsigned lanes);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// Every launch of the plan, block after block. errc::device_refused with the first finding; after a finding nothing
  /// more is run in this process.
  [[nodiscard]] Result<void> launch(std::int64_t plan);

  /// What warps asked of memory since the last call, by kernel and line; nothing unless the request asked for it. At
  /// most k_max_access_lines: what the smallest ones count goes to line 0 of their kernel.
  [[nodiscard]] std::vector<AccessCounts> take_accesses();
  /// Accesses that were not counted, in all.
  [[nodiscard]] std::int64_t uncounted_accesses() const;

 private:
  struct Binary {
    Program program;
    std::filesystem::path file;
    std::unique_ptr<Image> image;  ///< null until it is first launched
  };

  Simulator(const LoadRequest& request, unsigned lanes);
  [[nodiscard]] Result<void> reserve_stacks();
  [[nodiscard]] Result<void> load_image(Binary& binary);
  [[nodiscard]] Result<void> run_kernel(const PlannedLaunch& launch, const LoadedPlan& plan, const Binary& binary,
                                        GlobalMemory& memory);
  void run_blocks(const KernelRun& run, const GroupBox& box, const Image& image, GlobalMemory& memory);
  [[nodiscard]] int line_of(kw_sim::Place place) const;
  void collect_accesses(const KernelRun& run, const Image& image);

  std::vector<LoadedPlan> plans_;
  std::span<std::byte> arena_;
  std::vector<Binary> binaries_;
  std::map<std::int64_t, std::unique_ptr<GlobalMemory>> memories_;  ///< by plan
  std::span<std::byte> stacks_;
  unsigned lanes_;
  unsigned runners_ = 1;
  Counting counting_;
  kw_sim::Runtime runtime_{};
  FindingLog findings_;
  std::atomic<bool> stop_{false};
  std::map<const Image*, std::vector<std::unique_ptr<Block>>> blocks_;  ///< one per runner
  AccessTable accesses_;
};

/// All functions; the stacks are the caller's to fill in.
[[nodiscard]] kw_sim::Runtime callbacks(Counting counting);

}  // namespace kw::sim
