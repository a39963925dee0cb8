import os
from importlib.metadata import version

from harness import ASK, FAIL, HEADERS, JSON, MODEL, RESULT, TOOL, URL, check, run
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

KIND = os.environ["ABP_KIND"]


def model():
    if KIND == "anthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model=MODEL, base_url=URL, api_key="none", default_headers=HEADERS, max_retries=0)
    if KIND == "google":
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(model=MODEL, google_api_key="none", base_url=URL, additional_headers=HEADERS, max_retries=1)
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key="none", default_headers=HEADERS, max_retries=0)


class Person(BaseModel):
    """A person."""

    name: str
    age: int


@tool
def look_up(word: str) -> str:
    """Looks a word up."""
    return RESULT


def answer():
    said = str(model().invoke(ASK).content)
    check("all is well" in said, said)


def stream():
    said = "".join(str(chunk.content if isinstance(chunk.content, str) else "".join(part.get("text", "") for part in chunk.content)) for chunk in model().stream(ASK))
    check("all is well" in said, said)


def tools():
    able = model().bind_tools([look_up])
    first = able.invoke(TOOL)
    call = first.tool_calls[0]
    check(call["args"] == {"word": "owl"}, call)
    said = str(able.invoke([HumanMessage(TOOL), first, ToolMessage(RESULT, tool_call_id=call["id"])]).content)
    check(RESULT in said, said)


def as_json():
    parsed = model().with_structured_output(Person).invoke(JSON)
    check(isinstance(parsed, Person), parsed)


def failure():
    try:
        model().invoke(FAIL)
    except Exception as error:
        check("429" in str(error) or "rate" in type(error).__name__.lower() or "rate" in str(error).lower(), f"{type(error).__name__}: {error}")
        return
    check(False, "no error")


run(version("langchain-core"), {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
