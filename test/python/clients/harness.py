"""Five cases that every client library is tried with, and what each answer must be."""

import asyncio
import inspect
import json
import os
import sys

URL = os.environ["ABP_URL"]
ENGINE = os.environ["ABP_ENGINE"]
HEADERS = {"X-ABP-Engine": ENGINE}
# Where a library takes no headers, the address names the engine.
BASE = f"{URL}/e/{ENGINE}"
MODEL = "sim-1"

ASK = "Say exactly: all is well"
TOOL = 'Call the tool look_up with {"word": "owl"}.'
RESULT = "an owl is a bird"
JSON = "Describe a person."
FAIL = "Fail with 429."


def check(ok, said):
    if not ok:
        raise AssertionError(f"not what was asked for: {said!r}"[:300])


def run(version, cases):
    """Plays the cases in turn and prints one line of JSON for each."""
    for name in ("answer", "stream", "tools", "json", "failure"):
        play = cases.get(name)
        verdict = {"case": name, "version": version}
        if play is None:
            print(json.dumps({**verdict, "mark": "none"}), flush=True)
            continue
        try:
            done = play()
            if inspect.iscoroutine(done):
                done = asyncio.run(done)
            print(json.dumps({**verdict, "mark": "ok"}), flush=True)
        except Exception as error:  # the verdict is about whatever a user would see
            print(json.dumps({**verdict, "mark": "no", "note": f"{type(error).__name__}: {error}"[:400]}), flush=True)
    sys.stdout.flush()


def fails(play, kind):
    """The failure must come as the error that the library has for it."""
    try:
        done = play()
    except Exception as error:
        check(type(error).__name__ == kind, f"{type(error).__name__}: {error}")
        return
    check(False, done)


def failing(play):
    """The failure must come as an error that tells the status or says that it is about a rate."""
    try:
        done = play()
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        check("429" in said or "rate" in said.lower(), said)
        return
    check(False, done)
