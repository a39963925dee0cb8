"""Chat Completions on a local engine; sim stands for one here.

Standard library only; backplane.py beside it says how the server is found.
"""

import os

from backplane import call

engine = os.environ.get("ENGINE", "sim")
body = {"model": os.environ.get("MODEL", "sim-1"), "messages": [{"role": "user", "content": "Say exactly: hello"}]}
status, _, answer = call(f"/e/{engine}/v1/chat/completions", body)
if status == 503:
    raise SystemExit(answer["error"]["message"])  # where it was looked for, and why nobody answered
print(answer["choices"][0]["message"]["content"])
