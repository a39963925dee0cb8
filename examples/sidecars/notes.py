#!/usr/bin/env python3
"""A sidecar for Agent Backplane that needs nothing but Python's standard library.

It reads one work order, counts the files of the workspace, writes the count into NOTES.md and says so.
Try it:  abp sidecars check -- python3 examples/sidecars/notes.py
Use it:  [sidecars.notes]
         command = ["python3", "examples/sidecars/notes.py"]
"""

import datetime
import json
import os
import re
import sys
import threading

CAPABILITIES = {"streaming": "native", "tool_read": "native", "tool_write": "native"}
cancelled = threading.Event()
writing = threading.Lock()


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def say(envelope):
    """One JSON object per line; everything else goes to the standard error."""
    with writing:
        sys.stdout.write(json.dumps(envelope) + "\n")
        sys.stdout.flush()


def tell(run, kind, **members):
    say({"t": "event", "ref_id": run, "event": {"ts": now(), "type": kind, **members}})


def work(run, order):
    root = order["workspace"]["root"]
    pause = re.search(r"wait (\d+) ms", order["task"])
    if pause:
        cancelled.wait(int(pause.group(1)) / 1000)
    count = sum(len(files) for folder, _, files in os.walk(root) if "/.git" not in folder)
    tell(run, "tool_call", tool_name="Write", tool_use_id="1", parent_tool_use_id=None, input={"path": "NOTES.md"})
    with open(os.path.join(root, "NOTES.md"), "w", encoding="utf-8") as notes:
        notes.write(f"# Notes\n\nAsked: {order['task']}\n\nFiles: {count}\n")
    tell(run, "tool_result", tool_name="Write", tool_use_id="1", output="written", is_error=False)
    tell(run, "file_changed", path="NOTES.md", summary=f"{count} files counted")
    tell(run, "assistant_message", text=f"There are {count} files here.")
    return "partial" if cancelled.is_set() else "complete"


def serve(run, order):
    started = now()
    try:
        outcome = work(run, order)
    except Exception as error:  # whatever went wrong is told, not thrown
        say({"t": "fatal", "ref_id": run, "error": str(error)})
        os._exit(0)
    usage = dict.fromkeys(["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "request_units", "estimated_cost_usd"])
    say({"t": "final", "ref_id": run, "receipt": {
        "meta": {"run_id": run, "work_order_id": order["id"], "contract_version": "abp/v0.1",
                 "started_at": started, "finished_at": now(), "duration_ms": 0},
        "backend": {"id": "notes", "backend_version": "1.0", "adapter_version": None},
        "capabilities": CAPABILITIES, "mode": "mapped", "usage_raw": {}, "usage": usage, "trace": [], "artifacts": [],
        "verification": {"git_diff": None, "git_status": None, "harness_ok": True},
        "outcome": outcome, "receipt_sha256": None}})
    os._exit(0)


say({"t": "hello", "contract_version": "abp/v0.1", "mode": "mapped", "capabilities": CAPABILITIES,
     "backend": {"id": "notes", "backend_version": "1.0", "adapter_version": None}})
for line in sys.stdin:
    message = json.loads(line)
    if message["t"] == "run":
        threading.Thread(target=serve, args=(message["id"], message["work_order"]), daemon=True).start()
    elif message["t"] == "ping":
        say({"t": "pong", "seq": message["seq"]})
    elif message["t"] == "cancel":
        cancelled.set()
