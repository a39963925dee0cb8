import os
from importlib.metadata import version

from harness import ASK, BASE, FAIL, JSON, MODEL, RESULT, TOOL, check, failing, run
from magentic import FunctionCall, StreamedStr, UserMessage, prompt_chain
from magentic.chat_model.anthropic_chat_model import AnthropicChatModel
from magentic.chat_model.openai_chat_model import OpenaiChatModel
from pydantic import BaseModel

KIND = os.environ["ABP_KIND"]


def model():
    if KIND == "anthropic":
        return AnthropicChatModel(MODEL, base_url=BASE, api_key="none", max_tokens=500)
    return OpenaiChatModel(MODEL, base_url=f"{BASE}/v1", api_key="none")


class Person(BaseModel):
    name: str
    age: int


def look_up(word: str) -> str:
    """Looks a word up."""
    return RESULT


def answer():
    said = model().complete([UserMessage(ASK)], output_types=[str]).content
    check(said == "all is well", said)


def stream():
    said = "".join(model().complete([UserMessage(ASK)], output_types=[StreamedStr]).content)
    check(said == "all is well", said)


def tools():
    call = model().complete([UserMessage(TOOL)], functions=[look_up], output_types=[FunctionCall]).content
    check(call() == RESULT, call)

    @prompt_chain(TOOL.replace("{", "{{").replace("}", "}}"), functions=[look_up], model=model())
    def ask() -> str: ...

    said = ask()
    check(RESULT in said, said)


def as_json():
    parsed = model().complete([UserMessage(JSON)], output_types=[Person]).content
    check(isinstance(parsed, Person), parsed)


def failure():
    failing(lambda: model().complete([UserMessage(FAIL)], output_types=[str]))


run(version("magentic"), {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
