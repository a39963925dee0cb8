import os
from importlib.metadata import version

from harness import ASK, BASE, FAIL, JSON, MODEL, RESULT, TOOL, check, run
from pydantic import BaseModel
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.contents import ChatHistory
from semantic_kernel.functions import kernel_function

KIND = os.environ["ABP_KIND"]


class Person(BaseModel):
    name: str
    age: int


class Library:
    @kernel_function(name="look_up", description="Looks a word up.")
    def look_up(self, word: str) -> str:
        return RESULT


def model():
    if KIND == "anthropic":
        from anthropic import AsyncAnthropic
        from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion

        return AnthropicChatCompletion(ai_model_id=MODEL, api_key="none", async_client=AsyncAnthropic(base_url=BASE, api_key="none", max_retries=0))
    from openai import AsyncOpenAI
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion

    return OpenAIChatCompletion(ai_model_id=MODEL, async_client=AsyncOpenAI(base_url=f"{BASE}/v1", api_key="none", max_retries=0))


def settings(service, **more):
    made = service.instantiate_prompt_execution_settings(service_id=service.service_id, **more)
    if KIND == "anthropic":
        made.max_tokens = 500
    return made


def history(text):
    chat = ChatHistory(system_message="Be brief.")
    chat.add_user_message(text)
    return chat


async def answer():
    service = model()
    said = str(await service.get_chat_message_content(history(ASK), settings(service)))
    check(said == "all is well", said)


async def stream():
    service = model()
    said = ""
    async for piece in service.get_streaming_chat_message_content(history(ASK), settings(service)):
        said += str(piece)
    check(said == "all is well", said)


async def tools():
    service = model()
    kernel = Kernel()
    kernel.add_plugin(Library(), "library")
    chosen = settings(service, function_choice_behavior=FunctionChoiceBehavior.Auto())
    said = str(await service.get_chat_message_content(history(TOOL.replace("look_up", "library-look_up")), chosen, kernel=kernel))
    check(RESULT in said, said)


async def as_json():
    service = model()
    said = str(await service.get_chat_message_content(history(JSON), settings(service, response_format=Person)))
    check(isinstance(Person.model_validate_json(said), Person), said)


async def failure():
    service = model()
    try:
        await service.get_chat_message_content(history(FAIL), settings(service))
    except Exception as error:
        check("429" in f"{error} {error.__cause__}", f"{type(error).__name__}: {error}")
        return
    check(False, "no error")


cases = {"answer": answer, "stream": stream, "tools": tools, "failure": failure}
# The connector for Anthropic has no schema.
run(version("semantic-kernel"), cases if KIND == "anthropic" else {**cases, "json": as_json})
