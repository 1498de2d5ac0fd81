#!/usr/bin/env python3
"""Tests the parts of kernelbench.py that need no GPU and no PyTorch."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import threading
import unittest
import unittest.mock

import kernelbench
import kernelbench_match
import kernelbench_table
import kernelbench_workers

TOOL = """#!/usr/bin/env python3
import json, pathlib, sys
command, module = sys.argv[1], pathlib.Path(sys.argv[2])
style = sys.argv[sys.argv.index("--style") + 1] if "--style" in sys.argv else ""
if command == "emit":
    if module.stem == "3_hopeless" or (module.stem == "2_odd" and style == "fused"):
        sys.exit(f"no {style} kernel")
    print(f"// {style}")
elif command == "build":
    pathlib.Path(sys.argv[sys.argv.index("--binary") + 1]).write_bytes(b"code")
    plan = {"buffers": [{"name": "x", "role": "input", "dtype": "f32", "bytes": 8}], "launches": [{}, {}]}
    print(json.dumps({"workloads": [{"plan": plan, "kernels": []}]}))
elif command == "explain":
    numbers = [("weight", "uniform[0,1)"), ("free", None), ("constant_1", "constant(-0.5)")]
    print(json.dumps({"parameters": [{"name": name, "distribution": rule} for name, rule in numbers]}))
elif command == "verify":
    if module.stem == "2_odd":
        print("killed", file=sys.stderr)
        sys.exit(4)
    print("pass   read\\npass   sanitize\\n       check: 2 cases\\n\\naccepted")
"""

WORKER = """
import json, os, sys, time
for line in sys.stdin:
    name = os.path.basename(json.loads(line)["path"])
    if name == "1_fine.py":
        times = {"ours_ms": "1", "eager_ms": "2", "compiled_ms": "3"}
        print(json.dumps({"status": "timed", **times, "wrong": "0", "note": "a\\nb"}), flush=True)
    if name == "2_odd.py": os._exit(7)
    if name.endswith("_lost.py"): print(json.dumps({"status": "failed", "note": "lost", "fatal": True}), flush=True)
    if name == "5_slow.py": time.sleep(60)
"""


def row(level=1, problem="1_a", ours="1", eager="2", compiled="3", wrong="0.00e+00", status="timed"):
    return {"level": str(level), "problem": problem, "status": status, "ours_ms": ours, "eager_ms": eager,
            "compiled_ms": compiled, "autotuned_ms": "", "wrong": wrong}  # fmt: skip


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("level1/10_last", "level1/1_fine", "level1/2_odd", "level1/3_hopeless", "level2/1_other"):
            self.write(f"bench/{name}.py", "")
        self.tool = self.write("tool", TOOL)
        self.tool.chmod(0o755)
        self.worker = self.write("worker.py", WORKER)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def command(self, *steps, only="1-1,1-2,1-3", **more):
        arguments = [str(self.folder / "out"), *steps, "--problems", str(self.folder / "bench"), "--kernelwright",
                     str(self.tool), "--only", only, "--jobs", "2"]  # fmt: skip
        for name, value in more.items():
            arguments += [f"--{name}", str(value)]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            kernelbench.main([*arguments, "--worker", sys.executable, str(self.worker)])
        return output.getvalue()

    def rows(self, name):
        return {one["problem"]: one for one in kernelbench_table.read(self.folder / "out" / name)}

    def test_problems_come_in_the_order_of_their_numbers(self):
        found = kernelbench.find_problems(self.folder / "bench", self.folder)
        self.assertEqual([one.key for one in found], ["1-1", "1-2", "1-3", "1-10", "2-1"])
        self.assertEqual([one.key for one in kernelbench.find_problems(self.folder / "bench", self.folder, "2-1,1-3")],
                         ["1-3", "2-1"])  # fmt: skip

    def test_a_problem_without_a_kernel_of_the_style_gets_a_plain_one_and_says_why(self):
        self.command("prepare")
        kept = json.loads((self.folder / "out/kernels/1-2.json").read_text())
        self.assertEqual((kept["style"], kept["note"]), ("plain", "fused: no fused kernel; "))
        self.assertEqual(json.loads((self.folder / "out/kernels/1-1.json").read_text())["style"], "fused")
        failed = (self.folder / "out/kernels/1-3.failed").read_text()
        self.assertEqual(failed, "fused: no fused kernel; plain: no plain kernel; ")

    def test_numbers_in_forward_are_kept_with_the_plan(self):
        self.write("tool", TOOL.replace('"name": "x"', '"name": "constant_1"'))
        self.command("prepare", only="1-1")
        self.assertEqual(json.loads((self.folder / "out/kernels/1-1.json").read_text())["constants"], {"constant_1": -0.5})

    def test_a_crash_of_a_process_costs_one_problem(self):
        self.command("prepare", "time")
        rows = self.rows("times.csv")
        self.assertEqual({name: one["status"] for name, one in rows.items()},
                         {"1_fine": "timed", "2_odd": "crashed", "3_hopeless": "no kernel"})  # fmt: skip
        self.assertEqual((rows["1_fine"]["note"], rows["1_fine"]["launches"]), ("a b", "2"))
        self.assertIn("(7)", rows["2_odd"]["note"])

    def test_a_process_that_lost_its_device_is_replaced(self):
        for number in (4, 6):
            self.write(f"bench/level1/{number}_lost.py", "")
        self.command("prepare", "time", only="1-4,1-6,1-1", jobs=1)
        self.assertEqual({one["status"] for name, one in self.rows("times.csv").items() if "lost" in name}, {"failed"})
        self.assertEqual(self.rows("times.csv")["1_fine"]["status"], "timed")

    def test_what_was_timed_is_not_timed_again(self):
        self.command("prepare", "time", only="1-1")
        times = self.folder / "out/times.csv"
        times.write_text(times.read_text().replace("timed", "kept") + "1,2_odd,tim")
        self.command("prepare", "time")
        self.assertEqual(self.rows("times.csv")["1_fine"]["status"], "kept")
        self.assertEqual(self.rows("times.csv")["2_odd"]["status"], "crashed")

    def test_what_is_to_be_tried_again_is(self):
        self.command("prepare", "time", only="1-1,1-2")
        times = self.folder / "out/times.csv"
        times.write_text(times.read_text().replace("timed", "kept").replace("crashed", "late"))
        self.command("time", only="1-1,1-2", retry="late,failed")
        self.assertEqual([self.rows("times.csv")[name]["status"] for name in ("1_fine", "2_odd")], ["kept", "crashed"])

    def test_what_the_end_of_a_call_cuts_off_is_left_to_the_next(self):
        self.write("bench/level1/5_slow.py", "")
        self.command("prepare", only="1-5")
        self.command("time", only="1-5", seconds=1, grace=0)
        self.assertEqual(self.rows("times.csv"), {})

    def test_modules_are_read_with_the_precision_that_was_asked_for(self):
        options = unittest.mock.Mock(precision="tf32_convolutions")
        self.assertEqual(kernelbench.reading(options)[-2:], ["--precision", "tf32_convolutions"])
        self.command("prepare", only="1-1")
        self.assertEqual(json.loads((self.folder / "out/kernels/1-1.json").read_text())["precision"], "strict")

    def test_pytorch_may_round_products_where_ours_do(self):
        common = ["out", "time", "--problems", "bench", "--kernelwright", "kw"]
        for precision, rounds in (("strict", False), ("tf32_convolutions", False), ("tf32", True)):
            options = kernelbench.parse([*common, "--precision", precision])
            self.assertEqual("--allow-tf32" in options.times_program, rounds, precision)

    def test_gates_keep_the_verdict_or_why_there_is_none(self):
        self.command("prepare", "gates")
        rows = self.rows("gates.csv")
        self.assertEqual((rows["1_fine"]["status"], rows["1_fine"]["gates_passed"]), ("accepted", "read sanitize"))
        self.assertEqual((rows["2_odd"]["status"], rows["2_odd"]["note"]), ("failed", "killed"))
        self.assertNotIn("3_hopeless", rows)

    def test_what_no_sanitizer_saw_is_accepted_without_that_gate(self):
        row = kernelbench.verdict_row(0, "pass   read\n\naccepted, but not sanitized\n", "")
        self.assertEqual((row["status"], row["gates_passed"], row["sanitized"]), ("accepted", "read", ""))

    def test_a_rejection_names_gate_and_reason(self):
        found = kernelbench.verdict_row(1, "pass   read\nFAIL   check: wrong_result: off by 3\n\nrejected\n", "a warning")
        self.assertEqual(found, {"status": "rejected", "gates_passed": "read", "sanitized": "", "gate": "check",
                                 "reason": "wrong_result", "note": "off by 3"})  # fmt: skip
        self.assertEqual(kernelbench.verdict_row(None, "", "took longer")["status"], "late")
        refused = "kernelwright: p cannot be scored: all zeros as y passes every check [verify.unscorable]"
        self.assertEqual(kernelbench.verdict_row(2, "", refused)["status"], "unscorable")

    def test_tools_that_did_not_end_on_every_workload_do_not_count(self):
        text = """       sanitize: primary: no finding (compute-sanitizer 2025.3: memcheck, racecheck, synccheck)
       sanitize: derived_1: no finding (compute-sanitizer 2025.3: memcheck, synccheck); racecheck did not come to its end
       sanitize: primary: no finding (by the simulator: bounds, races)"""
        self.assertEqual(kernelbench.tools_that_ended(text), "memcheck synccheck")
        self.assertEqual(kernelbench.tools_that_ended("sanitize: primary: not sanitized; memcheck did not"), "")

    def test_counters_are_of_the_launches_of_the_plan_alone(self):
        self.write("tool", TOOL.replace("[{}, {}]", '[{"kernel": "b"}, {"kernel": "a"}, {"kernel": "b"}]'))
        self.write("bin/ncu", "#!/bin/sh\necho \"$@\"\ncat\n").chmod(0o755)
        with unittest.mock.patch.dict("os.environ", PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}"):
            self.command("prepare", "counters", only="1-1,1-3")
        said = (self.folder / "out/kernels/1-1.ncu.txt").read_text()
        self.assertIn("--kernel-name regex:^(a|b)$", said)
        self.assertIn("--once", said.splitlines()[0])
        self.assertTrue(json.loads(said.splitlines()[1])["path"].endswith("1_fine.py"))

    def test_all_steps_end_with_a_table(self):
        facts = self.write("facts.json", json.dumps({"problems": []}))
        printed = self.command("prepare", "time", "gates", "report", only="1-1,1-3", facts=facts)
        self.assertIn("| problems, timed, right | 2, 1, 1 |", printed)
        self.assertIn("| accepted by all gates, of those judged | 1 of 1 |", printed)
        self.assertIn("1 timed, 1 no kernel", printed)
        self.assertIn("| 1-1_fine | 1 | 2 | 3 | 2.000 | yes |", (self.folder / "out/page.md").read_text())


class Sharing(unittest.TestCase):
    def test_what_never_fits_gets_in_alone(self):
        share = kernelbench_workers.Share(10)
        share.take(4)
        waits = threading.Thread(target=share.take, args=(100,))
        waits.start()
        waits.join(0.05)
        self.assertTrue(waits.is_alive())
        share.give(4)
        waits.join(5)
        self.assertFalse(waits.is_alive())
        self.assertEqual(share.used, 100)


class Tensor:
    shape = ()


class Layer:
    def __init__(self, **values):
        self.__dict__.update(values)

    def named_buffers(self, recurse):
        return []


class Model(Layer):
    def __init__(self):
        self.weight, self.bias, self.mask = Tensor(), Tensor(), Tensor()
        self.inner = Layer(scale=self.mask, size=3)

    def state_dict(self):
        return {"layers.0.weight": self.weight, "layers.0.bias": self.bias}

    def named_modules(self):
        return [("", self), ("inner", self.inner)]

    def forward(self, x, others):
        pass


class Matching(unittest.TestCase):
    def match(self, *names, constants=()):
        model, x, listed = Model(), Tensor(), [Tensor(), Tensor()]
        plan = {"buffers": [{"name": name, "role": "input"} for name in names] + [{"name": "y", "role": "output"}]}
        return model, x, listed, kernelbench_match.match_inputs(
            plan, kernelbench_match.sources_of(model, [x, listed]), constants)

    def test_arguments_state_and_attributes_have_the_names_of_kernels(self):
        model, x, listed, found = self.match("x", "others_1", "layers_0_weight", "layers_0_bias_", "inner_scale")
        self.assertIs(found["x"], x)
        self.assertIs(found["others_1"], listed[1])
        self.assertIs(found["layers_0_weight"], model.weight)
        self.assertIs(found["layers_0_bias_"], model.bias)
        self.assertIs(found["inner_scale"], model.mask)

    def test_numbers_in_forward_are_no_tensors_of_the_module(self):
        found = self.match("x", "constant_0", "layers_0_bias", constants={"constant_0": 2.0})[3]
        self.assertEqual(list(found), ["x", "layers_0_bias"])

    def test_a_name_that_the_module_has_not_is_an_error(self):
        with self.assertRaisesRegex(LookupError, "no tensor of the module is xx"):
            self.match("xx")


class Table(unittest.TestCase):
    def test_the_faster_rival_counts(self):
        found = kernelbench_table.judged([row(eager="3", compiled="2"), row(problem="2_b", compiled="")], [], set())
        self.assertEqual([(one["rival"], one["ratio"]) for one in found], [("compiled", "2.000"), ("eager", "2.000")])

    def test_what_is_wrong_counts_in_no_mean_and_in_no_share(self):
        rows = [row(), row(problem="2_b", eager="8", compiled="8", wrong="1.00e-09"), row(problem="3_c", status="crashed")]
        found = kernelbench_table.figures(kernelbench_table.judged(rows, [], set()), 4)
        self.assertEqual((found["timed"], found["right"]), (2, 1))
        self.assertAlmostEqual(found["mean"], 2)
        self.assertEqual([found[f"fast_{p}"] for p in (0, 1.5, 2)], [0.25, 0.25, 0])

    def test_means_are_geometric_and_the_second_leaves_degenerate_problems_out(self):
        rows = [row(), row(problem="2_b", eager="8", compiled="9"), row(problem="3_c", eager="0.5", compiled="1")]
        found = kernelbench_table.figures(kernelbench_table.judged(rows, [], {(1, "2_b")}), 3)
        self.assertAlmostEqual(found["mean"], 2)
        self.assertAlmostEqual(found["sound_mean"], 1)
        self.assertEqual(found["sound"], 2)

    def test_a_verdict_stands_beside_its_times(self):
        verdict = {"level": "1", "status": "accepted", "gate": "", "reason": "", "gates_passed": "read check"}
        gates = [{**verdict, "problem": "1_a", "status": "rejected", "gate": "check", "reason": "wrong_result"},
                 {**verdict, "problem": "2_b"}, {**verdict, "problem": "3_c", "gates_passed": "read sanitize"}]  # fmt: skip
        found = kernelbench_table.judged([row(problem=name) for name in ("1_a", "2_b", "3_c", "4_d")], gates, set())
        self.assertEqual([one["gates"] for one in found],
                         ["rejected check wrong_result", "accepted, not sanitized", "accepted", ""])  # fmt: skip
        counted = kernelbench_table.figures(found, 4)
        self.assertEqual([counted[key] for key in ("judged", "accepted", "unsanitized")], [3, 1, 1])

    def test_only_some_hazards_make_a_problem_degenerate(self):
        with tempfile.TemporaryDirectory() as folder:
            facts = pathlib.Path(folder) / "facts.json"
            problems = [{"level": 1, "name": "a", "hazards": ["batch_norm_in_train_mode"]},
                        {"level": 2, "name": "b", "hazards": ["constant_zero_output", "integer_output"]}]  # fmt: skip
            facts.write_text(json.dumps({"problems": problems}))
            self.assertEqual(kernelbench_table.degenerate_problems(facts), {(2, "b")})
        self.assertEqual(kernelbench_table.degenerate_problems(None), set())

    def test_the_page_has_every_row_and_the_machine(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "machine.json").write_text(json.dumps({"device": "a GPU"}))
            clock = "2026-01-01T00:00:00+00:00, GPU, 580, {} MHz, 3201 MHz, 1980 MHz, 700.00 W, 300.00 W, 40\n"
            (folder / "clocks.csv").write_text(clock.format(1980) + clock.format(1200) + clock.format(1900) + "half, a\n")
            times = kernelbench.Rows(folder / "times.csv", kernelbench.TIME_FIELDS)
            for one in (row(), row(problem="10_b"), row(2, "3_c", status="late", ours="", eager="", compiled="")):
                times.add(one)
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                kernelbench_table.write(folder, {1: 2, 2: 1}, None)
            page = (folder / "page.md").read_text()
            table = kernelbench_table.read(folder / "table.csv")
        self.assertEqual([one["problem"] for one in table], ["1_a", "10_b", "3_c"])
        self.assertIn("* device: a GPU\n* driver: 580\n* multiprocessor clock: 1200 to 1980 MHz, median 1900", page)
        self.assertIn("| problems, timed, right | 2, 2, 2 | 1, 0, 0 |", page)
        self.assertIn("2 timed, 1 late", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
