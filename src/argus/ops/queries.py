"""Operations of the bridge that go through a model: a question, answered by the tools of MCP servers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from argus.bridge.judging import State
from argus.bridge.naming import MOST, TOOL
from argus.bridge.querying import Query
from argus.core.errors import Code
from argus.core.patterns import MODEL
from argus.ops.caller import Scope
from argus.ops.calls import FolderAsk, whence
from argus.ops.house import House
from argus.ops.operation import Answer, operation
from argus.schema import PositiveDuration

_LONGEST = 500_000


class QueryAsk(FolderAsk):
    prompt: str = Field(min_length=1, max_length=_LONGEST, description="What is asked")
    tools: list[Annotated[str, WithJsonSchema({"type": "string", "pattern": TOOL})]] = Field(
        min_length=1,
        max_length=MOST,
        description="The tools it may use: mcp__SERVER__TOOL, or mcp__SERVER__* for all of a server's",
        json_schema_extra={"examples": [["mcp__github__list_issues"]]},
    )
    model: str = Field(default="sonnet", pattern=MODEL, description="Which model")
    max_turns: int = Field(default=3, ge=1, le=100, description="Turns of the model; one call of a tool takes two")
    timeout: PositiveDuration | None = Field(
        default=None, description='For all of it, waiting for a place included, such as "60s"'
    )
    structure: dict[str, Any] | None = Field(
        default=None, alias="schema", description="A JSON schema: the answer is given, and checked, in its form"
    )


class StandingView(Answer):
    name: str
    state: State = Field(description="answered, connected (and not used), failed, or absent")
    reason: str


class QueryAnswer(Answer):
    text: str
    structured: Any = Field(description="In the form of the schema; null where none was asked for")
    servers: list[StandingView]
    turns: int | None
    cost_usd: float | None = Field(description="As the program says")
    waited_seconds: float = Field(description="For a place: few are asked at once")
    seconds: float = Field(description="In all")
    is_cut: bool = Field(description="The text was longer than what is passed on")


@operation(
    "bridge.query",
    "POST /api/ask",
    verb="ask",
    places=("prompt",),
    tool="argus_query_mcp",
    scope=Scope.ENVIRONMENT,
    destructive=True,
    ends_with_caller=True,
    open_world=True,
    errors=(Code.MCP_FAILED, Code.CIRCUIT_OPEN, Code.NOT_FOUND, Code.CONFIG_INVALID, Code.FORBIDDEN),
)
async def query(house: House, ask: QueryAsk) -> QueryAnswer:
    """Asks a model a question that it answers with the tools of other MCP servers, and nothing else.

    Changes what its tools change. Starts one `claude -p` with just these tools, which costs tokens and takes seconds.
    For a call that needs no model use argus_call_mcp. At most two are asked at once on this machine: the others wait,
    and their time limit runs. A server that failed three times in a row is not asked for five minutes:
    CIRCUIT_OPEN says when again, do not loop against it. MCP_FAILED says in details.cause whose fault it was: server,
    model, limit, turns, output, timeout, program or busy.
    """
    answer = await house.bridge.query(
        Query(
            prompt=ask.prompt,
            tools=tuple(ask.tools),
            model=ask.model,
            max_turns=ask.max_turns,
            whence=whence(house, ask),
            by=house.by,
            timeout=ask.timeout,
            schema=ask.structure,
        )
    )
    return QueryAnswer(
        text=house.clean(answer.text),
        structured=house.clean_value(answer.structured),
        servers=[StandingView(name=one.name, state=one.state, reason=one.reason) for one in answer.standings],
        turns=answer.turns,
        cost_usd=answer.cost,
        waited_seconds=round(answer.waited, 2),
        seconds=round(answer.seconds, 2),
        is_cut=answer.is_cut,
    )


OPERATIONS = (query,)
