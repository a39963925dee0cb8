import json

import openai
from harness import ASK, FAIL, HEADERS, JSON, MODEL, RESULT, TOOL, URL, check, fails, run
from pydantic import BaseModel

client = openai.OpenAI(base_url=f"{URL}/v1", api_key="none", default_headers=HEADERS, max_retries=0)
LOOK = {
    "type": "function",
    "name": "look_up",
    "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"], "additionalProperties": False},
    "strict": True,
}


class Person(BaseModel):
    name: str
    age: int


def answer():
    said = client.responses.create(model=MODEL, input=ASK).output_text
    check("all is well" in said, said)


def stream():
    with client.responses.stream(model=MODEL, input=ASK) as events:
        for _ in events:
            pass
        said = events.get_final_response().output_text
    check("all is well" in said, said)


def tools():
    first = client.responses.create(model=MODEL, input=TOOL, tools=[LOOK], store=False)
    call = next(item for item in first.output if item.type == "function_call")
    check(json.loads(call.arguments) == {"word": "owl"}, call)
    result = {"type": "function_call_output", "call_id": call.call_id, "output": RESULT}
    history = [{"role": "user", "content": TOOL}, *first.output, result]
    said = client.responses.create(model=MODEL, input=history, tools=[LOOK], store=False).output_text
    check(RESULT in said, said)


def as_json():
    parsed = client.responses.parse(model=MODEL, input=JSON, text_format=Person).output_parsed
    check(isinstance(parsed, Person), parsed)


def failure():
    fails(lambda: client.responses.create(model=MODEL, input=FAIL), "RateLimitError")


run(openai.__version__, {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
