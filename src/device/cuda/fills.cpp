#include "device/cuda/fills.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/normal.hpp"

namespace kw::cuda {
namespace {

constexpr unsigned k_threads = 256;
/// Enough blocks for any GPU to be busy; each thread takes one number after the other.
constexpr unsigned k_most_blocks = 8192;

/// Types that random tensors are drawn in, by their place in NumberKernels.
constexpr std::array<std::pair<DType, std::string_view>, k_number_types> k_types{
    {{DType::f32, "f32"}, {DType::f16, "f16"}, {DType::bf16, "bf16"}}};

std::size_t place_of(DType dtype) {
  const auto found = std::find_if(k_types.begin(), k_types.end(), [&](const auto& one) { return one.first == dtype; });
  return static_cast<std::size_t>(found - k_types.begin());
}

Result<Function> function_of(const Session& session, Module module, std::string_view prefix, std::string_view type) {
  Function function = nullptr;
  const std::string name = fmt::format("{}_{}", prefix, type);
  KW_TRY_VOID(check(session.api, session.api.get_function(&function, module, name.c_str()),
                    fmt::format("cuModuleGetFunction({})", name)));
  return function;
}

/// A kernel whose arguments are 64 bits each.
Result<void> queue(Session& session, Function function, std::uint64_t elements, std::vector<std::uint64_t> values) {
  std::vector<void*> arguments;
  for (std::uint64_t& value : values) arguments.push_back(&value);
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(k_most_blocks, elements / k_threads + 1));
  return check(
      session.api,
      session.api.launch(function, blocks, 1, 1, k_threads, 1, 1, 0, session.stream, arguments.data(), nullptr),
      "cuLaunchKernel for random tensors");
}

std::uint64_t elements_of(const DeviceBuffer& buffer) {
  return buffer.host.size() / static_cast<std::size_t>(bytes_per_element(buffer.dtype));
}

/// A buffer and the random tensor that it holds, or shall hold.
std::vector<std::uint64_t> arguments_of(const Session& session, const DeviceBuffer& buffer, const BufferFill& fill) {
  std::vector<std::uint64_t> values = {buffer.device, elements_of(buffer), session.numbers->tables};
  std::ranges::copy(words_of(fill.tensor), std::back_inserter(values));
  values.push_back(fill.has_firsts ? session.numbers->firsts.at(fill.buffer).memory : 0);
  return values;
}

/// The first elements of rows, from where the buffer begins in the arena.
Result<void> upload_firsts(Session& session, const DeviceBuffer& buffer, const BufferFill& fill) {
  const auto rows = elements_of(buffer) / static_cast<std::uint64_t>(fill.tensor.row_length);
  const std::size_t bytes = rows * static_cast<std::size_t>(bytes_per_element(buffer.dtype));
  NumberKernels::Firsts& firsts = session.numbers->firsts[fill.buffer];
  if (firsts.bytes < bytes) {
    KW_TRY_VOID(check(session.api, session.api.allocate(&firsts.memory, bytes), "cuMemAlloc for first elements"));
    firsts.bytes = bytes;
  }
  KW_TRY_VOID(check(session.api, session.api.upload(firsts.memory, buffer.host.data(), bytes), "cuMemcpyHtoD"));
  // It may still be on its way, on a stream that ours does not wait for.
  return check(session.api, session.api.synchronise_context(), "cuCtxSynchronize");
}

Result<void> draw(Session& session, const DeviceBuffer& buffer, const BufferFill& fill) {
  if (fill.has_firsts) {
    KW_TRY_VOID(upload_firsts(session, buffer, fill));
  }
  return queue(session, session.numbers->draw[place_of(buffer.dtype)], elements_of(buffer),
               arguments_of(session, buffer, fill));
}

/// What a kernel that looks through a buffer has found.
using Found = std::array<std::uint64_t, 2>;

/// Runs one with those arguments and, behind them, where it counts.
Result<Found> look_through(Session& session, const DeviceBuffer& buffer, Function function,
                           std::vector<std::uint64_t> values) {
  const DriverApi& api = session.api;
  const DeviceAddress counts = session.numbers->found;
  Found found{};
  KW_TRY_VOID(check(api, api.fill_words(counts, 0, sizeof found / 4, session.stream), "cuMemsetD32Async"));
  values.push_back(counts);
  KW_TRY_VOID(queue(session, function, elements_of(buffer), std::move(values)));
  KW_TRY_VOID(check(api, api.synchronise_stream(session.stream), "looking through a buffer"));
  KW_TRY_VOID(check(api, api.download(found.data(), counts, sizeof found), "cuMemcpyDtoH"));
  return found;
}

Result<void> repeat(Session& session, const DeviceBuffer& buffer, std::uint64_t pattern) {
  return check(
      session.api,
      session.api.fill_words(buffer.device, static_cast<unsigned>(pattern), buffer.host.size() / 4, session.stream),
      "cuMemsetD32Async to fill a buffer");
}

bool can_look_through(const Session& session, const DeviceBuffer& buffer) {
  return session.numbers && place_of(buffer.dtype) < k_types.size();
}

Error no_kernel_for(const DeviceBuffer& buffer) {
  return Error{errc::device_refused,
               fmt::format("no kernel was loaded for numbers of type {}", to_string(buffer.dtype)), ""};
}

Result<void> check_fill(const Session& session, const ReadyPlan& plan, const BufferFill& fill) {
  if (fill.buffer < 0 || fill.buffer >= std::ssize(plan.buffers)) {
    return fail(errc::device_refused, "there is no buffer {} to fill", fill.buffer);
  }
  const DeviceBuffer& buffer = plan.buffers[static_cast<std::size_t>(fill.buffer)];
  if (fill.with == BufferFilling::pattern && buffer.host.size() % 4 != 0) {
    return fail(errc::device_refused, "a pattern of 4 bytes does not fill a buffer of {}", buffer.host.size());
  }
  if (fill.with == BufferFilling::pattern) return {};
  if (!can_look_through(session, buffer)) return fail(no_kernel_for(buffer));
  if (fill.tensor.row_length < 1 || fill.tensor.sequence < 1) {
    return fail(errc::device_refused, "a tensor of {} rows of {} elements cannot be drawn", fill.tensor.sequence,
                fill.tensor.row_length);
  }
  if (fill.has_firsts && elements_of(buffer) % static_cast<std::uint64_t>(fill.tensor.row_length) != 0) {
    return fail(errc::device_refused, "{} elements are not rows of {}, of which each has a first one",
                elements_of(buffer), fill.tensor.row_length);
  }
  return {};
}

/// [begin, end) of the host's memory without `hole`.
void cut(std::vector<Mirror>& pieces, std::span<std::byte> hole) {
  std::vector<Mirror> rest;
  for (const Mirror& piece : pieces) {
    const std::byte* const begin = piece.host.data();
    const std::byte* const end = begin + piece.host.size();
    if (hole.data() >= end || hole.data() + hole.size() <= begin) {
      rest.push_back(piece);
      continue;
    }
    const auto before = hole.data() > begin ? static_cast<std::size_t>(hole.data() - begin) : 0;
    if (before > 0) rest.push_back({piece.host.first(before), piece.device});
    const auto after = static_cast<std::size_t>(hole.data() + hole.size() - begin);
    if (after < piece.host.size()) rest.push_back({piece.host.subspan(after), piece.device + after});
  }
  pieces = std::move(rest);
}

}  // namespace

Result<NumberKernels> load_number_kernels(const Session& session, const std::string& binary) {
  const DriverApi& api = session.api;
  Module module = nullptr;
  KW_TRY_VOID(check(api, api.load_module(&module, binary.data()), "cuModuleLoadData"));
  NumberKernels kernels;
  for (std::size_t i = 0; i < k_types.size(); ++i) {
    KW_TRY(kernels.draw[i], function_of(session, module, "k_draw", k_types[i].second));
    KW_TRY(kernels.find_changed[i], function_of(session, module, "k_find_changed", k_types[i].second));
    KW_TRY(kernels.count_useless[i], function_of(session, module, "k_count_useless", k_types[i].second));
  }
  KW_TRY_VOID(check(api, api.allocate(&kernels.tables, sizeof(NormalTables)), "cuMemAlloc for tables"));
  KW_TRY_VOID(check(api, api.upload(kernels.tables, &normal_tables(), sizeof(NormalTables)), "cuMemcpyHtoD"));
  KW_TRY_VOID(check(api, api.allocate(&kernels.found, sizeof(Found)), "cuMemAlloc"));
  return kernels;
}

std::vector<Mirror> left_to_copy(const ReadyPlan& plan, std::span<const BufferFill> fills) {
  std::vector<Mirror> pieces = plan.mirrors;
  for (const BufferFill& fill : fills) cut(pieces, plan.buffers[static_cast<std::size_t>(fill.buffer)].host);
  return pieces;
}

Result<std::vector<Mirror>> parts_to_return(const ReadyPlan& plan, const LaunchRequest& request) {
  std::vector<Mirror> parts;
  for (const BufferPart& part : request.returned) {
    const bool filled =
        std::ranges::any_of(request.fills, [&](const auto& fill) { return fill.buffer == part.buffer; });
    const auto length = filled ? std::ssize(plan.buffers[static_cast<std::size_t>(part.buffer)].host) : 0;
    if (part.offset < 0 || part.bytes < 0 || part.offset > length || part.bytes > length - part.offset) {
      return fail(errc::device_refused, "{} bytes from {} of buffer {} cannot be brought back", part.bytes, part.offset,
                  part.buffer);
    }
    const DeviceBuffer& buffer = plan.buffers[static_cast<std::size_t>(part.buffer)];
    parts.push_back({buffer.host.subspan(static_cast<std::size_t>(part.offset), static_cast<std::size_t>(part.bytes)),
                     buffer.device + static_cast<DeviceAddress>(part.offset)});
  }
  return parts;
}

Result<void> fill_buffers(Session& session, const ReadyPlan& plan, std::span<const BufferFill> fills) {
  std::vector<bool> filled(plan.buffers.size(), false);
  for (const BufferFill& fill : fills) {
    KW_TRY_VOID(check_fill(session, plan, fill));
    const auto index = static_cast<std::size_t>(fill.buffer);
    if (filled[index]) return fail(errc::device_refused, "buffer {} is to be filled twice", fill.buffer);
    filled[index] = true;
    const DeviceBuffer& buffer = plan.buffers[index];
    KW_TRY_VOID(fill.with == BufferFilling::random ? draw(session, buffer, fill)
                                                   : repeat(session, buffer, static_cast<std::uint64_t>(fill.pattern)));
  }
  return {};
}

Result<std::vector<std::int64_t>> changed_buffers(Session& session, const ReadyPlan& plan,
                                                  std::span<const BufferFill> fills) {
  std::vector<std::int64_t> changed;
  for (const BufferFill& fill : fills) {
    if (fill.with != BufferFilling::random) continue;
    const DeviceBuffer& buffer = plan.buffers[static_cast<std::size_t>(fill.buffer)];
    KW_TRY(const Found found, look_through(session, buffer, session.numbers->find_changed[place_of(buffer.dtype)],
                                           arguments_of(session, buffer, fill)));
    if (found[0] != 0) changed.push_back(fill.buffer);
  }
  return changed;
}

Result<std::vector<UselessElements>> useless_elements(Session& session, const ReadyPlan& plan,
                                                      const LaunchRequest& request) {
  std::vector<UselessElements> all;
  for (const std::int64_t index : request.counted) {
    const auto fill = std::ranges::find_if(request.fills, [&](const BufferFill& one) {
      return one.buffer == index && one.with == BufferFilling::pattern;
    });
    if (fill == request.fills.end()) return fail(errc::device_refused, "buffer {} was filled with no pattern", index);
    const DeviceBuffer& buffer = plan.buffers[static_cast<std::size_t>(index)];
    if (!can_look_through(session, buffer)) return fail(no_kernel_for(buffer));
    KW_TRY(const Found found,
           look_through(session, buffer, session.numbers->count_useless[place_of(buffer.dtype)],
                        {buffer.device, elements_of(buffer), static_cast<std::uint64_t>(fill->pattern)}));
    all.push_back({index, static_cast<std::int64_t>(found[0]), static_cast<std::int64_t>(found[1])});
  }
  return all;
}

}  // namespace kw::cuda
