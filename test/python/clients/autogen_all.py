import os
from importlib.metadata import version

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelInfo, UserMessage
from harness import ASK, BASE, FAIL, JSON, MODEL, RESULT, TOOL, check, failing, run
from pydantic import BaseModel

KIND = os.environ["ABP_KIND"]
INFO = ModelInfo(vision=True, function_calling=True, json_output=True, family="unknown", structured_output=True)


def model():
    if KIND == "anthropic":
        from autogen_ext.models.anthropic import AnthropicChatCompletionClient

        return AnthropicChatCompletionClient(model=MODEL, base_url=BASE, api_key="none", model_info=INFO, max_retries=0, max_tokens=500)
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    return OpenAIChatCompletionClient(model=MODEL, base_url=f"{BASE}/v1", api_key="none", model_info=INFO, max_retries=0)


class Person(BaseModel):
    name: str
    age: int


async def look_up(word: str) -> str:
    """Looks a word up."""
    return RESULT


def user(text):
    return [UserMessage(content=text, source="user")]


async def answer():
    said = (await AssistantAgent("a", model_client=model()).run(task=ASK)).messages[-1].content
    check(said == "all is well", said)


async def stream():
    said = ""
    async for piece in model().create_stream(user(ASK)):
        said += piece if isinstance(piece, str) else ""
    check(said == "all is well", said)


async def tools():
    agent = AssistantAgent("a", model_client=model(), tools=[look_up], reflect_on_tool_use=True)
    said = (await agent.run(task=TOOL)).messages[-1].content
    check(RESULT in said, said)


async def as_json():
    said = (await model().create(user(JSON), json_output=Person)).content
    check(isinstance(Person.model_validate_json(said), Person), said)


async def failure():
    async def ask():
        await model().create(user(FAIL))

    import asyncio

    await asyncio.to_thread(failing, lambda: asyncio.run(ask()))


cases = {"answer": answer, "stream": stream, "tools": tools, "failure": failure}
# The library's client for Anthropic has no structured output.
run(version("autogen-agentchat"), cases if KIND == "anthropic" else {**cases, "json": as_json})
