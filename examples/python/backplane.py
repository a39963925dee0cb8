"""One call to a backplane, for the programs beside this file.

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
