#!/usr/bin/env python3
"""Runs check_layers.py on small trees that keep or break one rule each."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_layers


def report(files):
    """Writes the files (path -> text) below a fresh root; returns the exit status and the lines printed."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = check_layers.main([str(root)])
        return status, out.getvalue().splitlines()


class CheckLayers(unittest.TestCase):
    def assert_breach(self, files, *expected):
        status, lines = report(files)
        self.assertEqual(status, 1, lines)
        self.assertEqual(len(lines), 1, lines)
        for part in expected:
            self.assertIn(part, lines[0])

    def test_a_good_tree_passes(self):
        status, lines = report({
            "src/base/hash.hpp": "#pragma once\n#include <string>\n",
            "src/problem/problem.hpp": '#include "base/hash.hpp"\n#include "tensor/tensor.hpp"\n',
            "src/device/opencl/device.cpp": '#include <CL/cl.h>\n#include "hardware/device_facts.hpp"\n',
            "src/worker/main.cpp": '#include "device/device.hpp"\n#include "sandbox/sandbox.hpp"\n',
            "src/cli/main.cpp": '#include "cli/commands.hpp"\n#include "loop/run.hpp"\n',
            "src/CMakeLists.txt": "kw_add_layer(NAME base LIBRARIES fmt::fmt)\nkw_add_layer(NAME problem LISTS operators DEPENDS base)\n"
                                  "kw_add_layer(NAME worker DEPENDS device sandbox base)\n",
        })
        self.assertEqual((status, lines), (0, []))

    def test_an_upward_include_is_named_with_its_line(self):
        self.assert_breach({"src/base/hash.cpp": '#include <string>\n\n#include "problem/problem.hpp"\n'},
                           "src/base/hash.cpp:3:", "base (rank 0) may not use problem (rank 3)", "pass a callback down")

    def test_an_include_of_equal_rank_is_a_breach(self):
        self.assert_breach({"src/report/html.cpp": '#include "propose/proposer.hpp"\n'},
                           "src/report/html.cpp:1:", "report (rank 8) may not use propose (rank 8)")

    def test_oracle_and_kernels_never_meet(self):
        oracle, kernels = "src/operators/attention/oracle/a.cpp", "src/operators/attention/kernels/a.cpp"
        self.assert_breach({oracle: '#include "codegen/codegen.hpp"\n'},
                           "operators/attention/oracle may not use codegen: the oracle shares no code with what it judges")
        self.assert_breach({oracle: '#include "operators/attention/kernels/text.hpp"\n'},
                           "may not use operators/attention/kernels: the oracle shares no code with what it judges")
        self.assert_breach({kernels: '#include "operators/attention/oracle/oracle.hpp"\n'},
                           "may not use operators/attention/oracle: the oracle shares no code with what it judges")

    def test_a_room_includes_only_the_rooms_before_it(self):
        self.assert_breach({"src/propose/llm/client/retry.cpp": '#include "propose/llm/prompts/prompts.hpp"\n'},
                           "src/propose/llm/client/retry.cpp:1:",
                           "propose/llm/client may not use propose/llm/prompts, a later room of propose/llm/")
        self.assert_breach({"src/mod/analysis/ranges.cpp": '#include "base/hash.hpp"\n#include "mod/frontend/parser.hpp"\n'},
                           "src/mod/analysis/ranges.cpp:2:", "mod/analysis may not use mod/frontend")
        self.assert_breach({"src/problem/problem.hpp": '#include "problem/file/config_tree.hpp"\n'},
                           "problem may not use problem/file, a later room of problem/")
        status, lines = report({
            "src/propose/llm/llm_proposer.cpp": '#include "propose/llm/prompts/prompts.hpp"\n#include "propose/proposer.hpp"\n',
            "src/problem/file/problem_reader.hpp": '#include "problem/problem.hpp"\n',
            "src/device/backends.cpp": '#include "device/opencl/session.hpp"\n',
        })
        self.assertEqual((status, lines), (0, []))

    def test_a_list_is_a_room_of_one_file(self):
        self.assert_breach({"src/device/device.cpp": '#include "device/opencl/session.hpp"\n'},
                           "device may not use device/opencl, a later room of device/")

    def test_a_sub_folder_without_place_is_refused(self):
        self.assert_breach({"src/mod/misc/a.hpp": "#pragma once\n"}, "src/mod/misc/a.hpp:1:", "no place among the rooms of src/mod/")

    def test_helpers_of_tests_stay_out_of_the_product(self):
        self.assert_breach({"src/verify/verifier.cpp": '#include "base/testing/scratch_directory.hpp"\n'},
                           "base/testing/scratch_directory.hpp is for tests alone")
        status, lines = report({
            "src/verify/verifier_test.cpp": '#include "base/testing/scratch_directory.hpp"\n',
            "src/verify/testing/fixture.hpp": '#include "base/testing/scratch_directory.hpp"\n',
        })
        self.assertEqual((status, lines), (0, []))

    def test_opencl_headers_stay_in_device(self):
        self.assert_breach({"src/worker/serve.cpp": "#include <CL/cl.h>\n"},
                           "src/worker/serve.cpp:1:", "only device/ speaks to OpenCL")

    def test_host_folders_do_not_include_drivers(self):
        self.assert_breach({"src/verify/gate.cpp": '#include "device/device.hpp"\n'},
                           "src/verify/gate.cpp:1:", "verify may not use device", "worker process alone")
        self.assert_breach({"src/cli/doctor.cpp": '#include "worker/serve.hpp"\n'}, "cli may not use worker")

    def test_host_folders_do_not_link_drivers(self):
        self.assert_breach({"src/CMakeLists.txt": "# layers\nkw_add_layer(NAME loop\n  DEPENDS base device)\n"},
                           "src/CMakeLists.txt:2:", "loop may not use device")
        self.assert_breach({"src/CMakeLists.txt": "kw_add_layer(NAME verify LIBRARIES kw_worker fmt::fmt)\n"},
                           "src/CMakeLists.txt:1:", "verify may not use worker")

    def test_a_link_to_a_higher_rank_is_a_breach(self):
        self.assert_breach({"src/CMakeLists.txt": "kw_add_layer(NAME record DEPENDS base loop)\n"},
                           "src/CMakeLists.txt:1:", "record (rank 4) may not use loop (rank 9)")

    def test_a_folder_without_rank_is_refused(self):
        self.assert_breach({"src/util/misc.hpp": "#pragma once\n"}, "src/util/misc.hpp:1:", "src/util/ has no rank")
        self.assert_breach({"src/base/a.hpp": '#include "util/misc.hpp"\n'}, "'util/' is no folder of src/")

    def test_an_include_needs_its_folder(self):
        self.assert_breach({"src/base/a.cpp": '#include "a.hpp"\n'}, "src/base/a.cpp:1:", '"a.hpp" names no folder')

    def test_comments_and_kernel_text_are_not_includes(self):
        status, lines = report({
            "src/base/a.cpp": '/*\n#include "loop/run.hpp"\n*/\n// #include "loop/run.hpp"\n'
                              'auto k = R"cl(\n#include "loop/run.hpp"\n)cl";\n',
        })
        self.assertEqual((status, lines), (0, []))

    def test_lines_count_through_comments_and_kernel_text(self):
        self.assert_breach({"src/base/a.cpp": '/*\n\n*/\nauto k = R"(\n\n)";\n#include "loop/run.hpp"\n'},
                           "src/base/a.cpp:7:")

    def test_the_calendar_is_read_where_a_date_is_wanted(self):
        for asked in ("std::chrono::system_clock::now()", "std::time(nullptr)", "::time(&now)", "clock_gettime(CLOCK_REALTIME, &t)",
                      "gettimeofday(&t, nullptr)"):
            with self.subTest(asked):
                self.assert_breach({"src/loop/budget.cpp": f"int a;\nauto now = {asked};\n"}, "src/loop/budget.cpp:2: ",
                                   "is of the calendar", "base/clock.hpp")
        status, lines = report({
            "src/cli/environment.cpp": "const std::time_t now = std::time(nullptr);\n",
            "src/loop/budget_test.cpp": "auto now = std::chrono::system_clock::now();\n",
            "src/loop/budget.cpp": "auto now = std::chrono::steady_clock::now();  // not system_clock\nend_time(nullptr);\n",
        })
        self.assertEqual((status, lines), (0, []))

    def test_no_two_types_have_one_name(self):
        first = "namespace kw {\n\nstruct Row {\n  int a;\n};\n\n}  // namespace kw\n"
        self.assert_breach({"src/program/row.hpp": first, "tests/programs/row.hpp": first},
                           "tests/programs/row.hpp:3: kw::Row is the name of another type, in src/program/row.hpp:3")
        self.assert_breach({"src/program/row.hpp": first,
                            "src/mod/row.cpp": "namespace kw {\nclass Row final : public Base {\n};\n}  // namespace kw\n"},
                           "src/program/row.hpp:3: kw::Row is the name of another type, in src/mod/row.cpp:2")

    def test_types_in_scopes_of_their_own_may_share_a_name(self):
        text = "namespace kw{space} {{\n{opened}\nstruct Row {{\n}};\n{closed}\n}}  // namespace kw{space}\n"
        alone = {"opened": "namespace {", "closed": "}  // namespace"}
        open_to_all = {"opened": "", "closed": ""}
        status, lines = report({
            "src/program/row.hpp": text.format(space="", **open_to_all),
            "src/program/row.cpp": text.format(space="", **alone),
            "src/device/row.hpp": text.format(space="::cuda", **open_to_all),
            "src/mod/row.cpp": '// a test\'s text\nconst char* k_text = R"(\nnamespace kw {\nstruct Row {\n};\n)";\n',
        })
        self.assertEqual((status, lines), (0, []))


if __name__ == "__main__":
    unittest.main()
