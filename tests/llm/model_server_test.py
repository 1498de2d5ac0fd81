#!/usr/bin/env python3
"""Tests the scripted models and their server. The bundles here are short texts: nobody compiles them."""

import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zlib

import model_server
import scripted_models
from scripted_models import BABBLE, INVENTED

HEADER = '/*kernelwright\nformat = 1\ntarget = "opencl"\n*/\n'
SLOW = HEADER + "__kernel void slow(__global float* O) {\n  O[0] = exp(1.0f);\n}\n"
FAST = HEADER + "__kernel void fast(__global float* O) {\n  O[0] = exp(2.0f);\n}\n"
TUNED = HEADER + "__kernel void tuned(__global float* O) {\n  O[0] = exp(3.0f);\n}\n"
LADDER = [SLOW, FAST, TUNED]

TIME = "* Time: 812 us (95 % interval 800 us to 830 us, 12 samples).\n"
STEP = "One step, and only this one: make the innermost dimension of the inner loop a float8.\n"


def best(bundle):
    return f"# The best kernel so far: continue from this one\n\n```c\n{bundle}```\n"


def asked(text):
    return [{"role": "system", "content": "You write kernels."}, {"role": "user", "content": text}]


class Models(unittest.TestCase):
    def answer(self, model, text):
        return model(asked(text), LADDER).text

    def test_improver_goes_up_one_bundle_per_turn(self):
        self.assertIn(SLOW.strip(), self.answer(scripted_models.improver, "Write a kernel."))
        self.assertIn(FAST.strip(), self.answer(scripted_models.improver, TIME + best(SLOW) + STEP))
        self.assertIn(TUNED.strip(), self.answer(scripted_models.improver, TIME + best(FAST) + STEP))
        self.assertIn(TUNED.strip(), self.answer(scripted_models.improver, TIME + best(TUNED) + STEP))

    def test_improver_repeats_itself_without_any_one_of_the_facts(self):
        for prompt in (best(SLOW) + STEP, TIME + STEP, TIME + best(SLOW), "* Time: 812 us.\n" + best(SLOW) + STEP,
                       TIME + best(SLOW) + "One step, and only this one: \n"):
            with self.subTest(prompt):
                self.assertIn(SLOW.strip(), self.answer(scripted_models.improver, prompt))

    def test_follower_takes_no_step_without_a_judge(self):
        said = "# What a judge says\n\n* Bottleneck: loads.\n* Plan: four rows in registers.\n\n"
        self.assertIn(SLOW.strip(), self.answer(scripted_models.follower, TIME + best(SLOW) + STEP))
        self.assertIn(FAST.strip(), self.answer(scripted_models.follower, said + TIME + best(SLOW) + STEP))
        self.assertIn(SLOW.strip(), self.answer(scripted_models.follower, said + best(SLOW) + STEP))

    def test_judge_needs_the_kernel_and_what_was_seen_of_it(self):
        form = "\nBottleneck: what\nMethod: how\nPlan: where\n"
        judged = scripted_models.judge(asked(TIME + SLOW + form)).text
        self.assertEqual([line.partition(":")[0] for line in judged.splitlines()], ["Bottleneck", "Method", "Plan"])
        self.assertEqual(judged, scripted_models.judge(asked("What the verifier saw:\n\nO is wrong\n" + SLOW + form)).text)
        for prompt in (TIME + SLOW, TIME + form, SLOW + form, "What the verifier saw:\n\n" + form):
            with self.subTest(prompt):
                self.assertNotIn("Plan:", scripted_models.judge(asked(prompt)).text)

    def test_repairer_needs_the_error_and_the_line(self):
        error = f"line 2 [6]: implicit declaration of function '{INVENTED}' is invalid in OpenCL\n"
        line = f">    2 [   6] |   O[0] = {INVENTED}(1.0f);\n"
        broken = SLOW.replace("exp(", INVENTED + "(")
        self.assertIn(broken.strip(), self.answer(scripted_models.repairer, "Write a kernel."))
        self.assertIn(SLOW.strip(), self.answer(scripted_models.repairer, error + line + broken))
        for prompt in (error, line, "It does not compile.\n" + broken, error + broken):
            with self.subTest(prompt):
                self.assertIn(broken.strip(), self.answer(scripted_models.repairer, prompt))

    def test_cheater_returns_before_it_writes(self):
        self.assertIn("__kernel void slow(__global float* O) {\n  if (1) return;", self.answer(scripted_models.cheater, "x"))

    def test_babbler_says_everything_once(self):
        self.assertEqual([scripted_models.babbler("", turn) for turn in range(len(BABBLE))], list(BABBLE.values()))


class ShippedPrompts(unittest.TestCase):
    """What the scripted models want to be told, the shipped templates say: their golden prompts show it."""

    def golden(self, name):
        path = pathlib.Path(__file__).parents[1] / "golden" / "prompts" / name
        return path.read_text(encoding="utf-8").partition("<<< user >>>")[2]

    def test_feedback_on_a_right_kernel_has_all_the_facts(self):
        self.assertEqual(scripted_models.missing_facts(self.golden("improve_slower.md")), [])

    def test_first_prompt_has_none_of_them(self):
        self.assertEqual(len(scripted_models.missing_facts(self.golden("first_opencl.md"))), 3)

    def test_a_judge_is_told_enough_of_right_kernels_and_of_wrong_ones(self):
        for name in ("judge_right.md", "judge_wrong.md"):
            with self.subTest(name):
                self.assertIn("Plan:", scripted_models.judge(asked(self.golden(name))).text)
        self.assertNotIn("Plan:", scripted_models.judge(asked(self.golden("improve_slower.md"))).text)

    def test_what_a_judge_planned_is_in_the_prompt_as_the_one_step(self):
        self.assertTrue(scripted_models.JUDGED.search(self.golden("improve_judged.md")))
        self.assertEqual(scripted_models.missing_facts(self.golden("improve_judged.md")), [])
        self.assertFalse(scripted_models.JUDGED.search(self.golden("improve_slower.md")))

    def test_feedback_on_a_broken_kernel_quotes_the_error_with_its_line(self):
        prompt = self.golden("repair_build.md")
        line = re.search(r"^>\s*3 \[[\d ]+\] \| (.*)$", prompt, re.MULTILINE).group(1)
        self.assertTrue(scripted_models.shows_error(prompt, "nonsense", line))
        self.assertFalse(scripted_models.shows_error(self.golden("repair_check.md"), "nonsense", line))


class ServerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = pathlib.Path(folder.name, "log")
        self.server = model_server.start(model_server.Play(LADDER, "the-key", self.log))
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def post(self, model, stream=False, key="the-key", **more):
        """Status, headers and body; the body is what came before the connection broke."""
        connection = http.client.HTTPConnection(*self.server.server_address, timeout=20)
        self.addCleanup(connection.close)
        body = json.dumps({"model": model, "messages": asked("Write a kernel."), "stream": stream, **more})
        connection.request("POST", "/v1/chat/completions", body, {"Authorization": f"Bearer {key}"})
        response = connection.getresponse()
        try:
            return response.status, response.headers, response.read()
        except ConnectionResetError:
            return response.status, response.headers, None

    def events(self, model, **more):
        _, headers, body = self.post(model, True, **more)
        self.assertEqual(headers.get_content_type(), "text/event-stream")
        lines = [line.removeprefix("data: ") for line in body.decode().split("\n") if line.startswith("data: ")]
        self.assertEqual(lines[-1], "[DONE]")
        return [json.loads(line) for line in lines[:-1]]

    def test_plain_answer_is_a_chat_completion(self):
        status, _, body = self.post("improver")
        answer = json.loads(body)
        self.assertEqual((status, answer["object"]), (200, "chat.completion"))
        self.assertIn(SLOW.strip(), answer["choices"][0]["message"]["content"])
        self.assertEqual(answer["choices"][0]["finish_reason"], "stop")
        self.assertGreater(answer["usage"]["prompt_tokens"], 0)

    def test_streamed_answer_says_the_same_and_usage_when_asked(self):
        chunks = self.events("improver", stream_options={"include_usage": True})
        text = "".join(choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"])
        self.assertEqual(text, json.loads(self.post("improver")[2])["choices"][0]["message"]["content"])
        self.assertEqual(chunks[-2]["choices"][0]["finish_reason"], "stop")
        self.assertEqual(chunks[-1]["choices"], [])
        self.assertIn("usage", chunks[-1])
        self.assertNotIn("usage", self.events("improver")[-1])

    def test_faults(self):
        self.assertEqual(self.post("fault-500")[0], 500)
        status, headers, _ = self.post("fault-429")
        self.assertEqual((status, headers["Retry-After"]), (429, "1"))
        self.assertEqual(json.loads(self.post("fault-413")[2])["error"]["code"], "context_length_exceeded")
        self.assertIsNone(self.post("fault-reset")[2])
        self.assertNotIn(b"[DONE]", self.post("fault-truncated")[2])
        self.assertGreater(len(self.post("fault-10mb")[2]), 10_000_000)
        with self.assertRaises(UnicodeDecodeError):
            self.post("fault-utf8")[2].decode()
        self.assertEqual(self.post("fault-html")[1].get_content_type(), "text/html")
        self.assertEqual(self.post("fault-unheard-of")[0], 404)

    def test_fault_gzip_unpacks_to_a_long_answer(self):
        _, headers, body = self.post("fault-gzip")
        self.assertEqual(headers["Content-Encoding"], "gzip")
        unpacker = zlib.decompressobj(wbits=31)
        self.assertTrue(unpacker.decompress(body, 60).startswith(b'data: {"choices":[{"index":0,"delta":{"content":"xxx'))
        self.assertGreater(model_server.BOMB_BYTES, 100 * len(body))
        unpacked = 60
        while not unpacker.eof:
            unpacked += len(unpacker.decompress(unpacker.unconsumed_tail, 1 << 20))
        self.assertGreater(unpacked, model_server.BOMB_BYTES)

    def test_fault_headers_has_no_end(self):
        with self.assertRaises(http.client.HTTPException) as raised:
            self.post("fault-headers")
        self.assertIn("got more than", str(raised.exception))

    def test_fault_once_is_followed_by_answers(self):
        self.assertEqual([self.post("fault-503-once")[0] for _ in range(3)], [503, 200, 200])

    def test_refuses_wrong_keys_models_and_requests(self):
        self.assertEqual(self.post("improver", key="another")[0], 401)
        self.assertEqual(self.post("nobody")[0], 404)
        self.assertEqual(self.post("improver", messages=[])[0], 400)

    def test_log_holds_requests_and_no_key(self):
        self.post("improver", temperature=0.5)
        text = self.log.read_text(encoding="utf-8")
        self.assertNotIn("the-key", text)
        entry = json.loads(text)
        self.assertEqual((entry["model"], entry["temperature"], entry["key"]), ("improver", 0.5, True))


class Program(unittest.TestCase):
    def test_ends_when_its_input_is_closed(self):
        with tempfile.TemporaryDirectory() as folder:
            slow = pathlib.Path(folder, "slow.cl")
            slow.write_text(SLOW, encoding="utf-8")
            program = pathlib.Path(__file__).with_name("model_server.py")
            with subprocess.Popen([sys.executable, "-B", program, "--slow-bundle", slow], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True) as server:
                self.assertRegex(server.stdout.readline(), r"^http://127\.0\.0\.1:\d+/v1\n$")
                server.stdin.close()
                self.assertEqual(server.wait(timeout=20), 0)


if __name__ == "__main__":
    unittest.main()
