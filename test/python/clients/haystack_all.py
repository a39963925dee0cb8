import json
import os
from importlib.metadata import version

from harness import ASK, BASE, FAIL, JSON, MODEL, RESULT, TOOL, check, failing, run
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import tool
from haystack.utils import Secret
from pydantic import BaseModel

KIND = os.environ["ABP_KIND"]
KEY = Secret.from_token("none")


class Person(BaseModel):
    name: str
    age: int


def model(**more):
    if KIND == "anthropic":
        from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator

        os.environ["ANTHROPIC_BASE_URL"] = BASE
        return AnthropicChatGenerator(api_key=KEY, model=MODEL, max_retries=0, **more)
    if KIND == "google":
        from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator

        os.environ["GOOGLE_GEMINI_BASE_URL"] = BASE
        return GoogleGenAIChatGenerator(api_key=KEY, model=MODEL, **more)
    made = OpenAIResponsesChatGenerator if KIND == "responses" else OpenAIChatGenerator
    return made(api_key=KEY, model=MODEL, api_base_url=f"{BASE}/v1", max_retries=0, **more)


@tool
def look_up(word: str) -> str:
    """Looks a word up."""
    return RESULT


def ask(text, **more):
    return model(**more).run(messages=[ChatMessage.from_user(text)])["replies"][0].text


def answer():
    said = ask(ASK)
    check(said == "all is well", said)


def stream():
    pieces = []
    said = ask(ASK, streaming_callback=lambda piece: pieces.append(piece.content))
    check(said == "all is well" and "".join(pieces) == said, [said, pieces])


def tools():
    done = Agent(chat_generator=model(), tools=[look_up]).run(messages=[ChatMessage.from_user(TOOL)])
    said = done["messages"][-1].text
    check(RESULT in said, said)


def as_json():
    name = {"responses": "text_format", "google": "response_schema"}.get(KIND, "response_format")
    said = json.loads(ask(JSON, generation_kwargs={name: Person}))
    check(isinstance(Person.model_validate(said), Person), said)


def failure():
    failing(lambda: ask(FAIL))


cases = {"answer": answer, "stream": stream, "tools": tools, "failure": failure}
# The generators for Anthropic and Google have no schema as a class.
run(version("haystack-ai"), {**cases, "json": as_json} if KIND in ("chat", "responses") else cases)
