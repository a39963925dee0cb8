import json

import anthropic
from harness import ASK, FAIL, HEADERS, JSON, MODEL, RESULT, TOOL, URL, check, fails, run

client = anthropic.Anthropic(base_url=URL, api_key="none", default_headers=HEADERS, max_retries=0)
WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def ask(content, **more):
    return client.messages.create(model=MODEL, max_tokens=500, messages=[{"role": "user", "content": content}], **more)


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def answer():
    check("all is well" in text_of(ask(ASK)), "")


def stream():
    with client.messages.stream(model=MODEL, max_tokens=500, messages=[{"role": "user", "content": ASK}]) as events:
        said = "".join(events.text_stream)
    check("all is well" in said, said)


def tools():
    look = [{"name": "look_up", "input_schema": WORD}]
    first = ask(TOOL, tools=look)
    call = next(block for block in first.content if block.type == "tool_use")
    check(call.input == {"word": "owl"}, call)
    messages = [
        {"role": "user", "content": TOOL},
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": RESULT}]},
    ]
    said = text_of(client.messages.create(model=MODEL, max_tokens=500, messages=messages, tools=look))
    check(RESULT in said, said)


def as_json():
    said = text_of(ask(JSON, extra_body={"output_config": {"format": {"type": "json_schema", "schema": PERSON}}}))
    check(set(json.loads(said)) == {"name", "age"}, said)


def failure():
    fails(lambda: ask(FAIL), "RateLimitError")


run(anthropic.__version__, {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
