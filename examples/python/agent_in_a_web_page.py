"""A backend that asks an agent and hands its words on as they come.

Standard library only. ABP_URL names the server (default http://127.0.0.1:8088), ABP_KEY a key where it needs one.
"""

import json
import os
import urllib.error
import urllib.request

BASE = os.environ.get("ABP_URL", "http://127.0.0.1:8088")


def call(path, body=None, headers=None, method=None):
    """One call: status, headers and JSON of the answer."""
    request = urllib.request.Request(BASE + path, method=method or ("GET" if body is None else "POST"))
    request.add_header("content-type", "application/json")
    if os.environ.get("ABP_KEY"):
        request.add_header("X-ABP-Key", os.environ["ABP_KEY"])
    for name, value in (headers or {}).items():
        request.add_header(name, value)
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(request, data) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)



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
