import json
import os
from importlib.metadata import version

import litellm
from harness import ASK, FAIL, HEADERS, JSON, MODEL, RESULT, TOOL, URL, check, fails, run
from pydantic import BaseModel

KIND = os.environ["ABP_KIND"]
litellm.telemetry = False
LOOK = {
    "type": "function",
    "function": {"name": "look_up", "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}},
}


class Person(BaseModel):
    name: str
    age: int


def ask(messages, **more):
    if KIND == "anthropic":
        place = {"model": f"anthropic/{MODEL}", "api_base": URL, "max_tokens": 500}
    else:
        place = {"model": f"openai/{MODEL}", "api_base": f"{URL}/v1"}
    return litellm.completion(messages=messages, api_key="none", extra_headers=HEADERS, num_retries=0, **place, **more)


def user(text):
    return {"role": "user", "content": text}


def answer():
    said = ask([user(ASK)]).choices[0].message.content
    check("all is well" in said, said)


def stream():
    said = "".join(chunk.choices[0].delta.content or "" for chunk in ask([user(ASK)], stream=True))
    check("all is well" in said, said)


def tools():
    first = ask([user(TOOL)], tools=[LOOK]).choices[0].message
    call = first.tool_calls[0]
    check(json.loads(call.function.arguments) == {"word": "owl"}, call)
    history = [user(TOOL), first.model_dump(), {"role": "tool", "tool_call_id": call.id, "content": RESULT}]
    said = ask(history, tools=[LOOK]).choices[0].message.content
    check(RESULT in said, said)


def as_json():
    said = ask([user(JSON)], response_format=Person).choices[0].message.content
    check(isinstance(Person.model_validate_json(said), Person), said)


def failure():
    fails(lambda: ask([user(FAIL)]), "RateLimitError")


run(version("litellm"), {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
