"""Starts Hangar with what no key of its configuration can add.

    python serve_with.py [--alerts=FILE] [--events=FILE] [--mutators=NAME,...] -- HANGAR_ARGUMENTS...

--alerts    writes every alert that is given to a sink, whole, as one line of JSON. Hangar's own sink
            writes the alert's first words into the log and leaves out its details; a sink of an
            operator's gets both.
--events    writes every domain event as one line: the text that its WebSocket sends to a subscriber.
--mutators  registers response mutators: `truncator` is Hangar's own ResponseTruncator with a limit of
            64 bytes, `failing` one that writes text in capitals, and fails at a text that is no string.

All else is Hangar's own start.
"""

import argparse
import json
import sys

from mcp_hangar.application.event_handlers import alert_handler
from mcp_hangar.application.mutators.response_truncator import ResponseTruncator
from mcp_hangar.domain.contracts.mutator import MutationResult
from mcp_hangar.server.api.serializers import HangarJSONEncoder
from mcp_hangar.server.bootstrap import event_handlers
from mcp_hangar.server.tools.batch import executor

LIMIT_BYTES = 64


class Failing:
    """Touches a result only where one of its texts is no string: then some are changed when it fails."""

    priority_hint = 0
    applies_to = frozenset({"tools/call"})

    def mutate(self, context):
        payload = context.payload
        content = payload.get("content") if isinstance(payload, dict) else None
        blocks = content if context.direction == "response" and isinstance(content, list) else []
        texts = [block for block in blocks if isinstance(block, dict) and "text" in block]
        if any(not isinstance(block["text"], str) for block in texts):
            for block in texts:
                block["text"] = block["text"].upper()
        return MutationResult(payload=payload, changed=False)


MUTATORS = {"truncator": lambda: ResponseTruncator(max_bytes=LIMIT_BYTES), "failing": Failing}


def append(path: str, line: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def write_alerts(path: str) -> None:
    original = alert_handler.LogAlertSink.send

    def send(self, alert):
        original(self, alert)
        append(path, json.dumps(alert.to_dict(), default=str, ensure_ascii=False))

    alert_handler.LogAlertSink.send = send


def write_events(path: str) -> None:
    original = event_handlers.LoggingEventHandler.handle

    def handle(self, event):
        original(self, event)
        append(path, json.dumps(event.to_dict(), cls=HangarJSONEncoder))

    # It is given every event.
    event_handlers.LoggingEventHandler.handle = handle


def register(make) -> None:
    original = executor.BatchExecutor.__init__

    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        self._mutator_pipeline.register(make())

    executor.BatchExecutor.__init__ = init
    # One executor was made when its module was imported.
    from mcp_hangar.server.tools import batch

    batch._executor._mutator_pipeline.register(make())


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--alerts")
    parser.add_argument("--events")
    parser.add_argument("--mutators", default="")
    own, rest = parser.parse_known_args()
    if own.alerts:
        write_alerts(own.alerts)
    if own.events:
        write_events(own.events)
    for name in filter(None, own.mutators.split(",")):
        register(MUTATORS[name])
    from mcp_hangar.server.cli import cli_main

    sys.argv = ["mcp-hangar", *[word for word in rest if word and word != "--"]]
    return cli_main() or 0


if __name__ == "__main__":
    sys.exit(main())
