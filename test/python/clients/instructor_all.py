from importlib.metadata import version

import instructor
import openai
from harness import FAIL, HEADERS, JSON, MODEL, URL, check, run
from pydantic import BaseModel

plain = openai.OpenAI(base_url=f"{URL}/v1", api_key="none", default_headers=HEADERS, max_retries=0)


class Person(BaseModel):
    name: str
    age: int


def asked(mode, **more):
    client = instructor.from_openai(plain, mode=mode)
    return client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": JSON}], response_model=Person, max_retries=0, **more)


def by_tools():
    check(isinstance(asked(instructor.Mode.TOOLS), Person), "")


def by_json():
    check(isinstance(asked(instructor.Mode.JSON_SCHEMA), Person), "")


def partial():
    client = instructor.from_openai(plain, mode=instructor.Mode.TOOLS)
    last = None
    for last in client.chat.completions.create_partial(model=MODEL, messages=[{"role": "user", "content": JSON}], response_model=Person, max_retries=0):
        pass
    check(last is not None and last.name is not None, last)


def failure():
    client = instructor.from_openai(plain, mode=instructor.Mode.TOOLS)
    try:
        client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": FAIL}], response_model=Person, max_retries=0)
    except Exception as error:
        check("429" in str(error) or "RateLimit" in type(error).__name__, f"{type(error).__name__}: {error}")
        return
    check(False, "no error")


run(version("instructor"), {"stream": partial, "tools": by_tools, "json": by_json, "failure": failure})
