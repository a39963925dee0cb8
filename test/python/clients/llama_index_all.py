import os
from importlib.metadata import version

from harness import ASK, BASE, FAIL, JSON, MODEL, RESULT, TOOL, check, failing, run
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from pydantic import BaseModel

KIND = os.environ["ABP_KIND"]


def model():
    if KIND == "anthropic":
        from llama_index.llms.anthropic import Anthropic

        return Anthropic(model="claude-sonnet-4-5", base_url=BASE, api_key="none", max_retries=0)
    if KIND == "google":
        from llama_index.llms.google_genai import GoogleGenAI

        return GoogleGenAI(model=MODEL, api_key="none", http_options={"base_url": BASE}, max_retries=0, is_function_calling_model=True, context_window=100000, max_tokens=500)
    if KIND == "responses":
        from llama_index.llms.openai import OpenAIResponses

        return OpenAIResponses(model="gpt-4o", api_base=f"{BASE}/v1", api_key="none", max_retries=0)
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(model=MODEL, api_base=f"{BASE}/v1", api_key="none", max_retries=0, is_chat_model=True, is_function_calling_model=True)


class Person(BaseModel):
    """A person."""

    name: str
    age: int


def look_up(word: str) -> str:
    """Looks a word up."""
    return RESULT


def user(text):
    return [ChatMessage(role="user", content=text)]


def answer():
    said = model().chat(user(ASK)).message.content
    check(said == "all is well", said)


def stream():
    said = "".join(piece.delta or "" for piece in model().stream_chat(user(ASK)))
    check(said == "all is well", said)


async def tools():
    said = str(await FunctionAgent(tools=[look_up], llm=model(), streaming=True).run(TOOL))
    check(RESULT in said, said)


def as_json():
    parsed = model().as_structured_llm(Person).chat(user(JSON)).raw
    check(isinstance(parsed, Person), parsed)


def failure():
    failing(lambda: model().chat(user(FAIL)))


run(version("llama-index-core"), {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
