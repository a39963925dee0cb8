"""What a caller sees of an engine that fails, and of the tries.

Standard library only; backplane.py beside it says how the server is found.
"""

from backplane import call

body = {"model": "sim-1", "max_tokens": 50, "messages": [{"role": "user", "content": "Fail with 429."}]}
status, headers, answer = call("/e/sim/v1/messages", body)
print(status, answer["error"]["type"], "retry after", headers.get("Retry-After"))
assert status == 429
_, _, receipt = call(f"/v1/receipts/{headers['X-ABP-Run-Id']}?wait=30")
for attempt in receipt["attempts"]:
    print(attempt["engine"], attempt["status"], f"{attempt['ms']:.0f} ms")
