import os
from importlib.metadata import version

from harness import ASK, ENGINE, MODEL, RESULT, TOOL, URL, check, run

os.environ["ANTHROPIC_BASE_URL"] = URL
os.environ["ANTHROPIC_API_KEY"] = "none"
os.environ["ANTHROPIC_CUSTOM_HEADERS"] = f"X-ABP-Engine: {ENGINE}\nX-ABP-Emulate: extended_thinking"
os.environ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
# Claude Code keeps tools of MCP servers back until its model searches for them, which sim does only when it is told to.
os.environ["ENABLE_TOOL_SEARCH"] = "false"

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, create_sdk_mcp_server, query, tool  # noqa: E402


async def said_by(prompt, options):
    words = []
    async for message in query(prompt=prompt, options=options):
        result = getattr(message, "result", None)
        if isinstance(result, str):
            words.append(result)
    return " ".join(words)


async def answer():
    said = await said_by(ASK, ClaudeAgentOptions(model=MODEL, allowed_tools=[], max_turns=2))
    check("all is well" in said, said)


async def stream():
    options = ClaudeAgentOptions(model=MODEL, allowed_tools=[], max_turns=2, include_partial_messages=True)
    events = 0
    async with ClaudeSDKClient(options=options) as client:
        await client.query(ASK)
        async for message in client.receive_response():
            events += 1 if type(message).__name__ == "StreamEvent" else 0
    check(events > 0, events)


async def tools():
    @tool("look_up", "Looks a word up.", {"word": str})
    async def look_up(args):
        return {"content": [{"type": "text", "text": RESULT}]}

    server = create_sdk_mcp_server(name="words", tools=[look_up])
    options = ClaudeAgentOptions(model=MODEL, mcp_servers={"words": server}, allowed_tools=["mcp__words__look_up"], max_turns=4)
    said = await said_by(TOOL.replace("look_up", "mcp__words__look_up"), options)
    check(RESULT in said, said)


run(version("claude-agent-sdk"), {"answer": answer, "stream": stream, "tools": tools})
