"""A test that calls a model; run it with abp exec --record-missing FILE -- python this_file.py.

Standard library only; backplane.py beside it says how the server is found.
"""

from backplane import call

body = {"model": "sim-1", "max_tokens": 50, "messages": [{"role": "user", "content": "Say exactly: four"}]}
status, _, answer = call("/e/sim/v1/messages", body)
assert status == 200, answer
assert answer["content"][0]["text"] == "four", answer
print("ok")
