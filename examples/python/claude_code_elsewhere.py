"""Anthropic's API on another engine, and what was lost on the way.

Standard library only; backplane.py beside it says how the server is found.
"""

import os

from backplane import call

engine = os.environ.get("ENGINE", "sim:gemini")
body = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 100,
    "metadata": {"user_id": "somebody"},
    "messages": [{"role": "user", "content": "Say exactly: hello from elsewhere"}],
}
status, headers, answer = call(f"/e/{engine}/v1/messages", body)
assert status == 200, answer
print(answer["content"][0]["text"])
run = headers["X-ABP-Run-Id"]
_, _, receipt = call(f"/v1/receipts/{run}?wait=30")
for entry in receipt["fidelity"]:
    if entry["fate"] not in ("exact", "renamed"):
        print(entry["fate"], entry["path"], entry.get("note", ""))
