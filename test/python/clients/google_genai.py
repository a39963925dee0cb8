from google import genai
from google.genai import types
from harness import ASK, FAIL, HEADERS, JSON, MODEL, RESULT, TOOL, URL, check, fails, run
from pydantic import BaseModel

client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=URL, headers=HEADERS))


class Person(BaseModel):
    name: str
    age: int


def look_up(word: str) -> str:
    """Looks a word up."""
    check(word == "owl", word)
    return RESULT


def answer():
    said = client.models.generate_content(model=MODEL, contents=ASK).text
    check("all is well" in said, said)


def stream():
    said = "".join(chunk.text or "" for chunk in client.models.generate_content_stream(model=MODEL, contents=ASK))
    check("all is well" in said, said)


def tools():
    config = types.GenerateContentConfig(tools=[look_up])
    said = client.models.generate_content(model=MODEL, contents=TOOL, config=config).text
    check(RESULT in said, said)


def as_json():
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Person)
    parsed = client.models.generate_content(model=MODEL, contents=JSON, config=config).parsed
    check(isinstance(parsed, Person), parsed)


def failure():
    fails(lambda: client.models.generate_content(model=MODEL, contents=FAIL), "ClientError")


run(genai.__version__, {"answer": answer, "stream": stream, "tools": tools, "json": as_json, "failure": failure})
