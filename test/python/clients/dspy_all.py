import os
from importlib.metadata import version

import dspy
from harness import ASK, BASE, FAIL, MODEL, RESULT, check, failing, run

KIND = os.environ["ABP_KIND"]


def model(anthropic=MODEL, openai=MODEL):
    if KIND == "anthropic":
        return dspy.LM(f"anthropic/{anthropic}", api_base=f"{BASE}/v1", api_key="none", cache=False, num_retries=0, max_tokens=500)
    form = "responses" if KIND == "responses" else "chat"
    return dspy.LM(f"openai/{openai}", model_type=form, api_base=f"{BASE}/v1", api_key="none", cache=False, num_retries=0)


class Person(dspy.Signature):
    """Describes a person."""

    wish: str = dspy.InputField()
    name: str = dspy.OutputField()
    age: int = dspy.OutputField()


def text_of(answers):
    first = answers[0]
    return first["text"] if isinstance(first, dict) else first


def answer():
    said = text_of(model()(ASK))
    check("all is well" in said, said)


def tools():
    def look_up(word: str) -> str:
        """Looks a word up."""
        return RESULT

    tool = dspy.Tool(look_up)
    said = str(model()("Call the tool look_up with {\"word\": \"owl\"}.", tools=[tool.format_as_litellm_function_call()]))
    check("look_up" in said and "owl" in said, said)


def as_json():
    # The library asks for a schema where it knows that the model has one.
    with dspy.context(lm=model("claude-sonnet-4-5", "gpt-4o"), adapter=dspy.JSONAdapter()):
        made = dspy.Predict(Person)(wish="anyone")
    check(isinstance(made.name, str) and isinstance(made.age, int), made)


def failure():
    failing(lambda: model()(FAIL))


run(version("dspy"), {"answer": answer, "tools": tools, "json": as_json, "failure": failure})
