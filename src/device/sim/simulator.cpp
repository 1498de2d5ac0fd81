#include "device/sim/simulator.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/file_system.hpp"
#include "device/device.hpp"
#include "device/sim/threads.hpp"

namespace kw::sim {
namespace {

/// Of one thread, guard page included: arrays that a GPU keeps in registers and local memory.
constexpr std::size_t k_stack_bytes = (std::size_t{128} << 10) + k_stack_guard_bytes;

kw_sim::Coordinates coordinates(const std::int64_t (&extents)[3]) {
  return {static_cast<unsigned>(extents[0]), static_cast<unsigned>(extents[1]), static_cast<unsigned>(extents[2])};
}

/// The groups that a launch asks for.
GroupBox box_of(const PlannedLaunch& launch) {
  if (launch.only) return *launch.only;
  return {{0, 0, 0}, {launch.grid[0], launch.grid[1], launch.grid[2]}};
}

}  // namespace

Simulator::Simulator(const LoadRequest& request, unsigned lanes)
    : plans_(request.plans),
      lanes_(lanes),
      counting_(lanes == AccessCounter::k_lanes ? request.counting : Counting::none),
      findings_([this](kw_sim::Place place) { return line_of(place); }) {
  runners_ = std::clamp(std::thread::hardware_concurrency(), 1U, k_max_runners);
}

Simulator::~Simulator() {
  if (!stacks_.empty()) ::munmap(stacks_.data(), stacks_.size());
}

Result<std::unique_ptr<Simulator>> Simulator::open(const LoadRequest& request, std::span<std::byte> arena,
                                                   const std::filesystem::path& directory, unsigned lanes) {
  KW_TRY_VOID(check_load_request(request, arena.size()));
  std::unique_ptr<Simulator> simulator(new Simulator(request, lanes));
  simulator->arena_ = arena;
  RealFileSystem files;
  for (const std::string& bytes : request.binaries) {
    Binary binary;
    KW_TRY(binary.program, decode_program(bytes));
    binary.file = directory / fmt::format("candidate{}.so", simulator->binaries_.size());
    KW_TRY_VOID(files.write_atomic(binary.file, binary.program.object));
    simulator->binaries_.push_back(std::move(binary));
  }
  KW_TRY_VOID(simulator->reserve_stacks());
  return simulator;
}

Result<void> Simulator::reserve_stacks() {
  const std::size_t bytes = runners_ * k_max_threads * k_stack_bytes;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return fail(errc::device_refused, "no memory for stacks: {}", std::strerror(errno));
  stacks_ = {static_cast<std::byte*>(memory), bytes};
  for (std::size_t at = 0; at < bytes; at += k_stack_bytes) {
    if (::mprotect(stacks_.data() + at, k_stack_guard_bytes, PROT_NONE) != 0) {
      return fail(errc::device_refused, "no guard page between stacks: {}", std::strerror(errno));
    }
  }
  runtime_ = callbacks(counting_);
  runtime_.stacks = reinterpret_cast<const char*>(stacks_.data());
  runtime_.stack_bytes = stacks_.size();
  return {};
}

Result<void> Simulator::load_image(Binary& binary) {
  if (binary.image) return {};
  KW_TRY(Image image, Image::load(binary.file, runtime_));
  binary.image = std::make_unique<Image>(image);
  auto& blocks = blocks_[binary.image.get()];
  for (unsigned runner = 0; runner < runners_; ++runner) {
    const StackArea stacks{stacks_.data() + runner * k_max_threads * k_stack_bytes, k_stack_bytes};
    blocks.push_back(std::make_unique<Block>(runner, lanes_, stacks, binary.image->memory(), findings_, stop_));
    if (counting_ != Counting::accesses) continue;
    blocks.back()->count_accesses();
    blocks.back()->counter()->branches().leave_out([&binary](kw_sim::Place place) {
      return binary.program.is_inlined_at(place - reinterpret_cast<kw_sim::Place>(binary.image->memory().data()));
    });
  }
  return {};
}

int Simulator::line_of(kw_sim::Place place) const {
  for (const Binary& binary : binaries_) {
    if (!binary.image) continue;
    const auto begin = reinterpret_cast<kw_sim::Place>(binary.image->memory().data());
    if (place >= begin && place < begin + binary.image->memory().size()) return binary.program.line_at(place - begin);
  }
  return 0;
}

Result<void> Simulator::launch(std::int64_t plan) {
  if (plan < 0 || static_cast<std::size_t>(plan) >= plans_.size()) {
    return fail(errc::device_refused, "there is no plan {}", plan);
  }
  const LoadedPlan& loaded = plans_[static_cast<std::size_t>(plan)];
  Binary& binary = binaries_[static_cast<std::size_t>(loaded.binary)];
  KW_TRY_VOID(load_image(binary));
  auto& memory = memories_[plan];
  if (!memory) memory = std::make_unique<GlobalMemory>(loaded, arena_);
  for (const PlannedLaunch& launch : loaded.plan.launches) {
    KW_TRY_VOID(run_kernel(launch, loaded, binary, *memory));
    findings_.finish();
    if (findings_.any()) return fail(errc::device_refused, "the simulator found: {}", findings_.first());
  }
  return {};
}

Result<void> Simulator::run_kernel(const PlannedLaunch& launch, const LoadedPlan& plan, const Binary& binary,
                                   GlobalMemory& memory) {
  if (findings_.any()) return fail(errc::device_refused, "the simulator found: {}", findings_.first());
  KernelRun run;
  KW_TRY(run.entry, binary.image->kernel(launch.kernel));
  run.kernel = launch.kernel;
  run.grid = coordinates(launch.grid);
  const GroupBox box = box_of(launch);
  run.block = coordinates(launch.block);
  run.shared_bytes = static_cast<std::size_t>(launch.shared_bytes);
  for (const KernelArg& arg : launch.args) {
    if (const auto* buffer = std::get_if<BufferArg>(&arg)) {
      const ArenaSlot& slot = plan.slots[static_cast<std::size_t>(buffer->buffer)];
      run.arguments.push_back(reinterpret_cast<std::uintptr_t>(arena_.data() + slot.offset));
    } else if (const auto* number = std::get_if<IntArg>(&arg)) {
      run.arguments.push_back(static_cast<std::uint32_t>(number->value));
    } else {
      return fail(errc::device_refused,
                  "CUDA and HIP have no argument for shared memory: declare it extern __shared__");
    }
  }
  run_blocks(run, box, *binary.image, memory);
  return {};
}

void Simulator::run_blocks(const KernelRun& run, const GroupBox& box, const Image& image, GlobalMemory& memory) {
  const kw_sim::Coordinates first = coordinates(box.first);
  const kw_sim::Coordinates extents = coordinates(box.count);
  const std::uint64_t count = std::uint64_t{extents.x} * extents.y * extents.z;
  auto& blocks = blocks_[&image];
  for (unsigned i = 0; i < runners_; ++i) {
    memory.order.first_epoch[i] = blocks[i]->next_epoch();
    memory.order.released[i] = 0;
  }
  std::atomic<std::uint64_t> next{0};
  const auto work = [&](Block& block) {
    const SharedRegion shared = image.shared_region(run.shared_bytes);
    block.begin_launch(run, memory, shared);
    for (std::uint64_t i = next++; i < count && !stop_; i = next++) {
      block.run({first.x + static_cast<unsigned>(i % extents.x),
                 first.y + static_cast<unsigned>(i / extents.x % extents.y),
                 first.z + static_cast<unsigned>(i / (std::uint64_t{extents.x} * extents.y))});
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < runners_ && i < count; ++i) others.emplace_back([&, i] { work(*blocks[i]); });
  work(*blocks[0]);
  for (std::thread& other : others) other.join();
  if (counting_ == Counting::accesses) collect_accesses(run, image);
}

void Simulator::collect_accesses(const KernelRun& run, const Image& image) {
  for (const auto& block : blocks_[&image]) {
    for (const auto& [site, totals] : block->counter()->take()) {
      const bool is_line = site.place < kw_sim::k_most_lines;
      accesses_.add(run.kernel, is_line ? static_cast<int>(site.place) : line_of(site.place), site, totals);
    }
    for (const auto& [place, totals] : block->counter()->branches().take()) {
      accesses_.add(run.kernel, line_of(place), totals);
    }
  }
}

std::vector<AccessCounts> Simulator::take_accesses() {
  return accesses_.take(k_max_access_lines);
}

std::int64_t Simulator::uncounted_accesses() const {
  std::int64_t sum = 0;
  for (const auto& [image, blocks] : blocks_) {
    for (const auto& block : blocks) sum += block->counter() == nullptr ? 0 : block->counter()->uncounted();
  }
  return sum;
}

}  // namespace kw::sim
