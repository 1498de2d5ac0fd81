#!/usr/bin/env python3
"""A chat completions server without a model, for tests: scripted models (scripted_models.py) and scripted faults.

    model_server.py --slow-bundle FILE [--fast-bundle FILE] [--tuned-bundle FILE ...] [--key KEY] [--log FILE]
                    [--idle-seconds S]

Listens on 127.0.0.1 at a port of the system's choice and prints `http://127.0.0.1:PORT/v1` as its first line. Ends when its
standard input is closed, and when nobody asked for S seconds. The model's name in the request chooses who answers:

    improver                   slow bundle first; a faster one per turn if the feedback has what it takes, else the same again
    improver-think             the same, with its reasoning in <think> tags inside the answer
    follower                   like improver, but only once a judge has planned a step
    judge                      the three lines of a judge when told what was seen of a kernel, else none of them
    repairer                   a call of an invented function first; repaired when shown the compiler's error with its line
    cheater                    a kernel that leaves the output unwritten
    babbler, babbler-KIND      no kernel: each KIND of scripted_models.BABBLE in turn, or the one
    slow-SECONDS               keep-alive comments that long, then like improver
    fault-STATUS               that status of HTTP, with an error as servers word it; 429 with Retry-After: 1
    fault-reset                some of an answer, then the connection is reset
    fault-truncated            an answer that ends in the middle of its JSON
    fault-loris                a byte of the answer every 50 ms, for ever
    fault-10mb, fault-utf8     an answer of 10 MB; an answer with bytes that are no UTF-8
    fault-html                 a page of HTML with status 200
    fault-gzip                 an answer of 512 MiB in a few megabytes of gzip, which nobody asked for
    fault-headers              headers without an end
    KIND-once                  a fault for the first request, like improver afterwards

With --key every other key is answered with 401. --log appends one JSON object per request: model, messages, parameters, and
whether a key came along, never the key.
"""

import argparse
import functools
import http.server
import json
import os
import pathlib
import socket
import struct
import sys
import threading
import time
import zlib

import scripted_models
from scripted_models import Reply

ERRORS = {
    400: {"message": "temperature must lie between 0 and 2", "type": "invalid_request_error", "code": None},
    401: {"message": "Incorrect API key provided", "type": "authentication_error", "code": "invalid_api_key"},
    402: {"message": "Insufficient Balance", "type": "unknown_error", "code": "invalid_request_error"},
    403: {"message": "Country not supported", "type": "permission_error", "code": None},
    404: {"message": "The model does not exist", "type": "invalid_request_error", "code": "model_not_found"},
    413: {"message": "This model's maximum context length is 8192 tokens", "type": "invalid_request_error",
          "code": "context_length_exceeded"},
    429: {"message": "Rate limit reached", "type": "rate_limit_error", "code": "rate_limit_exceeded"},
}
CHUNK = 200
DRIP_SECONDS = 0.05
BOMB_BYTES = 512 << 20


class Play:
    """What the server was told to play, and who asked how often; shared by the connections' threads."""

    def __init__(self, ladder, key=None, log=None):
        self.ladder = ladder
        self.key = key
        self.log = log
        self.last_request = time.monotonic()
        self._lock = threading.Lock()
        self._turns = {}

    def turn_of(self, model):
        """How many requests for this model came before."""
        with self._lock:
            self.last_request = time.monotonic()
            turn = self._turns.get(model, 0)
            self._turns[model] = turn + 1
            return turn

    def write_down(self, request, authorized):
        if not self.log:
            return
        with self._lock, open(self.log, "a", encoding="utf-8") as log:
            log.write(json.dumps({**request, "key": authorized}) + "\n")


def reply_of(play, model, messages, turn):
    """The reply of a scripted model, or None when there is none of that name."""
    kind, _, rest = model.partition("-")
    if kind in ("improver", "slow", "fault"):
        reply = scripted_models.improver(messages, play.ladder)
        if rest == "think":
            return Reply(f"<think>\n{reply.reasoning}\n</think>\n\n{reply.text}")
        return reply
    if kind == "follower":
        return scripted_models.follower(messages, play.ladder)
    if kind == "judge":
        return scripted_models.judge(messages)
    if kind == "repairer":
        return scripted_models.repairer(messages, play.ladder)
    if kind == "cheater":
        return scripted_models.cheater(messages, play.ladder)
    if kind == "babbler" and (not rest or rest in scripted_models.BABBLE):
        return scripted_models.babbler(rest, turn)
    return None


def pieces(text):
    return [text[at:at + CHUNK] for at in range(0, len(text), CHUNK)]


def usage_of(request, reply):
    prompt = sum(len(message["content"]) for message in request["messages"]) // 4 + 1
    reasoning = len(reply.reasoning) // 4
    completion = len(reply.text) // 4 + reasoning + 1
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
            "completion_tokens_details": {"reasoning_tokens": reasoning}}


def chunks_of(request, reply):
    """The objects of a streamed answer, in order."""
    def chunk(delta, finish=None):
        return {"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": request["model"],
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(reply.reasoning):
        yield chunk({"reasoning_content": piece})
    for piece in pieces(reply.text):
        yield chunk({"content": piece})
    if reply.tool_calls:
        yield chunk({"tool_calls": reply.tool_calls})
    yield chunk({}, reply.finish)
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": request["model"], "choices": [],
               "usage": usage_of(request, reply)}


def completion_of(request, reply):
    """The one object of an answer that is not streamed."""
    message = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = reply.tool_calls
    return {"id": "chat-1", "object": "chat.completion", "created": 0, "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}], "usage": usage_of(request, reply)}


def complaint_about(request):
    """Why a request is none, or None."""
    if not isinstance(request, dict) or not isinstance(request.get("model"), str):
        return "model has to be a string"
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages has to be a list with at least one message"
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in ("system", "user", "assistant"):
            return "the role of a message has to be system, user or assistant"
        if not isinstance(message.get("content"), str):
            return "the content of a message has to be a string"
    return None


@functools.cache
def gzip_bomb():
    """A streamed answer of one long event, packed."""
    piece = b"x" * (1 << 20)
    packer = zlib.compressobj(1, wbits=31)
    packed = [packer.compress(b'data: {"choices":[{"index":0,"delta":{"content":"')]
    packed += [packer.compress(piece) for _ in range(BOMB_BYTES // len(piece))]
    packed.append(packer.compress(b'"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'))
    return b"".join(packed) + packer.flush()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    play = None

    def log_message(self, *arguments):
        del arguments  # standard error is the test's

    def do_GET(self):
        if self.path != "/v1/models":
            return self.send_error_object(404, {"message": "there is only /v1/models and /v1/chat/completions"})
        self.send_json(200, {"object": "list", "data": [{"id": "improver", "object": "model"}]})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path != "/v1/chat/completions":
            return self.send_error_object(404, {"message": "there is only /v1/chat/completions"})
        authorization = self.headers.get("Authorization")
        if self.play.key and authorization != f"Bearer {self.play.key}":
            return self.send_error_object(401, ERRORS[401])
        try:
            request = json.loads(body)
        except ValueError:
            request = None
        complaint = complaint_about(request)
        if complaint:
            return self.send_error_object(400, {"message": complaint, "type": "invalid_request_error"})
        self.play.write_down(request, authorization is not None)
        try:
            self.answer(request)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def answer(self, request):
        model = request["model"]
        turn = self.play.turn_of(model)
        once = model.endswith("-once")
        name = model.removesuffix("-once")
        kind, _, rest = name.partition("-")
        reply = reply_of(self.play, name, request["messages"], turn)
        if reply is None:
            return self.send_error_object(404, ERRORS[404])
        if kind == "fault" and not (once and turn > 0):
            return self.fail(rest, request, reply)
        keep_alive_seconds = float(rest) if kind == "slow" else 0
        if request.get("stream"):
            return self.stream(request, reply, keep_alive_seconds)
        time.sleep(keep_alive_seconds)
        self.send_json(200, completion_of(request, reply))

    def fail(self, fault, request, reply):
        if fault.isdigit():
            status = int(fault)
            error = ERRORS.get(status, {"message": "internal error", "type": "server_error"})
            return self.send_error_object(status, error, {"Retry-After": "1"} if status == 429 else {})
        faults = {"reset": self.fail_with_reset, "truncated": self.fail_truncated, "loris": self.fail_slowly,
                  "10mb": self.fail_with_size, "utf8": self.fail_with_bytes, "html": self.fail_with_page, "gzip": self.fail_with_gzip, "headers": self.fail_with_headers}
        if fault not in faults:
            return self.send_error_object(404, ERRORS[404])
        self.close_connection = True
        faults[fault](request, reply)

    def first_events(self, request, reply):
        """Head and first half of a streamed answer, for the faults that begin well."""
        self.begin_stream()
        events = [self.event_of(chunk) for chunk in chunks_of(request, reply)]
        return events[:max(2, len(events) // 2)]

    def fail_with_reset(self, request, reply):
        self.wfile.write("".join(self.first_events(request, reply)).encode())
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def fail_truncated(self, request, reply):
        text = "".join(self.first_events(request, reply))
        self.wfile.write(text.rstrip().encode()[:-10])

    def fail_slowly(self, request, reply):
        self.begin_stream()
        for byte in ": keep-alive\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"".encode():
            self.drip(byte)
        while True:
            self.drip(ord("x"))

    def drip(self, byte):
        self.wfile.write(bytes([byte]))
        time.sleep(DRIP_SECONDS)

    def fail_with_size(self, request, reply):
        self.begin_stream()
        event = self.event_of({"choices": [{"index": 0, "delta": {"content": "x" * 1000}}]}).encode()
        for _ in range(10_000):
            self.wfile.write(event)

    def fail_with_bytes(self, request, reply):
        self.begin_stream()
        self.wfile.write(b'data: {"choices":[{"index":0,"delta":{"content":"\xff\xfe kernel \xc3"},"finish_reason":"stop"}]}\n\n')
        self.wfile.write(b"data: [DONE]\n\n")

    def fail_with_page(self, request, reply):
        self.send_bytes(200, "text/html; charset=utf-8", b"<!DOCTYPE html><script>alert(1)</script><h1>Sign in</h1>")

    def fail_with_gzip(self, request, reply):
        self.begin_stream({"Content-Encoding": "gzip"})
        self.wfile.write(gzip_bomb())

    def fail_with_headers(self, request, reply):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            self.wfile.write(b"X-Long: " + b"x" * 1000 + b"\r\n")

    def begin_stream(self, headers=None):
        """An answer that ends with its connection."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()

    @staticmethod
    def event_of(chunk):
        return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"

    def stream(self, request, reply, keep_alive_seconds):
        self.begin_stream()
        self.wfile.write(b": keep-alive\n\n")
        until = time.monotonic() + keep_alive_seconds
        while time.monotonic() < until:
            time.sleep(min(0.2, max(0.0, until - time.monotonic())))
            self.wfile.write(b": keep-alive\n\n")
        for chunk in chunks_of(request, reply):
            self.wfile.write(self.event_of(chunk).encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def send_error_object(self, status, error, headers=None):
        self.send_json(status, {"error": error}, headers)

    def send_json(self, status, value, headers=None):
        self.send_bytes(status, "application/json", json.dumps(value).encode(), headers)

    def send_bytes(self, status, content_type, body, headers=None):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True  # a slow answer keeps nobody waiting at the end

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # clients that leave are part of the tests
            super().handle_error(request, client_address)


def start(play):
    """A server on a free port of 127.0.0.1, with its thread running."""
    server = Server(("127.0.0.1", 0), type("PlayHandler", (Handler,), {"play": play}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def url_of(server):
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


def wait_for_end(play, idle_seconds):
    """Returns when standard input is closed or nobody asked for that long."""
    closed = threading.Event()

    def watch():
        while sys.stdin.buffer.read(4096):
            pass
        closed.set()

    threading.Thread(target=watch, daemon=True).start()
    while not closed.wait(timeout=1):
        if time.monotonic() - play.last_request > idle_seconds:
            return


def main():
    parser = argparse.ArgumentParser(description="chat completions without a model, for tests")
    parser.add_argument("--slow-bundle", type=pathlib.Path, required=True, help="right and slow: what a model says first")
    parser.add_argument("--fast-bundle", type=pathlib.Path, help="right and faster")
    parser.add_argument("--tuned-bundle", type=pathlib.Path, action="append", default=[], help="faster still; repeatable")
    parser.add_argument("--key", help="the only key that is accepted")
    parser.add_argument("--log", type=pathlib.Path, help="a file to append every request to")
    parser.add_argument("--idle-seconds", type=float, default=900)
    arguments = parser.parse_args()
    files = [arguments.slow_bundle] + ([arguments.fast_bundle] if arguments.fast_bundle else []) + arguments.tuned_bundle
    play = Play([file.read_text(encoding="utf-8") for file in files], arguments.key, arguments.log)
    server = start(play)
    print(url_of(server), flush=True)
    wait_for_end(play, arguments.idle_seconds)
    sys.stdout.flush()
    os._exit(0)  # threads may still drip into connections that nobody reads


if __name__ == "__main__":
    main()
