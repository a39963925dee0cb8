import os
from importlib.metadata import version

from harness import ASK, FAIL, HEADERS, JSON, MODEL, RESULT, TOOL, URL, check, run
from pydantic import BaseModel
from pydantic_ai import Agent

KIND = os.environ["ABP_KIND"]


def model():
    if KIND == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(base_url=URL, api_key="none", default_headers=HEADERS, max_retries=0)
        return AnthropicModel(MODEL, provider=AnthropicProvider(anthropic_client=client))
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(base_url=f"{URL}/v1", api_key="none", default_headers=HEADERS, max_retries=0)
    made = OpenAIResponsesModel if KIND == "responses" else OpenAIChatModel
    return made(MODEL, provider=OpenAIProvider(openai_client=client))


class Person(BaseModel):
    name: str
    age: int


async def answer():
    said = (await Agent(model()).run(ASK)).output
    check("all is well" in said, said)


async def stream():
    async with Agent(model()).run_stream(ASK) as result:
        said = await result.get_output()
    check("all is well" in said, said)


async def tools():
    agent = Agent(model())

    @agent.tool_plain
    def look_up(word: str) -> str:
        """Looks a word up."""
        check(word == "owl", word)
        return RESULT

    said = (await agent.run(TOOL)).output
    check(RESULT in said, said)


async def as_json():
    parsed = (await Agent(model(), output_type=Person).run(JSON)).output
    check(isinstance(parsed, Person), parsed)


async def failure():
    try:
        await Agent(model()).run(FAIL)
    except Exception as error:
        check("429" in str(error), f"{type(error).__name__}: {error}")
        return
    check(False, "no error")


run(version("pydantic-ai-slim"), {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
