// What is known of the best kernel below its source: what the compiler made of it, what the hardware counted, and what
// a simulator counted of its accesses of memory.

#include <algorithm>

#include "base/text.hpp"
#include "record/access_text.hpp"
#include "report/sections.hpp"

namespace kw {
namespace {

/// What the compiler says; on a GPU that is half of the story of a time.
Facts compiler_facts(const BuildReport& build) {
  return {
      "compiler",
      "What the compiler reports",
      {{"registers", "Registers", counted_or_nothing(build.registers), "per thread"},
       {"spill_bytes", "Spilled", counted_or_nothing(build.spill_bytes), "bytes stored and loaded per thread"},
       {"shared_bytes", "Shared memory", counted_or_nothing(build.shared_bytes), "bytes per block"},
       {"occupancy", "Occupancy",
        build.occupancy ? Value(Number{*build.occupancy, Unit::share, std::nullopt}) : Value(),
        "resident warps over the most there can be"},
       {"tensor_core_instructions", "Tensor-core instructions", counted_or_nothing(build.tensor_core_instructions)},
       {"local_memory_instructions", "Accesses of local memory", counted_or_nothing(build.local_memory_instructions)}}};
}

Value share_or_nothing(const std::optional<double>& value) {
  return value ? Value(Number{*value, Unit::share, std::nullopt}) : Value();
}

Value number_or_nothing(const std::optional<double>& value, Unit unit) {
  return value ? Value(Number{*value, unit, std::nullopt}) : Value();
}

std::string stalls_text(const HardwareCounters& counters) {
  return join(counters.stalls, ", ",
              [](const StallReason& stall) { return fmt::format("{} {:.0f} %", stall.name, 100 * stall.share); });
}

std::string instructions_text(const HardwareCounters& counters) {
  return join(counters.instructions, ", ",
              [](const InstructionShare& one) { return fmt::format("{} {:.0f} %", one.name, 100 * one.share); });
}

/// What a profiler counted in one launch, apart from the timed ones.
Facts counter_facts(const HardwareCounters& c) {
  return {"counters",
          fmt::format("What the hardware counted in one launch of {} ({})", c.kernel, c.tool),
          {{"counted_duration", "Duration", number_or_nothing(c.duration_ns, Unit::nanoseconds),
            "under the profiler, caches emptied"},
           {"dram_read_bytes", "Read from device memory", number_or_nothing(c.dram_read_bytes, Unit::bytes)},
           {"dram_write_bytes", "Written to device memory", number_or_nothing(c.dram_write_bytes, Unit::bytes)},
           {"dram_peak_share", "Memory rate", share_or_nothing(c.dram_peak_share), "of the peak"},
           {"l2_hit_share", "L2 hits", share_or_nothing(c.l2_hit_share), "of the sectors asked for"},
           {"tensor_pipe_share", "Tensor cores busy", share_or_nothing(c.tensor_pipe_share), "of the cycles"},
           {"achieved_occupancy", "Achieved occupancy", share_or_nothing(c.achieved_occupancy),
            "resident warps over the most there can be"},
           {"issue_share", "Instructions issued", share_or_nothing(c.issue_share), "of the schedulers' cycles"},
           {"counted_registers", "Registers", counted_or_nothing(c.registers_per_thread), "per thread"},
           {"stalls", "Warps wait most for", text_or_nothing(stalls_text(c)), "of all samples of warps"},
           {"instructions", "Threads execute most", text_or_nothing(instructions_text(c)), "of all instructions"},
           {"sectors_per_load", "Sectors per load", number_or_nothing(c.sectors_per_load, Unit::plain),
            "of 32 bytes, for one request of a warp"},
           {"bank_conflict_share", "Bank conflicts", share_or_nothing(c.bank_conflict_share),
            "of the passes over shared memory"},
           {"divergent_branch_share", "Divergent branches", share_or_nothing(c.divergent_branch_share),
            "of executed branches"}}};
}

/// The last word on the kernel, or what was counted when it became the best.
const HardwareCounters* counters_of(const RunSummary& summary) {
  if (summary.best_measured && summary.best_measured->counters) return &*summary.best_measured->counters;
  const auto& then = summary.best->measurement;
  return then && then->counters ? &*then->counters : nullptr;
}

/// One row for each kernel. Of a CPU, where the machine code can be read.
Table machine_code_table(const BuildReport& build) {
  Table table{"machine_code",
              "The machine code where each kernel computes most, counted as it stands",
              {{"kernel", "Kernel"},
               {"part", "Part"},
               {"instructions", "Instructions", true},
               {"vector_floats", "On vectors", true},
               {"vector_bits", "Bits", true},
               {"scalar_floats", "On single floats", true},
               {"loads_stores", "Loads and stores", true},
               {"stack_accesses", "Of the stack", true},
               {"calls", "Calls", true},
               {"called", "Called"}},
              {},
              ""};
  for (const InstructionMix& code : build.machine_code) {
    table.rows.push_back({code.kernel, std::string(code.loop ? "inner loop" : "all"), counted(code.instructions),
                          counted(code.vector_floats), counted(code.vector_bits), counted(code.scalar_floats),
                          counted(code.loads_stores), counted(code.stack_accesses), counted(code.calls),
                          text_or_nothing(fmt::format("{}", fmt::join(code.called, ", ")))});
  }
  return table;
}

/// The lines of the source that cost most; without such lines, all that were counted.
Table accesses_table(const SimulatedAccesses& accesses) {
  constexpr std::size_t k_shown = 12;
  Table table{
      "accesses",
      fmt::format("What warps ask of memory, counted by the simulator {} {}", accesses.device, counted_part(accesses)),
      {{"kernel", "Kernel"},
       {"line", "Line", true},
       {"kind", "Access"},
       {"requests", "Requests", true},
       {"transactions", "Transactions", true},
       {"least", "Least", true},
       {"partial", "Without all lanes", true}},
      {},
      ""};
  auto lines = costly_lines(accesses, k_shown);
  if (lines.empty()) std::ranges::remove_copy_if(accesses.lines, std::back_inserter(lines), counts_branches);
  if (lines.size() > k_shown) lines.resize(k_shown);
  for (const AccessCounts& one : lines) {
    table.rows.push_back({one.kernel, one.line > 0 ? Value(counted(one.line)) : Value(),
                          fmt::format("{} {}", one.write ? "writes to" : "reads of", one.shared ? "shared" : "global"),
                          counted(one.requests), counted(one.transactions), counted(one.least), counted(one.partial)});
  }
  return table;
}

/// Where warps part, the most often first.
Table branches_table(const SimulatedAccesses& accesses) {
  constexpr std::size_t k_shown = 6;
  Table table{"branches",
              "Branches of warps, counted with them",
              {{"kernel", "Kernel"},
               {"line", "At the end of what begins at line", true},
               {"executed", "Warps that came", true},
               {"parted", "Of these parted", true}},
              {},
              "No branch was counted."};
  std::vector<AccessCounts> branches;
  std::ranges::copy_if(accesses.lines, std::back_inserter(branches), counts_branches);
  std::ranges::stable_sort(branches, std::greater<>(), &AccessCounts::partial);
  if (branches.size() > k_shown) branches.resize(k_shown);
  for (const AccessCounts& one : branches) {
    table.rows.push_back(
        {one.kernel, one.line > 0 ? Value(counted(one.line)) : Value(), counted(one.requests), counted(one.partial)});
  }
  return table;
}

}  // namespace

void add_machine_evidence(const RunSummary& summary, Section& section) {
  const Attempt& best = *summary.best;
  if (best.build.registers) section.blocks.emplace_back(compiler_facts(best.build));
  if (!best.build.machine_code.empty()) section.blocks.emplace_back(machine_code_table(best.build));
  if (const auto* counters = counters_of(summary)) section.blocks.emplace_back(counter_facts(*counters));
  if (best.accesses) section.blocks.emplace_back(accesses_table(*best.accesses));
  if (best.accesses && branches_of(*best.accesses).requests > 0) {
    section.blocks.emplace_back(branches_table(*best.accesses));
  }
}

}  // namespace kw
