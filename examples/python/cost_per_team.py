"""A call with a tag, and what calls with it came to.

Standard library only; backplane.py beside it says how the server is found.
"""

from backplane import call

tag = "customer-4711"
body = {"model": "sim-1", "max_tokens": 50, "messages": [{"role": "user", "content": "Hello"}]}
status, headers, answer = call("/e/sim/v1/messages", body, {"X-ABP-Tags": tag})
assert status == 200, answer
call(f"/v1/receipts/{headers['X-ABP-Run-Id']}?wait=30")
_, _, usage = call(f"/v1/usage?group_by=tag&tag={tag}")
group = next(one for one in usage["groups"] if one["key"]["tag"] == tag)
print(tag, sum(group["runs"]), "calls", sum(group["tokens_in"]), "tokens in", sum(group["cost_nano_usd"]) / 1e9, "dollars")
