"""OpenAI's API for a model of another vendor, by the name engine/model.

Standard library only; backplane.py beside it says how the server is found.
"""

import os

from backplane import call

body = {"model": os.environ.get("MODEL", "sim/sim-1"), "messages": [{"role": "user", "content": "Say exactly: hello"}], "stream": False}
status, headers, answer = call("/v1/chat/completions", body)
assert status == 200, answer
print(answer["choices"][0]["message"]["content"], "by", headers["X-ABP-Engine"])
