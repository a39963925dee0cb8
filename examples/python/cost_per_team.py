"""A call with a tag, and what calls with it came to.

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


tag = "customer-4711"
body = {"model": "sim-1", "max_tokens": 50, "messages": [{"role": "user", "content": "Hello"}]}
status, headers, answer = call("/e/sim/v1/messages", body, {"X-ABP-Tags": tag})
assert status == 200, answer
call(f"/v1/receipts/{headers['X-ABP-Run-Id']}?wait=30")
_, _, usage = call(f"/v1/usage?group_by=tag&tag={tag}")
group = next(one for one in usage["groups"] if one["key"]["tag"] == tag)
print(tag, sum(group["runs"]), "calls", sum(group["tokens_in"]), "tokens in", sum(group["cost_nano_usd"]) / 1e9, "dollars")
