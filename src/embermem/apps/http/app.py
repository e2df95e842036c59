"""The application: routes, middleware and errors are put together here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI

import embermem
from embermem.apps.http.api import routers
from embermem.apps.http.inspector import routes as inspector
from embermem.apps.http.proxy import routes as proxy
from embermem.apps.http.serving import Serving

if TYPE_CHECKING:
    from embermem.memory import Memory


def create_app(memory: Memory, *, require_keys: bool = False) -> FastAPI:
    """The server of one memory. The caller opens and closes the memory."""
    app = FastAPI(title="Ember", version=embermem.__version__, summary="Memory for AI agents.")
    app.state.serving = Serving(memory=memory, require_keys=require_keys)
    for router in routers():
        app.include_router(router, prefix="/v1")
    app.include_router(proxy.router)
    app.include_router(inspector.router)
    return app
