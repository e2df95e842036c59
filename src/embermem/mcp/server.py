"""The server of one memory: its tools (`tools`), resources (`resources`) and prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerMiddleware
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.request_state import AESGCMRequestStateCodec, RequestStateSecurity
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import ValidationError

import embermem
from embermem import prompts
from embermem.api_keys import Right
from embermem.core.errors import EmberError
from embermem.mcp.arguments import refuse_unknown
from embermem.mcp.reach import Reach
from embermem.mcp.resources import add_resources, read
from embermem.mcp.tools import Calls, declared

if TYPE_CHECKING:
    from embermem.memory import Memory

NAME = "ember"


def make_server(
    memory: Memory,
    user: str = "default",
    agent: str = "default",
    *,
    shares: Sequence[str] = (),
    person_from: str | None = None,
) -> MCPServer[Any]:
    """The server of one owner's memory, for a client that is alone with it; bound with shared spaces and another agent
    of the user's, as `Memory.of` does. The caller opens and closes the memory.

    Raises InputError for a name that is none, NotGranted for what was not granted.
    """
    owner = memory.of(user, agent, shares=shares, person_from=person_from)
    return server_of(memory, lambda right: owner)


def server_of(
    memory: Memory,
    reach: Reach,
    *,
    says: Callable[[EmberError], str] = str,
    middleware: Sequence[ServerMiddleware[Any]] = (),
) -> MCPServer[Any]:
    """The server of a memory, where `reach` says for each call whose it is, and `says` how a failure is told."""
    calls = Calls(memory, reach, says)
    server = _Server(
        calls,
        NAME,
        title="Ember memory",
        description="Long-term memory of this user: recall, remember, correct, forget.",
        instructions=prompts.load("remember").fill(),
        version=embermem.__version__,
        log_level="WARNING",
        subscriptions=False,
        request_state_security=RequestStateSecurity(codec=_StoreSealed(memory)),
        tools=[tool.model_copy(update={"fn": getattr(calls, tool.name)}) for tool in declared()],
        middleware=middleware,
    )
    add_resources(server, memory, reach, says)

    @server.prompt(name="remember", title="How to use the memory", description="When to recall and when to remember.")
    def remember() -> str:
        return prompts.load("remember").fill()

    @server.prompt(
        name="recall", title="Recall", description="What is remembered about a question, for this conversation."
    )
    def recall(question: str) -> str:
        with read(says):
            context = reach(Right.READ).recall(question)
            return f"{prompts.load('recalled').fill()}\n\n{memory.marked(context.text or '-')}"

    return server


class _StoreSealed:
    """Seals what a client brings back between two rounds of one call (a question to the person) with the store's key,
    so that another process of the same store can go on. The store is asked when first needed."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def seal(self, payload: bytes) -> str:
        """The payload as a client holds it."""
        return AESGCMRequestStateCodec([self._memory.nonce_key()]).seal(payload)

    def unseal(self, token: str) -> bytes:
        """The payload. Raises InvalidRequestState for a token that this store did not seal."""
        return AESGCMRequestStateCodec([self._memory.nonce_key()]).unseal(token)


class _Server(MCPServer[Any]):
    """Reports a failure to the model in one line: our message, or the invalid argument and the reason."""

    def __init__(self, calls: Calls, *named: Any, **options: Any) -> None:
        super().__init__(*named, **options)
        self.calls = calls

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        if (tool := next((one for one in declared() if one.name == name), None)) is not None:
            refuse_unknown(tool, arguments)
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            match error.__cause__:
                case ValidationError() as cause:
                    wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in cause.errors())
                    raise ToolError(f"{name}: {'; '.join(wrong)}") from cause
                case ToolError() as cause:
                    raise cause from cause.__cause__
                case _:
                    raise
