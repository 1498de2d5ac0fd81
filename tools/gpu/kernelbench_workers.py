"""Processes that may crash, and how many of them are at work."""

import contextlib
import json
import os
import select
import subprocess
import threading


class Worker:
    """A process that measures one problem after another, each asked for and answered by a line of JSON."""

    def __init__(self, command):
        # Many processes compile at once: none of them needs helpers.
        environment = os.environ | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def ask(self, task, seconds):
        """The answer; a row with a status where there is none, and then the process is over."""
        try:
            self.process.stdin.write((json.dumps(task) + "\n").encode())
            self.process.stdin.flush()
        except OSError:
            return self.close("crashed", "the process was over before the problem began")
        if not select.select([self.process.stdout], [], [], max(0, seconds))[0]:
            return self.close("late", f"took longer than {seconds:.0f} s")
        try:
            answer = json.loads(self.process.stdout.readline())
        except ValueError:  # nothing, or half a line
            return self.close("crashed", "the process ended")
        if answer.pop("fatal", False):
            self.close("", "")
        return answer

    def close(self, status, note):
        self.process.kill()
        self.process.stdout.close()
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        code = self.process.wait()
        return {"status": status, "note": f"{note} ({code})"}

    @property
    def over(self):
        return self.process.poll() is not None


class Share:
    """Lets problems in while their bytes fit; one that never fits gets in alone."""

    def __init__(self, size):
        self.size, self.used, self.changed = size, 0, threading.Condition()

    def take(self, size):
        with self.changed:
            self.changed.wait_for(lambda: self.used == 0 or self.used + size <= self.size)
            self.used += size

    def give(self, size):
        with self.changed:
            self.used -= size
            self.changed.notify_all()
