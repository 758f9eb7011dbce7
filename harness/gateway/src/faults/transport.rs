//! Faults of the area `transport`.

use birdstrike_wire::json;

use super::Fault;
use crate::surfaces::transport::{self as right, Ruling};

const SURFACE: &str = "transport";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "answers-never-stream",
        surface: SURFACE,
        mistake: "Every answer is one JSON object, so that nothing can be said before it.",
        apply: |steps| steps.transport.streams = |_| false,
    },
    Fault {
        name: "answer-before-its-notifications",
        surface: SURFACE,
        mistake: "Notifications are queued until the answer is there, and sent after it.",
        apply: |steps| steps.transport.answer_last = false,
    },
    Fault {
        name: "event-on-one-line",
        surface: SURFACE,
        mistake: "A message becomes one `data` field, also when it has line breaks.",
        apply: |steps| {
            steps.transport.event = |message| format!("event: message\ndata: {message}\n\n");
        },
    },
    Fault {
        name: "progress-dropped",
        surface: SURFACE,
        mistake: "Notifications before the answer are read and thrown away.",
        apply: |steps| steps.transport.progress = |_, _, _| None,
    },
    Fault {
        name: "progress-token-as-string",
        surface: SURFACE,
        mistake: "Tokens are kept as strings, so that a number comes back in quotes.",
        apply: |steps| {
            steps.transport.progress =
                |token, own, clients| right::progress(token, own, clients).map(|t| quoted(&t));
        },
    },
    Fault {
        name: "progress-of-any-token",
        surface: SURFACE,
        mistake: "Whatever progress comes on a stream is taken for that of its request.",
        apply: |steps| steps.transport.progress = |_, _, clients| Some(clients.to_owned()),
    },
    Fault {
        name: "progress-to-whoever-calls",
        surface: SURFACE,
        mistake: "Progress is passed on as it comes, to clients too that gave no token.",
        apply: |steps| steps.transport.uninvited = |token| Some(token.to_owned()),
    },
    Fault {
        name: "progress-token-passed-up",
        surface: SURFACE,
        mistake: "The client's token goes upstream, where two clients can have the same.",
        apply: |steps| steps.transport.token = |clients, _| clients.to_owned(),
    },
    Fault {
        name: "logs-uninvited",
        surface: SURFACE,
        mistake: "Log messages go to every client, whatever it asked for.",
        apply: |steps| steps.transport.log = |_, _, _| true,
    },
    Fault {
        name: "logs-dropped",
        surface: SURFACE,
        mistake: "Log messages of an upstream end in the gateway.",
        apply: |steps| steps.transport.log = |_, _, _| false,
    },
    Fault {
        name: "unknown-notifications-passed-on",
        surface: SURFACE,
        mistake: "Notifications of kinds that the gateway does not know go to the client as they are.",
        apply: |steps| steps.transport.unknown = |_| true,
    },
    Fault {
        name: "ping-unanswered",
        surface: SURFACE,
        mistake: "A ping of the upstream is a request, and requests are refused.",
        apply: |steps| {
            steps.transport.ruling = |method, capabilities| match method {
                "ping" => Ruling::Refuse,
                _ => right::ruling(method, capabilities),
            };
        },
    },
    Fault {
        name: "questions-refused",
        surface: SURFACE,
        mistake: "Requests of an upstream are refused, although the client could answer them.",
        apply: |steps| {
            steps.transport.ruling = |method, capabilities| match method {
                "ping" => right::ruling(method, capabilities),
                _ => Ruling::Refuse,
            };
        },
    },
    Fault {
        name: "questions-answered-with-nothing",
        surface: SURFACE,
        mistake: "Requests of an upstream are answered with an empty result, and nobody is asked.",
        apply: |steps| steps.transport.ruling = |_, _| Ruling::Own,
    },
    Fault {
        name: "questions-to-everybody",
        surface: SURFACE,
        mistake: "A client is asked for what it did not say that it can do.",
        apply: |steps| {
            steps.transport.ruling =
                |method, capabilities| match right::ruling(method, capabilities) {
                    Ruling::Refuse => Ruling::Relay,
                    ruling => ruling,
                };
        },
    },
    Fault {
        name: "question-answered-under-own-id",
        surface: SURFACE,
        mistake: "The client's answer goes upstream under the id that the client was asked with.",
        apply: |steps| steps.transport.reply_id = |_, own| own.to_owned(),
    },
    Fault {
        name: "cancel-dropped",
        surface: SURFACE,
        mistake: "A cancelled call is forgotten here, and goes on upstream.",
        apply: |steps| steps.transport.cancelled = |_, _| None,
    },
    Fault {
        name: "cancel-under-clients-id",
        surface: SURFACE,
        mistake: "The cancellation goes upstream with the client's id, which is another call's there.",
        apply: |steps| steps.transport.cancelled = |_, clients| Some(clients.to_owned()),
    },
    Fault {
        name: "cancel-through-double",
        surface: SURFACE,
        mistake: "Ids are compared as floating-point numbers, so that neighbours are one request.",
        apply: |steps| {
            steps.transport.cancels =
                |asked, in_flight| match (asked.parse::<f64>(), in_flight.parse::<f64>()) {
                    (Ok(asked), Ok(in_flight)) => asked.to_bits() == in_flight.to_bits(),
                    _ => asked == in_flight,
                };
        },
    },
    Fault {
        name: "cancel-everything",
        surface: SURFACE,
        mistake: "A cancellation ends all that its session has in flight.",
        apply: |steps| steps.transport.cancels = |_, _| true,
    },
    Fault {
        name: "unknown-session-is-400",
        surface: SURFACE,
        mistake: "An unknown session is a bad request, after which no client opens a new one.",
        apply: |steps| {
            steps.transport.session = |named| right::session(named).map(|_| 400);
        },
    },
    Fault {
        name: "unknown-session-served",
        surface: SURFACE,
        mistake: "The session id is handed out and never looked at again.",
        apply: |steps| steps.transport.session = |_| None,
    },
    Fault {
        name: "one-id-for-all",
        surface: SURFACE,
        mistake: "Requests that have a connection of their own all have one id.",
        apply: |steps| {
            steps.transport.own_id =
                |fresh, alone| if alone { "1".to_owned() } else { right::own_id(fresh, alone) };
        },
    },
    Fault {
        name: "lost-stream-asked-again-as-it-was",
        surface: SURFACE,
        mistake: "A request whose stream was lost is sent again with the id that it had.",
        apply: |steps| steps.transport.again = || true,
    },
    Fault {
        name: "late-answer-to-who-waits",
        surface: SURFACE,
        mistake: "The answer to a call that was cancelled is given to the call that waits.",
        apply: |steps| steps.transport.stray = || true,
    },
    Fault {
        name: "capabilities-forgotten",
        surface: SURFACE,
        mistake: "Tools are all that is said to be served, resources are served all the same.",
        apply: |steps| {
            steps.transport.capabilities = || r#""tools":{"listChanged":true},"logging":{}"#;
        },
    },
    Fault {
        name: "broken-stream-given-up",
        surface: SURFACE,
        mistake: "A stream that breaks is a failure, although it could be taken up again.",
        apply: |steps| steps.transport.resume = |_| None,
    },
];

fn quoted(id: &str) -> String {
    if id.starts_with('"') { id.to_owned() } else { json::quote(id) }
}
