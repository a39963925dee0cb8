"""What a caller of a shared server asks first: is it there, who am I to it, what may I use.

Standard library only; backplane.py beside it says how the server is found.
"""

from backplane import call

status, _, health = call("/healthz")
print("server", health["version"], health["status"])
status, _, models = call("/v1/models")
print(len(models["data"]), "models" if status == 200 else models)
body = {"model": "sim-1", "max_tokens": 50, "messages": [{"role": "user", "content": "Say exactly: hello"}]}
status, headers, answer = call("/e/sim/v1/messages", body)
if status in (401, 403):
    raise SystemExit(answer["error"]["message"])
print(answer["content"][0]["text"], headers["X-ABP-Run-Id"])
