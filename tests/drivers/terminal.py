"""A program on a pseudo-terminal, driven as by a person: type, read the screen, type more."""
import os
import pty
import re
import select
import signal
import struct
import fcntl
import termios
import time

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]")


class Terminal:
    def __init__(self, command, environment=None, columns=120):
        self.output = ""  # everything so far
        self.seen = 0  # where the next expect() begins
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, {"TERM": "xterm", "PATH": os.environ["PATH"], **(environment or {})})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait_until_released(self, seconds=60):
        """Waits until the editor of lines has restored the terminal, after which Ctrl-C is a signal."""
        deadline = time.monotonic() + seconds
        while not termios.tcgetattr(self.fd)[3] & termios.ICANON:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def read(self, deadline):
        if not select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the program has ended
            return False
        self.output += data.decode()
        return bool(data)

    def expect(self, text, seconds=20):
        """Waits until the text appears; returns the output before it since the last expect()."""
        deadline = time.monotonic() + seconds
        while (at := self.output.find(text, self.seen)) < 0:
            if not self.read(deadline):
                raise AssertionError(f"no {text!r} in {self.output[self.seen:]!r}")
        before = self.output[self.seen : at]
        self.seen = at + len(text)
        return before

    def wait(self, seconds=20):
        """Waits until the program ends; returns its exit status."""
        deadline = time.monotonic() + seconds
        while self.read(deadline):
            pass
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                return self.status
            time.sleep(0.01)
        raise AssertionError("still running")


def plain(text):
    """Removes colours and cursor movements, and normalises line ends."""
    return ESCAPES.sub("", text).replace("\r\n", "\n")
