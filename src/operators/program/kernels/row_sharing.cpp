#include "operators/program/kernels/row_sharing.hpp"

#include <fmt/format.h>

#include <set>

namespace kw {
namespace {

constexpr int k_lanes_of_rows = 32;
/// Longer rows lie side by side by as many: of each line, memory then gives 512 bytes.
constexpr int k_many_lanes_of_rows = 128;
/// Shorter rows have one work-item each.
constexpr double k_shared_row = 32;
/// Of rows side by side: how long they are, and how many work-groups each unit has, where a group takes many of them.
constexpr double k_row_of_many = 256;
constexpr double k_groups_of_many = 8;
/// Longer rows have a work-group each.
constexpr double k_longest_of_warp = 1024;

/// Work-items that share a row, by the length of the row: one tunable for all groups of like rows. With 1024 of them an
/// H200 took 17 % more for the sum of a hinge loss (1-100 of KernelBench), and as long for five others.
Tunable threads_of_group(double elements) {
  constexpr double k_short = 512;
  constexpr double k_long = 8192;
  if (elements < k_short) return {"SHORT_ROW_THREADS", {32, 64, 128}, 64};
  if (elements < k_long) return {"ROW_THREADS", {64, 128, 256, 512}, 256};
  return {"LONG_ROW_THREADS", {128, 256, 512, 1024}, 512};
}

/// The same, of rows that lie side by side.
Tunable threads_of_lanes(double elements, bool many, bool one_number) {
  constexpr double k_short = 256;
  if (many && one_number) return {"WIDE_LANE_THREADS", {256, 512, 1024}, 1024};
  if (!many && elements < k_short) return {"SHORT_LANE_THREADS", {64, 128, 256}, 128};
  return {"LANE_THREADS", {128, 256, 512, 1024}, many ? 1024 : 512};
}

/// Lanes of a warp that share a row: fewer have four elements each of a short one, which are 16 bytes, and each
/// instruction that gathers does so for several rows.
std::int64_t lanes_of_short_row(double elements) {
  constexpr std::int64_t k_least = 8;
  constexpr double k_four = 4;
  std::int64_t lanes = k_lanes_of_rows;
  while (lanes > k_least && elements < k_four * static_cast<double>(lanes)) lanes /= 2;
  return lanes;
}

RowSharing with_lanes(RowShare share, Tunable threads, std::string slices, std::string lanes, std::int64_t usual) {
  return {share, std::move(threads), std::move(slices), std::move(lanes), usual, row_elements()};
}

/// Halves the slices that hold a part until one holds the whole, which all read.
void gather_in_group(BodyWriter& body, const Accumulator& accumulator, const RowSharing& sharing,
                     const std::vector<std::string>& shared) {
  const bool lanes = sharing.share == RowShare::lanes;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    body.line(fmt::format("{}[threadIdx.x] = {};", shared[i], accumulator.state[i].name));
  }
  body.line("__syncthreads();");
  body.open(fmt::format("for (int reach = {} / 2; reach > 0; reach /= 2)", sharing.slices));
  body.open("if (slice < reach)");
  const auto other =
      lanes ? fmt::format("threadIdx.x + reach * {}", sharing.lanes) : std::string("threadIdx.x + reach");
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const auto& state = accumulator.state[i];
    body.line(fmt::format("const {} other_{} = {}[{}];", state.type, state.name, shared[i], other));
  }
  body.lines(accumulator.merge);
  for (std::size_t i = 0; i < shared.size(); ++i) {
    body.line(fmt::format("{}[threadIdx.x] = {};", shared[i], accumulator.state[i].name));
  }
  body.close();
  body.line("__syncthreads();");
  body.close();
  for (std::size_t i = 0; i < shared.size(); ++i) {
    body.line(fmt::format("{} = {}[{}];", accumulator.state[i].name, shared[i], lanes ? "lane" : "0"));
  }
  body.line("__syncthreads();");
}

}  // namespace

Tunable row_elements() {
  return {"ROW_ELEMENTS", {1, 2, 4, 8, 16}, 16};
}

std::string warp_word(Dialect dialect, std::string_view name) {
  for (const auto& [hole, text] : dialect->warp) {
    if (hole == name) return text;
  }
  return "";
}

std::string shuffle_mask(Dialect dialect) {
  return warp_word(dialect, "mask").empty() ? "" : "0xffffffffu, ";
}

RowSharing row_sharing(double rows, double longest, bool rows_are_contiguous, bool one_number, double units) {
  constexpr std::int64_t k_usual_warps = 4;
  if (longest < k_shared_row) {
    const Tunable threads{"SHORT_ROW_THREADS", {32, 64, 128}, 64};
    return with_lanes(RowShare::item, threads, "1", threads.name, 1);
  }
  if (rows_are_contiguous) {
    const bool many = longest >= k_row_of_many && rows >= units * k_groups_of_many * k_many_lanes_of_rows;
    const auto lanes = many ? k_many_lanes_of_rows : k_lanes_of_rows;
    auto threads = threads_of_lanes(longest, many, one_number);
    const auto slices = fmt::format("({} / {})", threads.name, lanes);
    const auto usual = threads.default_value / lanes;
    auto sharing = with_lanes(RowShare::lanes, std::move(threads), slices, std::to_string(lanes), usual);
    if (many && !one_number) sharing.elements = {"LANE_ELEMENTS", {4, 8, 16}, 16};
    return sharing;
  }
  // A warp needs no barriers. Few rows are done sooner by all work-items of a group.
  if (longest <= k_longest_of_warp && rows >= units * k_usual_warps * 2) {
    const Tunable threads{"WARP_ROW_THREADS", {64, 128, 256}, k_usual_warps * k_lanes_of_rows};
    const auto lanes = lanes_of_short_row(longest);
    return with_lanes(RowShare::warp, threads, std::to_string(lanes), fmt::format("({} / {})", threads.name, lanes),
                      lanes);
  }
  auto threads = threads_of_group(longest);
  const auto slices = threads.name;
  const auto usual = threads.default_value;
  auto sharing = with_lanes(RowShare::group, std::move(threads), slices, "", usual);
  // Where a batch has not the whole row, smaller ones took up to 15 % less on an H100, in 1-4 and 2-44 of KernelBench.
  constexpr double k_whole = 8192.0;
  constexpr std::int64_t k_few = 8;
  if (longest > k_whole) sharing.elements.default_value = k_few;
  return sharing;
}

std::string row_variables(const RowSharing& sharing, const std::string& count) {
  std::string lane;
  switch (sharing.share) {
    case RowShare::group:
      return "  const int slice = threadIdx.x;\n  const long row = blockIdx.x;\n";
    case RowShare::item:
      lane = "  const int lane = threadIdx.x;\n";
      break;
    case RowShare::lanes:
      lane =
          fmt::format("  const int lane = threadIdx.x % {0};\n  const int slice = threadIdx.x / {0};\n", sharing.lanes);
      break;
    case RowShare::warp:
      lane = fmt::format("  const int lane = threadIdx.x / {0};\n  const int slice = threadIdx.x % {0};\n",
                         sharing.slices);
      break;
  }
  return fmt::format("{}  const long row = (long)blockIdx.x * {} + lane;\n  const bool live = row < {};\n", lane,
                     sharing.lanes, count);
}

std::vector<std::string> SharedArrays::named(const std::vector<Accumulator::State>& state) {
  std::vector<std::string> names;
  std::map<std::string, int> used;
  for (const auto& one : state) {
    names.push_back(fmt::format("{}s_{}", one.type, ++used[one.type]));
    types_[names.back()] = one.type;
  }
  return names;
}

std::string SharedArrays::declarations(const std::string& elements) const {
  std::string text;
  for (const auto& [name, type] : types_) text += fmt::format("  __shared__ {} {}[{}];\n", type, name, elements);
  return text;
}

void write_gathering_in_warp(BodyWriter& body, const Accumulator& accumulator, std::int64_t lanes, Dialect dialect) {
  body.line("#pragma unroll");
  body.open(fmt::format("for (int reach = {}; reach > 0; reach /= 2)", lanes / 2));
  for (const auto& state : accumulator.state) {
    body.line(fmt::format("const {0} other_{1} = {2}({3}{1}, reach);", state.type, state.name,
                          warp_word(dialect, "shuffle_xor"), shuffle_mask(dialect)));
  }
  body.lines(accumulator.merge);
  body.close();
}

void write_gathering(BodyWriter& body, const Accumulator& accumulator, const RowSharing& sharing, Dialect dialect,
                     SharedArrays& arrays) {
  if (sharing.share == RowShare::item) return;
  if (sharing.share == RowShare::warp) {
    write_gathering_in_warp(body, accumulator, sharing.usual_slices, dialect);
  } else {
    gather_in_group(body, accumulator, sharing, arrays.named(accumulator.state));
  }
}

}  // namespace kw
