"""Serves Hangar's programmatic facade over HTTP, so that a client outside its process can call it.

    python serve_facade.py CONFIG PORT FOLDER

`POST /invoke` takes {"upstream": ID, "tool": NAME, "arguments": {...}} and answers with what `Hangar.invoke` returned,
as {"result": ...}, or with the exception that it raised, as {"error": WORDS, "error_type": CLASS,
"details": ...}. Nothing is added to a result and nothing taken away: it is written as JSON as it came.
`GET /ready` answers 200 once Hangar has started. Listens on 127.0.0.1 alone and asks for no key: the
facade is a library call, and whoever makes it is inside already. Log, events and alerts go into files of
FOLDER that the other processes write into too.
"""

import contextlib
import json
import math
import secrets
import sys

import uvicorn
from mcp_hangar.facade import Hangar
from mcp_hangar.logging_config import setup_logging
from serve_with import write_alerts, write_events
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route


# A number beyond doubles is one still: JSON has no word for what Python made of it.
BEYOND = {math.inf: "1e999", -math.inf: "-1e999"}


def as_json(value: object) -> Response:
    mark = secrets.token_hex(16)

    def marked(node):
        if isinstance(node, dict):
            return {key: marked(inner) for key, inner in node.items()}
        if isinstance(node, list):
            return [marked(inner) for inner in node]
        return f"{mark}{BEYOND[node]}" if isinstance(node, float) and node in BEYOND else node

    text = json.dumps(marked(value), ensure_ascii=False, allow_nan=False)
    for word in BEYOND.values():
        text = text.replace(f'"{mark}{word}"', word)
    return Response(text, media_type="application/json")


def serve(config: str, port: int, folder: str) -> None:
    setup_logging(level="INFO", json_format=True, log_file=f"{folder}/log.jsonl")
    write_alerts(f"{folder}/alerts.jsonl")
    write_events(f"{folder}/events.jsonl")
    hangar = Hangar.from_config(config)

    async def invoke(request: Request) -> Response:
        asked = await request.json()
        try:
            result = await hangar.invoke(asked["upstream"], asked["tool"], asked.get("arguments"), timeout_s=25.0)
            return as_json({"result": result})
        except Exception as error:  # every failure of the facade is an exception, and is what is asked for
            details = getattr(error, "details", None)
            said = {"error": str(error), "error_type": type(error).__name__, "details": repr(details)}
            return as_json(said)

    async def ready(_: Request) -> Response:
        return PlainTextResponse("ready")

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette):
        await hangar.start()
        yield
        await hangar.stop()

    routes = [Route("/invoke", invoke, methods=["POST"]), Route("/ready", ready)]
    app = Starlette(routes=routes, lifespan=lifespan)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", lifespan="on")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: serve_facade.py CONFIG PORT FOLDER")
    serve(sys.argv[1], int(sys.argv[2]), sys.argv[3])
