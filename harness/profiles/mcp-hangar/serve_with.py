"""Starts Hangar with what no key of its configuration can add.

    python serve_with.py [--alerts FILE] [--mutator truncator|failing] -- HANGAR_ARGUMENTS...

--alerts    writes every alert that is given to a sink, whole, as one line of JSON. Hangar's own sink
            writes the alert's first words into the log and leaves out its details; a sink of an
            operator's gets both.
--mutator   registers a response mutator: `truncator` is Hangar's own ResponseTruncator with a limit of
            64 bytes, `failing` one that raises.

All else is Hangar's own start.
"""

import argparse
import json
import sys

from mcp_hangar.application.event_handlers import alert_handler
from mcp_hangar.application.mutators.response_truncator import ResponseTruncator
from mcp_hangar.domain.contracts.mutator import MutationResult
from mcp_hangar.server.tools.batch import executor

LIMIT_BYTES = 64


class Failing:
    """Raises on every response to tools/call."""

    priority_hint = 0
    applies_to = frozenset({"tools/call"})

    def mutate(self, context):
        if context.direction == "response":
            raise RuntimeError("this mutator fails on purpose")
        return MutationResult(payload=context.payload, changed=False)


MUTATORS = {"truncator": lambda: ResponseTruncator(max_bytes=LIMIT_BYTES), "failing": Failing}


def write_alerts(path: str) -> None:
    original = alert_handler.LogAlertSink.send

    def send(self, alert):
        original(self, alert)
        line = json.dumps(alert.to_dict(), default=str, ensure_ascii=False)
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    alert_handler.LogAlertSink.send = send


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
    parser.add_argument("--mutator", choices=sorted(MUTATORS))
    own, rest = parser.parse_known_args()
    if own.alerts:
        write_alerts(own.alerts)
    if own.mutator:
        register(MUTATORS[own.mutator])
    from mcp_hangar.server.cli import cli_main

    sys.argv = ["mcp-hangar", *[word for word in rest if word != "--"]]
    return cli_main() or 0


if __name__ == "__main__":
    sys.exit(main())
