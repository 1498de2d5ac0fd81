#!/usr/bin/env python3
"""Tests loop_rate.py on what a run prints, and with a program in kernelwright's place."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

import loop_rate

PROGRESS = """   0.0 s  opening the device
   0.6 s  measuring the device's peaks
   4.2 s  searching
   6.5 s  best     2.435 ms   110.2 GFLOP/s   50.0x plain  #0 analytic seed 1
  10.5 s  best     2.135 ms   110.2 GFLOP/s   55.0x plain  #4 neighbour
"""
REPORT = {
    "best": {"time_ns": 2.1e6},
    "budget": {"used": {"wall_seconds": 30.0, "candidates": 29}},
    "time": {"uses": [{"stage": "opening", "activity": "peaks", "seconds": 2.0},
                      {"stage": "opening", "activity": "oracle", "seconds": 1.0},
                      {"stage": "build", "activity": "compiling", "seconds": 9.0}],
             "beside_seconds": 7.0},
}  # fmt: skip


class LoopRate(unittest.TestCase):
    def test_reads_what_a_run_prints(self):
        got = loop_rate.figures(REPORT, PROGRESS)
        self.assertEqual(got["rate"], 58)
        self.assertEqual(got["search"], 4.2)
        self.assertEqual(got["first"], 6.5)
        self.assertEqual(got["stages"], [("build", 9.0), ("opening", 3.0)])

    def test_a_run_without_a_kernel_has_no_first_best(self):
        got = loop_rate.figures({**REPORT, "best": None}, "   4.2 s  searching\n")
        self.assertIsNone(got["first"])
        row, shares, largest = loop_rate.rows(loop_rate.PROCESSOR[0], got, 21.0)
        self.assertIn("| - s (aim 4) |", row)
        self.assertIn("| - ms | 21.0 s |", row)
        self.assertEqual(shares, "    build 75 %, opening 25 %; 7.0 s beside; 0 builds found as kept")
        self.assertEqual(largest, "    compiling in build 9.0 s, peaks in opening 2.0 s, oracle in opening 1.0 s")

    def test_asks_for_the_sizes_of_its_name(self):
        words = loop_rate.command("kw", loop_rate.GPU[1], "60s", "folder")
        self.assertEqual(words[:3], ["kw", "optimize", "attention/causal_bf16"])
        for extent in ("B=4", "Hq=16", "Hkv=16", "Sq=4096", "Skv=4096", "D=128", "Dv=128"):
            self.assertIn(extent, words)

    def test_has_every_type_at_every_size_of_a_gpu(self):
        sizes = {}
        for one in loop_rate.GPU + loop_rate.OTHER_TYPES:
            size, dtype = one["name"].rsplit(" ", 1)
            sizes.setdefault(size, []).append(dtype)
        self.assertEqual([sorted(types) for types in sizes.values()], [["bf16", "f16", "f32"]] * 3)

    def test_types_are_those_of_a_gpu(self):
        done = subprocess.run([sys.executable, "-B", loop_rate.__file__, "kw", "--types"], capture_output=True, text=True,
                              check=False)  # fmt: skip
        self.assertEqual(done.returncode, 2)
        self.assertIn("--types takes --gpu", done.stderr)

    def test_runs_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "kw"
            program.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write({PROGRESS!r})\nprint({json.dumps(REPORT)!r})\n")
            os.chmod(program, program.stat().st_mode | stat.S_IXUSR)
            done = subprocess.run([sys.executable, "-B", loop_rate.__file__, program, "--only", "S512"], capture_output=True,
                                  text=True, check=True)  # fmt: skip
            self.assertIn("| B1 H4 S512 D64 f32 | 58 (aim 150) | 6.5 s (aim 4) | 4.2 s | 29 in 30.0 s | 2.100 ms |", done.stdout)
            program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no such device')\n")
            failed = subprocess.run([sys.executable, "-B", loop_rate.__file__, program], capture_output=True, text=True,
                                    check=False)  # fmt: skip
            self.assertEqual(failed.returncode, 1)
            self.assertIn("no such device", failed.stderr)


if __name__ == "__main__":
    unittest.main()
