from importlib.metadata import version

from harness import ASK, BASE, FAIL, JSON, MODEL, RESULT, TOOL, check, failing, run
from smolagents import OpenAIModel, ToolCallingAgent, tool

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"], "additionalProperties": False}


def model():
    return OpenAIModel(model_id=MODEL, api_base=f"{BASE}/v1", api_key="none", client_kwargs={"max_retries": 0}, retry=False)


def user(text):
    return [{"role": "user", "content": [{"type": "text", "text": text}]}]


@tool
def look_up(word: str) -> str:
    """Looks a word up.

    Args:
        word: The word.
    """
    return RESULT


def answer():
    said = model().generate(user(ASK)).content
    check(said == "all is well", said)


def stream():
    said = "".join(delta.content or "" for delta in model().generate_stream(user(ASK)))
    check(said == "all is well", said)


def tools():
    agent = ToolCallingAgent(tools=[look_up], model=model(), max_steps=2, verbosity_level=0)
    agent.run(TOOL)
    seen = [call.name for step in agent.memory.steps for call in getattr(step, "tool_calls", None) or []]
    check("look_up" in seen, seen)


def as_json():
    import json

    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
    said = json.loads(model().generate(user(JSON), response_format=form).content)
    check(isinstance(said["name"], str) and isinstance(said["age"], int), said)


def failure():
    failing(lambda: model().generate(user(FAIL)))


run(version("smolagents"), {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
