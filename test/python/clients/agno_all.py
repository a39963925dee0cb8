import os
from importlib.metadata import version

from agno.agent import Agent
from harness import ASK, BASE, JSON, MODEL, RESULT, TOOL, check, failing, run
from pydantic import BaseModel

KIND = os.environ["ABP_KIND"]


def model():
    if KIND == "anthropic":
        from agno.models.anthropic import Claude

        return Claude(id=MODEL, api_key="none", client_params={"base_url": BASE, "max_retries": 0})
    if KIND == "google":
        from agno.models.google import Gemini

        return Gemini(id=MODEL, api_key="none", client_params={"http_options": {"base_url": BASE}})
    from agno.models.openai import OpenAIChat, OpenAIResponses

    made = OpenAIResponses if KIND == "responses" else OpenAIChat
    return made(id=MODEL, api_key="none", base_url=f"{BASE}/v1", max_retries=0)


class Person(BaseModel):
    name: str
    age: int


def look_up(word: str) -> str:
    """Looks a word up."""
    check(word == "owl", word)
    return RESULT


def said(done):
    """What an agent ended with; it tells of failures in its text."""
    check(str(done.status.value) == "COMPLETED", done.content)
    return str(done.content)


def answer():
    text = said(Agent(model=model(), telemetry=False).run(ASK))
    check("all is well" in text, text)


def stream():
    pieces = Agent(model=model(), telemetry=False).run(ASK, stream=True)
    text = "".join(str(piece.content) for piece in pieces if piece.event == "RunContent" and piece.content)
    check(text == "all is well", text)


def tools():
    text = said(Agent(model=model(), tools=[look_up], telemetry=False).run(TOOL))
    check(RESULT in text, text)


def as_json():
    parsed = Agent(model=model(), output_schema=Person, telemetry=False).run(JSON).content
    check(isinstance(parsed, Person), parsed)


def failure():
    from agno.models.message import Message

    failing(lambda: model().response(messages=[Message(role="user", content="Fail with 429.")]))


run(version("agno"), {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
