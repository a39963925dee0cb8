import json

import openai
from harness import ASK, FAIL, HEADERS, JSON, MODEL, RESULT, TOOL, URL, check, fails, run
from pydantic import BaseModel

client = openai.OpenAI(base_url=f"{URL}/v1", api_key="none", default_headers=HEADERS, max_retries=0)
LOOK = {
    "type": "function",
    "function": {"name": "look_up", "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}},
}


class Person(BaseModel):
    name: str
    age: int


def user(text):
    return {"role": "user", "content": text}


def answer():
    said = client.chat.completions.create(model=MODEL, messages=[user(ASK)]).choices[0].message.content
    check("all is well" in said, said)


def stream():
    chunks = client.chat.completions.create(model=MODEL, messages=[user(ASK)], stream=True)
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    check("all is well" in said, said)


def tools():
    messages = [user(TOOL)]
    message = client.chat.completions.create(model=MODEL, messages=messages, tools=[LOOK]).choices[0].message
    call = message.tool_calls[0]
    check(json.loads(call.function.arguments) == {"word": "owl"}, call)
    messages += [message, {"role": "tool", "tool_call_id": call.id, "content": RESULT}]
    said = client.chat.completions.create(model=MODEL, messages=messages, tools=[LOOK]).choices[0].message.content
    check(RESULT in said, said)


def as_json():
    parsed = client.chat.completions.parse(model=MODEL, messages=[user(JSON)], response_format=Person).choices[0].message.parsed
    check(isinstance(parsed, Person), parsed)


def failure():
    fails(lambda: client.chat.completions.create(model=MODEL, messages=[user(FAIL)]), "RateLimitError")


run(openai.__version__, {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
