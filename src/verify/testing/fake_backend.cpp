#include "verify/testing/fake_backend.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "problem/oracle.hpp"

namespace kw {
namespace {

constexpr std::size_t k_guard_bytes = 64;
constexpr std::int64_t k_request_ns = 20'000;

/// Answers of the oracle, remembered by input bytes: the same data is launched many times.
const OutputValues& answers(const Problem& problem, const Workload& workload, const InputValues& inputs) {
  static thread_local std::map<std::string, OutputValues> known;
  Hasher hasher;
  hasher.add(problem.name).add(workload.name);
  for (const auto& values : inputs) {
    hasher.add(std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  }
  const std::string key = hasher.finish().hex();
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  auto outputs = evaluate_oracle(problem, workload, inputs);
  KW_CHECK(outputs.has_value(), "the oracle refused a fake launch");
  return known.emplace(key, *std::move(outputs)).first->second;
}

class FakeProcess final : public KernelProcess {
 public:
  /// `is_killed` is asked before each launch.
  FakeProcess(const Problem& problem, FakeClock& clock, FakeKernel kernel, StartRequest request, std::uint64_t seed,
              std::function<bool()> is_killed)
      : problem_(problem),
        clock_(clock),
        kernel_(std::move(kernel)),
        request_(std::move(request)),
        rng_(seed),
        is_killed_(std::move(is_killed)) {}

  Result<void> select(std::size_t plan) override {
    if (plan == plan_ && !arena_.empty()) return {};
    plan_ = plan;
    workload_ = workload_of(plan);
    std::size_t total = k_guard_bytes;
    offsets_.clear();
    for (const auto& buffer : request_.plans[plan].plan.buffers) {
      offsets_.push_back(total);
      total += static_cast<std::size_t>(buffer.bytes) + k_guard_bytes;
    }
    arena_.assign(total, std::byte{0xff});
    return {};
  }

  std::span<std::byte> buffer(std::size_t index) override {
    return {arena_.data() + offsets_[index], static_cast<std::size_t>(buffers()[index].bytes)};
  }

  std::vector<std::span<std::byte>> guards() override {
    std::vector<std::span<std::byte>> zones = {{arena_.data(), k_guard_bytes}};
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      const auto payload = buffer(i);
      zones.emplace_back(payload.data() + payload.size(), k_guard_bytes);
    }
    return zones;
  }

  std::variant<LaunchOutcome, LaunchFailure, LostWorker> launch(bool cold, Duration deadline) override;

 private:
  [[nodiscard]] const std::vector<PlannedBuffer>& buffers() const { return request_.plans[plan_].plan.buffers; }
  [[nodiscard]] std::size_t workload_of(std::size_t plan) const;
  [[nodiscard]] InputValues read_inputs();
  [[nodiscard]] double first_product(const InputValues& inputs) const;
  [[nodiscard]] bool knows(const InputValues& inputs);
  [[nodiscard]] bool has_large_scores(const InputValues& inputs) const;
  void write_outputs(const OutputValues& values);
  void misbehave(bool cold);
  [[nodiscard]] std::span<std::byte> first(BufferRole role);

  const Problem& problem_;
  FakeClock& clock_;
  FakeKernel kernel_;
  StartRequest request_;
  Rng rng_;
  std::function<bool()> is_killed_;  ///< asked at each launch
  std::size_t plan_ = 0;
  std::size_t workload_ = 0;
  std::vector<std::size_t> offsets_;
  std::vector<std::byte> arena_;
  std::vector<double> products_;  ///< what a kernel that replays remembers
};

/// The workload of this plan's number, or, of a kernel that is run one launch at a time and has a plan for each, the
/// first one whose inputs have these sizes.
std::size_t FakeProcess::workload_of(std::size_t plan) const {
  const auto fits = [&](std::size_t workload) {
    std::size_t input = 0;
    for (const auto& planned : request_.plans[plan].plan.buffers) {
      if (planned.role != BufferRole::input) continue;
      const auto count = element_count(problem_.inputs[input++], problem_.workloads[workload].axes);
      if (!count || *count * std::int64_t{sizeof(float)} != planned.bytes) return false;
    }
    return true;
  };
  if (plan < problem_.workloads.size() && fits(plan)) return plan;
  for (std::size_t workload = 0; workload < problem_.workloads.size(); ++workload) {
    if (fits(workload)) return workload;
  }
  KW_CHECK(false, "a fake kernel's plan fits no workload of {}", problem_.name);
  return 0;
}

InputValues FakeProcess::read_inputs() {
  InputValues inputs;
  for (std::size_t i = 0; i < buffers().size(); ++i) {
    if (buffers()[i].role != BufferRole::input) continue;
    const auto bytes = buffer(i);
    auto& values = inputs.emplace_back(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return inputs;
}

/// Of the first rows of Q and K.
double FakeProcess::first_product(const InputValues& inputs) const {
  double product = 0;
  const auto row = static_cast<std::size_t>(problem_.workloads[workload_].axes.at("D"));
  for (std::size_t i = 0; i < row; ++i) {
    product += static_cast<double>(inputs[0][i]) * static_cast<double>(inputs[1][i]);
  }
  return product;
}

/// Whether their product is one that earlier data had; remembers it.
bool FakeProcess::knows(const InputValues& inputs) {
  const double product = first_product(inputs);
  const bool known =
      std::any_of(products_.begin(), products_.end(), [&](double other) { return std::abs(other - product) < 1e-5; });
  products_.push_back(product);
  return known;
}

/// Whether the first score is beyond what exp() has a finite f32 for.
bool FakeProcess::has_large_scores(const InputValues& inputs) const {
  constexpr double k_largest = 88.0;
  return first_product(inputs) / std::sqrt(static_cast<double>(problem_.workloads[workload_].axes.at("D"))) > k_largest;
}

void FakeProcess::write_outputs(const OutputValues& values) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < buffers().size(); ++i) {
    if (buffers()[i].role != BufferRole::output) continue;
    const auto bytes = buffer(i);
    for (std::size_t e = 0; e < values[next].size(); ++e) {
      auto value = static_cast<float>(values[next][e]);
      if (kernel_.behaviour == FakeBehaviour::low_precision)
        value = static_cast<float>(std::ldexp(std::round(std::ldexp(value, 10)), -10));
      std::memcpy(bytes.data() + e * sizeof value, &value, sizeof value);
    }
    ++next;
  }
}

std::span<std::byte> FakeProcess::first(BufferRole role) {
  for (std::size_t i = 0; i < buffers().size(); ++i) {
    if (buffers()[i].role == role) return buffer(i);
  }
  return {};
}

void FakeProcess::misbehave(bool cold) {
  const auto output = first(BufferRole::output);
  const auto last_row = output.last(sizeof(float));
  switch (kernel_.behaviour) {
    case FakeBehaviour::last_row_wrong:
      std::fill(last_row.begin(), last_row.end(), std::byte{0x3f});
      break;
    case FakeBehaviour::right_on_primary_only:
      if (workload_ != 0) std::fill(last_row.begin(), last_row.end(), std::byte{0x3f});
      break;
    case FakeBehaviour::shifted_on_primary:
      if (workload_ == 0 && has_large_scores(read_inputs())) {
        for (auto rest = output; !rest.empty(); rest = rest.subspan(sizeof(float))) {
          float value = 0;
          std::memcpy(&value, rest.data(), sizeof value);
          value += 1.0F;
          std::memcpy(rest.data(), &value, sizeof value);
        }
      }
      break;
    case FakeBehaviour::wrong_when_cold:
      if (cold) std::fill(last_row.begin(), last_row.end(), std::byte{0x3f});
      break;
    case FakeBehaviour::modifies_input:
      first(BufferRole::input)[0] ^= std::byte{1};
      break;
    case FakeBehaviour::writes_guard:
      arena_.back() = std::byte{0};
      break;
    case FakeBehaviour::differs_each_run:
      output[0] ^= static_cast<std::byte>(rng_.below(2));  // the last bit of one element
      break;
    case FakeBehaviour::writes_zeros:
      std::fill(output.begin(), output.end(), std::byte{0});
      break;
    case FakeBehaviour::copies_input: {
      const auto input = first(BufferRole::input);
      std::copy_n(input.begin(), std::min(input.size(), output.size()), output.begin());
      break;
    }
    default:
      break;
  }
}

std::variant<LaunchOutcome, LaunchFailure, LostWorker> FakeProcess::launch(bool cold, Duration deadline) {
  if (is_killed_()) return LostWorker{WorkerLoss::crashed, "signal 9 (Killed)"};
  if (kernel_.behaviour == FakeBehaviour::hangs) {
    clock_.advance(deadline);
    return LostWorker{WorkerLoss::timed_out, "killed at the deadline"};
  }
  if (kernel_.behaviour == FakeBehaviour::crashes)
    return LostWorker{WorkerLoss::crashed, "signal 11 (Segmentation fault)"};
  if (kernel_.behaviour == FakeBehaviour::eats_memory) return LostWorker{WorkerLoss::out_of_memory, "killed"};
  const bool replays = kernel_.behaviour == FakeBehaviour::replays && knows(read_inputs());
  const double noisy =
      (replays ? 0.1 : 1.0) * kernel_.time_ns * std::max(0.1, 1.0 + kernel_.relative_noise * rng_.normal());
  const auto real_ns = static_cast<std::int64_t>(workload_ == 0 ? noisy : noisy / 10);
  if (Duration(real_ns) > deadline) {
    clock_.advance(deadline);
    return LostWorker{WorkerLoss::timed_out, "killed at the deadline"};
  }
  if (kernel_.behaviour != FakeBehaviour::writes_nothing) {
    write_outputs(answers(problem_, problem_.workloads[workload_], read_inputs()));
    misbehave(cold);
  }
  clock_.advance(Duration(real_ns + k_request_ns));
  std::int64_t claimed_ns = real_ns;
  if (kernel_.behaviour == FakeBehaviour::lies_about_time) claimed_ns /= 100;
  if (kernel_.behaviour == FakeBehaviour::shaves_time) claimed_ns = claimed_ns / 4 * 3;
  LaunchOutcome outcome{claimed_ns, real_ns + k_request_ns};
  outcome.queued_ahead = kernel_.queued_ahead;
  if (request_.counting == Counting::accesses) outcome.accesses = kernel_.accesses;
  return outcome;
}

}  // namespace

std::string written_source(const BuildRequest& request) {
  const std::string_view line = "#line 1\n";
  const std::size_t at = request.source.find(line);
  return at == std::string::npos ? request.source : request.source.substr(at + line.size());
}

FakeBackend::FakeBackend(const Problem& problem, FakeClock& clock, std::function<FakeKernel(const BuildRequest&)> model)
    : problem_(problem), clock_(clock), model_(std::move(model)) {
  device_.id = "fake";
  device_.kind = DeviceKind::null_device;  // its times are not to be calibrated
  device_.target = "opencl";
  device_.name = "scripted device";
  device_.driver = "none";
  device_.compute_units = 2;
  device_.max_block_items = 4096;
  device_.shared_bytes_per_block = 1 << 20;
  device_.memory_bytes = std::int64_t{16} << 30;
  device_.last_level_cache_bytes = 32 << 20;
  device_.l2_cache_bytes = 1 << 20;
  device_.l1_cache_bytes = 32 << 10;
  device_.vector_floats = 16;
}

std::variant<BuildReply, LostWorker> FakeBackend::build(const BuildRequest& request, AnswerDeadline deadline,
                                                        SourceOrigin) {
  ++builds_;
  const FakeKernel kernel = model_(request);
  if (kernel.build_hangs) {
    const Duration at_work = busy_machine_ * deadline.processor;
    clock_.advance(std::min<Duration>(at_work, deadline.wall));
    if (at_work <= deadline.wall) return LostWorker{WorkerLoss::timed_out, "killed at the deadline"};
    return LostWorker{busy_machine_ > 1 ? WorkerLoss::starved : WorkerLoss::timed_out, "killed at the deadline"};
  }
  clock_.advance(std::chrono::milliseconds(100));
  BuildReply reply;
  reply.status = kernel.build;
  reply.log = kernel.build_log;
  reply.build_ns = 100'000'000;
  reply.registers = kernel.registers;
  reply.machine_code = kernel.machine_code;
  reply.binary = fmt::format("fake binary {}", builds_);
  built_[reply.binary] = kernel;
  return reply;
}

std::variant<std::unique_ptr<KernelProcess>, LaunchFailure, LostWorker> FakeBackend::start(const StartRequest& request,
                                                                                           Duration) {
  const int start = starts_++;
  clock_.advance(std::chrono::milliseconds(10));
  const auto kernel = built_.find(request.binaries.front());
  KW_CHECK(kernel != built_.end(), "a binary that was never built");
  FakeKernel started = kernel->second;
  const int number = processes_[kernel->first]++;
  if (started.lies_from_process >= 0 && number >= started.lies_from_process) {
    started.behaviour = FakeBehaviour::lies_about_time;
  }
  if (started.crashes_from_process >= 0 && number >= started.crashes_from_process) {
    started.behaviour = FakeBehaviour::crashes;
  }
  return std::unique_ptr<KernelProcess>(
      std::make_unique<FakeProcess>(problem_, clock_, std::move(started), request, rng_.next(), [this, start] {
        ++launches_;
        return start < killed_;
      }));
}

}  // namespace kw
