"""Prints the results of checks."""
import json
import sys
import time


def say(**line):
    print(json.dumps(line), flush=True)


def check(feature, detail, body, *arguments):
    try:
        body(*arguments)
    except Exception as wrong:  # pylint: disable=broad-except
        say(check=feature, ok=False, detail=f"{detail}: {type(wrong).__name__} {wrong}")
    else:
        say(check=feature, ok=True, detail=detail)


def not_offered(feature, why):
    say(check=feature, ok=None, detail=why)


def restart():
    """Asks the harness to restart the server; returns False if it cannot."""
    say(ask="restart")
    return sys.stdin.readline().strip() == "done"


def same(expected, found):
    if expected != found:
        raise AssertionError(f"expected {expected!r}, found {found!r}")


def raises(kind, body, *arguments, **named):
    try:
        body(*arguments, **named)
    except kind as caught:
        return caught
    raise AssertionError(f"expected {kind.__name__}, nothing was raised")


def eventually(seconds, holds):
    deadline, last = time.monotonic() + seconds, None
    while time.monotonic() < deadline:
        try:
            if holds():
                return
        except Exception as wrong:  # pylint: disable=broad-except
            last = wrong
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s; last: {last}")
