#!/usr/bin/env python3
"""Whole runs of the real tool against scripted models on loopback: kernels are compiled, run and timed.

usage: runs_test.py KERNELWRIGHT SOURCE_ROOT
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from model_server import BOMB_BYTES

HERE = pathlib.Path(__file__).parent
TOOL, ROOT = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
KEY = "sk-" + "scripted" * 4
SMALL = ["--set", "Sq=96", "--set", "Skv=96", "--set", "Hkv=2", "--set", "Hq=2"]
# Wide enough that opening the verifier fits in on a busy machine; what is held to the second is the end.
WALL_SECONDS = 45
SLACK_SECONDS = 2.0


def emit(style, path):
    text = subprocess.run([TOOL, "emit", "attention/relative", *SMALL, "--style", style], cwd=ROOT, check=True,
                          capture_output=True, text=True).stdout
    path.write_text(text)
    return path


class Run:
    """One run of the tool; its folder, exit status, output and archive."""

    # The device's peaks as the first run measured them: seconds of a busy machine that say nothing about models.
    peaks = None

    def __init__(self, folder, arguments, environment, problem=("attention/relative", *SMALL)):
        self.folder = folder
        if Run.peaks is not None:
            folder.mkdir(exist_ok=True)
            shutil.copy(Run.peaks, folder / "peaks.json")
        self.process = subprocess.Popen(
            [TOOL, "optimize", *problem, "--out", str(folder), "--json", *arguments], cwd=ROOT,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})

    def wait(self):
        self.stdout, self.stderr = self.process.communicate(timeout=300)
        self.status = self.process.returncode
        self.result = json.loads(self.stdout) if self.stdout.startswith("{") else None
        return self

    def report(self):
        text = subprocess.run([TOOL, "show", "last", "--out", str(self.folder), "--format", "json"], cwd=ROOT, check=True,
                              capture_output=True, text=True).stdout
        return json.loads(text)

    def table(self, key):
        blocks = [block for section in self.report()["sections"] for block in section["blocks"]]
        return next(block["rows"] for block in blocks if block.get("key") == key)


def watch_memory(processes):
    """The most bytes of its own that each of the processes has held so far, without what it shares with workers, which is
    as much as the caches of the machine are large; filled in from now on until all have ended.
    """
    peaks = {}

    def watch():
        alive = list(processes)
        while alive:
            for process in list(alive):
                held = held_by(process)
                if held is None:
                    alive.remove(process)
                else:
                    peaks[process] = max(held, peaks.get(process, 0))
            time.sleep(0.1)

    threading.Thread(target=watch, daemon=True).start()
    return peaks


def held_by(process):
    """Bytes; None when it has ended."""
    try:
        status = pathlib.Path("/proc", str(process), "status").read_text()
    except OSError:
        return None
    found = re.search(r"^RssAnon:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        slow, fast = emit("plain", cls.folder / "slow.cl"), emit("vector", cls.folder / "fast.cl")
        cls.server = subprocess.Popen(
            [sys.executable, "-B", str(HERE / "model_server.py"), "--slow-bundle", str(slow), "--fast-bundle", str(fast),
             "--key", KEY, "--idle-seconds", "600"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.url = cls.server.stdout.readline().strip()
        first = Run(cls.folder / "first", ["--budget", "1c"], {}).wait()
        assert first.status == 0, first.stderr
        Run.peaks = first.folder / "peaks.json"

    @classmethod
    def tearDownClass(cls):
        cls.server.stdin.close()
        cls.server.wait(timeout=30)
        cls.server.stdout.close()
        cls.temporary.cleanup()

    def start(self, name, model, *arguments, key=KEY, proposer="llm"):
        folder = self.folder / name
        return Run(folder, ["--proposer", proposer, "--base-url", self.url, "--model", model, *arguments],
                   {"KERNELWRIGHT_API_KEY": key})

    def run_tool(self, name, model, *arguments, **options):
        return self.start(name, model, *arguments, **options).wait()

    def test_a_model_that_listens_gets_faster(self):
        run = self.run_tool("improver", "improver", "--budget", "5c")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertGreater(run.result["speedup"]["plain"], 1.2)
        turns = run.table("turns")
        self.assertEqual(turns[0]["purpose"], "first prompt")
        self.assertIn("one step", [turn["purpose"] for turn in turns])
        self.assertIn("accepted", turns[1]["outcome"], "the feedback lacked what the model needs")
        # The transcript is kept, and the key is nowhere.
        for path in run.folder.rglob("*"):
            if path.is_file():
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)
        self.assertNotIn(KEY, run.stdout + run.stderr)

    def test_a_tensor_program_goes_through_the_same_loop(self):
        problem = ("problems/program/mlp.py", "--set", "batch_size=33")
        bundle = self.folder / "program.cl"
        bundle.write_text(subprocess.run([TOOL, "emit", *problem, "--target", "opencl"], cwd=ROOT, check=True,
                                         capture_output=True, text=True).stdout)
        server = subprocess.Popen(
            [sys.executable, "-B", str(HERE / "model_server.py"), "--slow-bundle", str(bundle), "--fast-bundle",
             str(bundle), "--key", KEY, "--idle-seconds", "600"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait, timeout=30)
        self.addCleanup(server.stdin.close)
        run = Run(self.folder / "program",
                  ["--proposer", "llm", "--base-url", server.stdout.readline().strip(), "--model", "improver",
                   "--budget", "2c"], {"KERNELWRIGHT_API_KEY": KEY}, problem).wait()
        self.assertEqual(run.status, 0, run.stderr)
        turns = run.table("turns")
        self.assertEqual(turns[0]["purpose"], "first prompt")
        self.assertIn("accepted", turns[0]["outcome"])

    def test_a_model_that_invents_functions_repairs_them(self):
        run = self.run_tool("repairer", "repairer", "--budget", "3c")
        self.assertEqual(run.status, 0, run.stderr)
        outcomes = [turn["outcome"] for turn in run.table("turns")]
        self.assertIn("build failed", outcomes[0].replace("_", " "))
        self.assertIn("accepted", outcomes[1])

    def test_a_model_that_cheats_gets_nothing(self):
        run = self.run_tool("cheater", "cheater", "--budget", "3c")
        self.assertEqual(run.status, 1, run.stderr)
        self.assertIsNone(run.result["best"])

    def test_a_model_that_babbles_ends_with_the_budget(self):
        run = self.run_tool("babbler", "babbler", "--budget", "9c")
        self.assertEqual(run.status, 1, run.stderr)
        self.assertEqual(run.result["candidates"]["proposed"], 0)
        self.assertGreater(len({turn["outcome"].split(":")[0] for turn in run.table("turns")}), 4, "kinds of faults")

    def test_a_fault_that_passes_is_survived(self):
        for fault in ("fault-429-once", "fault-500-once", "fault-reset-once"):
            with self.subTest(fault):
                run = self.run_tool(fault, fault, "--budget", "1c")
                self.assertEqual(run.status, 0, run.stderr)

    def test_a_wrong_key_is_said_at_once(self):
        run = self.run_tool("wrong", "improver", "--budget", "9c", key="sk-wrong")
        self.assertEqual(run.status, 2, run.stderr)
        self.assertIn("chat.unauthorized", run.stderr)
        self.assertNotIn("sk-wrong", run.stderr)

    def test_the_budget_holds_whatever_the_server_does(self):
        budget = ["--budget", f"{WALL_SECONDS}s"]
        faults = ["slow-300", "fault-loris", "fault-500", "fault-truncated", "fault-10mb", "fault-html", "fault-utf8"]
        faults += ["fault-gzip", "fault-headers"]
        runs = []
        for fault in faults:  # all at once: they wait most of the time
            runs.append((fault, self.start(fault, fault, *budget)))
        peaks = watch_memory([run.process.pid for _, run in runs])
        for fault, run in runs:
            with self.subTest(fault):
                run.wait()
                self.assertNotIn("defect", run.stderr)
                if run.result is not None:
                    self.assertLess(run.result["budget"]["used"]["wall_seconds"], WALL_SECONDS + SLACK_SECONDS)
                else:
                    self.assertIn("[chat.", run.stderr)
                self.assertLess(peaks[run.process.pid], BOMB_BYTES, "bytes of memory")

    def test_a_replay_needs_no_server(self):
        first = self.run_tool("replayed", "improver", "--budget", "3c")
        self.assertEqual(first.status, 0, first.stderr)
        again = Run(first.folder, ["--replay", "last", "--budget", "3c"],
                    {"http_proxy": "http://127.0.0.1:1"}).wait()
        self.assertEqual(again.status, 0, again.stderr)
        self.assertNotEqual(again.result["run_id"], first.result["run_id"])
        self.assertTrue(again.table("turns"))
        # A replay sends nothing, so that nothing is out when it ends.
        answered = first.result["budget"]["used"]["tokens"] - first.result["model"]["open_prompt_tokens"]
        self.assertEqual(again.result["budget"]["used"]["tokens"], answered)

    def test_a_judge_plans_what_the_model_then_does(self):
        judged = ["first prompt", "judge", "one step"]
        first = self.run_tool("judged", "follower", "--judge", "judge", "--budget", "1c")
        self.assertEqual(first.status, 0, first.stderr)
        # Goes on where it ended: what the judge said before is not asked again.
        run = self.run_tool("judged", "follower", "--judge", "judge", "--budget", "2c", "--resume")
        self.assertEqual(run.status, 0, run.stderr)
        turns = run.table("turns")
        self.assertEqual([turn["purpose"] for turn in turns[:3]], judged)
        self.assertIn("accepted", turns[2]["outcome"], "no plan of the judge's was in the prompt")
        self.assertNotIn("no judgement", turns[1]["outcome"], "the judge was not told what it needs")
        # Without a server, its words are the archive's too, and count as much as they did.
        again = Run(run.folder, ["--replay", "last", "--budget", "2c"], {"http_proxy": "http://127.0.0.1:1"}).wait()
        self.assertEqual(again.status, 0, again.stderr)
        self.assertEqual([turn["purpose"] for turn in again.table("turns")[:3]], judged)
        answered = run.result["budget"]["used"]["tokens"] - run.result["model"]["open_prompt_tokens"]
        self.assertEqual(again.result["budget"]["used"]["tokens"], answered)

    def test_a_hybrid_uses_both(self):
        run = self.run_tool("hybrid", "slow-2", "--budget", "8c", proposer="hybrid")
        self.assertEqual(run.status, 0, run.stderr)
        origins = " ".join(row["origin"] for row in run.table("candidates"))
        self.assertIn("chain 0", origins)
        self.assertIn("analytic seed", origins)


if __name__ == "__main__":
    unittest.main()
