import os
from importlib.metadata import version

from harness import ASK, BASE, FAIL, JSON, MODEL, RESULT, TOOL, check, failing, run
from pydantic import BaseModel
from strands import Agent, tool

KIND = os.environ["ABP_KIND"]


def model():
    if KIND == "anthropic":
        from strands.models.anthropic import AnthropicModel

        return AnthropicModel(client_args={"base_url": BASE, "api_key": "none", "max_retries": 0}, model_id=MODEL, max_tokens=500)
    if KIND == "google":
        from strands.models.gemini import GeminiModel

        return GeminiModel(client_args={"api_key": "none", "http_options": {"base_url": BASE}}, model_id=MODEL)
    from strands.models.openai import OpenAIModel

    return OpenAIModel(client_args={"base_url": f"{BASE}/v1", "api_key": "none", "max_retries": 0}, model_id=MODEL)


class Person(BaseModel):
    """A person."""

    name: str
    age: int


@tool
def look_up(word: str) -> str:
    """Looks a word up."""
    return RESULT


def agent(**more):
    return Agent(model=model(), callback_handler=None, retry_strategy=None, **more)


def answer():
    said = str(agent()(ASK)).strip()
    check(said == "all is well", said)


async def stream():
    said = ""
    async for event in agent().stream_async(ASK):
        said += event.get("data", "")
    check(said == "all is well", said)


def tools():
    said = str(agent(tools=[look_up])(TOOL)).strip()
    check(RESULT in said, said)


def as_json():
    parsed = agent()(JSON, structured_output_model=Person).structured_output
    check(isinstance(parsed, Person), parsed)


def failure():
    failing(lambda: agent()(FAIL))


run(version("strands-agents"), {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
