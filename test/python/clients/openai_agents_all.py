import os
from importlib.metadata import version

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from harness import ASK, FAIL, HEADERS, JSON, MODEL, RESULT, TOOL, URL, check, run
from openai import AsyncOpenAI
from pydantic import BaseModel

KIND = os.environ["ABP_KIND"]
set_tracing_disabled(True)


def agent(**more):
    client = AsyncOpenAI(base_url=f"{URL}/v1", api_key="none", default_headers=HEADERS, max_retries=0)
    made = OpenAIResponsesModel if KIND == "responses" else OpenAIChatCompletionsModel
    return Agent(name="tried", model=made(model=MODEL, openai_client=client), model_settings=ModelSettings(), **more)


class Person(BaseModel):
    name: str
    age: int


@function_tool
def look_up(word: str) -> str:
    """Looks a word up."""
    check(word == "owl", word)
    return RESULT


async def answer():
    said = (await Runner.run(agent(), ASK)).final_output
    check("all is well" in said, said)


async def stream():
    result = Runner.run_streamed(agent(), ASK)
    async for _ in result.stream_events():
        pass
    check("all is well" in result.final_output, result.final_output)


async def tools():
    said = (await Runner.run(agent(tools=[look_up]), TOOL)).final_output
    check(RESULT in said, said)


async def as_json():
    parsed = (await Runner.run(agent(output_type=Person), JSON)).final_output
    check(isinstance(parsed, Person), parsed)


async def failure():
    try:
        await Runner.run(agent(), FAIL)
    except Exception as error:
        check("429" in str(error) or "RateLimit" in type(error).__name__, f"{type(error).__name__}: {error}")
        return
    check(False, "no error")


run(version("openai-agents"), {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
