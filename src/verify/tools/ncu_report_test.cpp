#include "verify/tools/ncu_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

// As Nsight Compute 2025.3.1 writes them (2026-11-21, H200), most of the columns left out.
const std::string k_names =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"dram__bytes_read.sum\","
    "\"dram__bytes_write.sum\",\"dram__throughput.avg.pct_of_peak_sustained_elapsed\",\"gpu__time_duration.sum\","
    "\"launch__registers_per_thread\",\"lts__t_sector_hit_rate.pct\","
    "\"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed\","
    "\"sm__warps_active.avg.pct_of_peak_sustained_active\",\"smsp__issue_active.avg.pct_of_peak_sustained_active\","
    "\"smsp__pcsamp_warps_issue_stalled_barrier\",\"smsp__pcsamp_warps_issue_stalled_long_scoreboard\","
    "\"smsp__pcsamp_warps_issue_stalled_selected\",\"smsp__pcsamp_warps_issue_stalled_wait\"\n";
const std::string k_units =
    "\"\",\"\",\"\",\"\",\"\",\"\",\"byte\",\"byte\",\"%\",\"ns\",\"register/thread\",\"%\",\"%\",\"%\",\"%\","
    "\"warp\",\"warp\",\"warp\",\"warp\"\n";
const std::string k_long =
    "\"0\",\"1007\",\"kernelwright-worker\",\"127.0.0.1\",\"attend\",\"(256, 1, 1)\",\"3,840\",\"1024\",\"41.5\","
    "\"2,016\",\"168\",\"93.25\",\"61\",\"12.39\",\"22.8\",\"100\",\"300\",\"400\",\"200\"\n";
const std::string k_short =
    "\"1\",\"1007\",\"kernelwright-worker\",\"127.0.0.1\",\"combine\",\"(256, 1, 1)\",\"1\",\"1\",\"1\",\"900\","
    "\"16\",\"230.46\",\"0\",\"1\",\"1\",\"0\",\"0\",\"0\",\"0\"\n";
const std::string k_report =
    "==WARNING== Note: Running with unmodified GPU clocks.\n==PROF== Connected to process 1007 (/tmp/probe)\n" +
    k_names + k_units + k_short + k_long;

std::string why(const std::string& report) {
  const auto read = read_counters(report);
  const auto* sentence = std::get_if<std::string>(&read);
  return sentence == nullptr ? "counted" : *sentence;
}

TEST(NcuReport, gives_the_counters_of_the_longest_launch_in_plain_units) {
  const auto read = read_counters(k_report);
  ASSERT_TRUE(std::holds_alternative<HardwareCounters>(read)) << why(k_report);
  const auto& counters = std::get<HardwareCounters>(read);
  EXPECT_EQ(counters.kernel, "attend");
  EXPECT_EQ(counters.duration_ns, 2016);
  EXPECT_EQ(counters.dram_read_bytes, 3840);
  EXPECT_EQ(counters.dram_write_bytes, 1024);
  EXPECT_DOUBLE_EQ(counters.dram_peak_share.value(), 0.415);
  EXPECT_DOUBLE_EQ(counters.l2_hit_share.value(), 0.9325);
  EXPECT_DOUBLE_EQ(counters.tensor_pipe_share.value(), 0.61);
  EXPECT_NEAR(counters.achieved_occupancy.value(), 0.1239, 1e-12);
  EXPECT_EQ(counters.registers_per_thread, 168);
  ASSERT_EQ(counters.stalls.size(), 3U);
  EXPECT_EQ(counters.stalls[0].name, "long_scoreboard");
  EXPECT_DOUBLE_EQ(counters.stalls[0].share, 0.3);
  EXPECT_EQ(counters.stalls[1].name, "wait");
  EXPECT_EQ(counters.stalls[2].name, "barrier");
}

TEST(NcuReport, leaves_out_what_makes_no_sense) {
  const auto read = read_counters(k_names + k_units + k_short);
  const auto& counters = std::get<HardwareCounters>(read);
  EXPECT_EQ(counters.l2_hit_share, std::nullopt) << "more hits than accesses";
  EXPECT_EQ(counters.tensor_pipe_share, 0);
  EXPECT_TRUE(counters.stalls.empty());
}

TEST(NcuReport, says_how_to_get_the_permission_that_is_missing) {
  EXPECT_THAT(why("==PROF== Connected to process 5\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to "
                  "access NVIDIA GPU Performance Counters on the target device 0.\n"),
              HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_EQ(why("==ERROR== Failed to initialize the profiler: LibraryNotLoaded\n"),
            "Nsight Compute says: ==ERROR== Failed to initialize the profiler: LibraryNotLoaded");
  EXPECT_EQ(why("==WARNING== No kernels were profiled.\n"), "Nsight Compute counted nothing");
  EXPECT_EQ(why(""), "Nsight Compute counted nothing");
}

TEST(NcuReport, reads_nothing_out_of_damaged_lines) {
  for (std::size_t length = 0; length < k_report.size(); ++length) {
    const auto read = read_counters(k_report.substr(0, length));
    if (const auto* counters = std::get_if<HardwareCounters>(&read)) {
      EXPECT_GE(counters->duration_ns, 900);
    }
  }
  EXPECT_EQ(why(k_names + k_units + "\"1\",\"2\"\n"), "Nsight Compute counted nothing");
  EXPECT_EQ(why(std::string(200000, '"')), "Nsight Compute counted nothing");
  EXPECT_EQ(why(k_names + k_units + std::string(100000, ',')), "Nsight Compute counted nothing");
}

// Of the kernel `columns` of docs/results/2026-11-23-simulated-accesses.md, and of `rounds` (2026-11-23, H200).
const std::string k_recorded_names =
    R"csv("ID","Kernel Name","Block Size","gpu__time_duration.sum",)csv"
    R"csv("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",)csv"
    R"csv("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",)csv"
    R"csv("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",)csv"
    R"csv("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",)csv"
    R"csv("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",)csv"
    R"csv("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum","smsp__sass_branch_targets.sum",)csv"
    R"csv("smsp__sass_branch_targets_threads_divergent.sum",)csv"
    R"csv("smsp__sass_thread_inst_executed_op_bit_pred_on.sum",)csv"
    R"csv("smsp__sass_thread_inst_executed_op_control_pred_on.sum",)csv"
    R"csv("smsp__sass_thread_inst_executed_op_conversion_pred_on.sum",)csv"
    R"csv("smsp__sass_thread_inst_executed_op_fp16_pred_on.sum",)csv"
    R"csv("smsp__sass_thread_inst_executed_op_fp32_pred_on.sum",)csv"
    R"csv("smsp__sass_thread_inst_executed_op_fp64_pred_on.sum",)csv"
    R"csv("smsp__sass_thread_inst_executed_op_integer_pred_on.sum",)csv"
    R"csv("smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum",)csv"
    R"csv("smsp__sass_thread_inst_executed_op_memory_pred_on.sum",)csv"
    R"csv("smsp__sass_thread_inst_executed_op_misc_pred_on.sum")csv";
const std::string k_recorded_units =
    R"csv("","","","ns","","","","","sector","sector","branches","branches","inst","inst","inst",)csv"
    R"csv("inst","inst","inst","inst","inst","inst","inst")csv";
const std::string k_recorded_columns =
    R"csv("3","columns(const int *, int *, int)","(32, 1, 1)","2,304","62","65","1","1","4","4","0",)csv"
    R"csv("0","0","32","0","0","0","0","192","0","224","128")csv";
const std::string k_recorded_rounds =
    R"csv("6","rounds(const int *, int *, int)","(32, 1, 1)","4,320","0","1","32","1","32","4","33",)csv"
    R"csv("31","0","592","0","32","0","0","2,800","0","624","592")csv";

TEST(NcuReport, reads_instructions_sectors_and_conflicts_as_they_were_recorded) {
  const auto read = read_counters(k_recorded_names + "\n" + k_recorded_units + "\n" + k_recorded_columns + "\n");
  ASSERT_TRUE(std::holds_alternative<HardwareCounters>(read));
  const auto& counters = std::get<HardwareCounters>(read);
  EXPECT_DOUBLE_EQ(counters.sectors_per_load.value(), 4);
  EXPECT_DOUBLE_EQ(counters.bank_conflict_share.value(), 62.0 / 65);
  EXPECT_EQ(counters.divergent_branch_share, std::nullopt) << "it has no branches";
  ASSERT_EQ(counters.instructions.size(), 4U);
  EXPECT_EQ(counters.instructions[0].name, "memory");
  EXPECT_DOUBLE_EQ(counters.instructions[0].share, 224.0 / 576);
  EXPECT_EQ(counters.instructions[1].name, "integer");
  EXPECT_DOUBLE_EQ(counters.instructions[1].share, 192.0 / 576);
  EXPECT_EQ(counters.instructions[2].name, "misc");
  EXPECT_DOUBLE_EQ(counters.instructions[2].share, 128.0 / 576);
  EXPECT_EQ(counters.instructions[3].name, "control");
  EXPECT_DOUBLE_EQ(counters.instructions[3].share, 32.0 / 576);
}

TEST(NcuReport, reads_divergent_branches_as_they_were_recorded) {
  const auto read = read_counters(k_recorded_names + "\n" + k_recorded_units + "\n" + k_recorded_rounds + "\n");
  ASSERT_TRUE(std::holds_alternative<HardwareCounters>(read));
  EXPECT_DOUBLE_EQ(std::get<HardwareCounters>(read).divergent_branch_share.value(), 31.0 / 33);
}

TEST(NcuReport, gives_no_shares_of_instructions_where_a_class_is_missing) {
  std::string names = k_recorded_names;
  names.replace(names.find("op_integer_pred_on"), 10, "op_unknown");
  const auto read = read_counters(names + "\n" + k_recorded_units + "\n" + k_recorded_columns + "\n");
  ASSERT_TRUE(std::holds_alternative<HardwareCounters>(read));
  EXPECT_TRUE(std::get<HardwareCounters>(read).instructions.empty());
}

}  // namespace
}  // namespace kw
