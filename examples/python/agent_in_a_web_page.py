"""A backend that asks an agent and hands its words on as they come.

Standard library only; backplane.py beside it says how the server is found.
"""

import json
import os
import urllib.request

from backplane import BASE, call


def events(session, after):
    """The events of a session behind one of them, as (type, data)."""
    request = urllib.request.Request(f"{BASE}/v1/sessions/{session}/events?since_id={after}")
    if os.environ.get("ABP_KEY"):
        request.add_header("X-ABP-Key", os.environ["ABP_KEY"])
    with urllib.request.urlopen(request) as stream:
        name = ""
        for raw in stream:
            line = raw.decode().rstrip()
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                body = json.loads(line[6:])
                yield name, body.get("data", body)


_, _, agent = call("/v1/agents", {"name": "shop", "system_prompt": "You help customers of a shop."})
_, _, session = call("/v1/sessions", {"agent_id": agent["id"]})
_, _, sent = call(f"/v1/sessions/{session['id']}/messages", {"message": {"content": "Say exactly: welcome to the shop"}})
after = f"event_{session['id'][len('session_'):]}_{sent['sequence']}"
for kind, data in events(session["id"], after):
    if kind == "output.message.completed":
        print("".join(part.get("text", "") for part in data["message"]["content"]))
    if kind in ("turn.completed", "turn.failed", "turn.cancelled"):
        assert kind == "turn.completed", data
        break
