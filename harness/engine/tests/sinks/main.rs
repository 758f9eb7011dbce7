//! Sinks end to end: a small gateway writes records of its calls to every kind of port, and each
//! check says of them what is true.

#![expect(clippy::unwrap_used, reason = "tests may end so")]

mod gateway;
mod support;

use std::time::Duration;

use birdstrike_judge::Fidelity::{Added, Altered, Leaked, Lost};
use birdstrike_judge::Verdict;

use gateway::{Call, Gateway, Record, escaped, right};
use support::{Told, run};

/// The same for the records that a picked kind of record becomes.
fn changed(call: &Call, change: impl Fn(&Record) -> Vec<Record>) -> Vec<Record> {
    right(call).iter().flat_map(change).collect()
}

async fn told(manner: fn(&Call) -> Vec<Record>) -> Told {
    let gateway = Gateway::start(manner).await;
    run(&gateway).await
}

#[tokio::test]
async fn a_gateway_that_writes_what_it_should_passes() {
    let told = told(right).await;
    for check in ["quiet", "told", "says", "sized", "one", "sound", "short"] {
        told.passes(check);
    }
    // The profile has no port of the sink, and no field of the name.
    assert_eq!(told.untested("counted"), ["the profile has no port of the sink `metrics`"]);
    assert_eq!(told.untested("unnamed"), ["port `history` (event) names no field `colour`"]);
    let ports: Vec<_> = told.ports.iter().map(|port| (port.port.as_str(), port.records)).collect();
    let each = |name| (name, 1);
    let names = ["logfile", "history", "alerts", "udp", "tcp", "otlp"];
    assert_eq!(ports, names.map(each));
    assert!(told.took < Duration::from_secs(5), "{:?}", told.took);
}

#[tokio::test]
async fn a_secret_is_found_in_any_coding() {
    let told = told(|call| {
        let mut records = right(call);
        let secret = base64(&format!("password={}", call.argument("password")));
        records.push(Record::Alert(format!(r#"{{"seen":"{secret}"}}"#)));
        records
    });
    let told = told.await;
    told.breaks("quiet", Leaked, "the marker «secret» stands in port `alerts` (alert) (base64)");
    let sinks = &told.check("quiet").evidence.as_ref().unwrap().sinks;
    assert_eq!((sinks[0].port.as_str(), sinks[0].tie.as_str()), ("alerts", "marker"));
    assert!(sinks[0].record.starts_with(r#"{"seen":""#), "{}", sinks[0].record);
    told.passes("sound");
}

#[tokio::test]
async fn a_cut_secret_is_one_too() {
    let told = told(|call| {
        let secret = call.argument("password");
        let mut records = right(call);
        records.push(Record::Log(format!(r#"{{"p":"{}..."}}"#, &secret[..secret.len() - 2])));
        records
    });
    told.await.breaks("quiet", Leaked, "(raw, only its beginning)");
}

#[tokio::test]
async fn what_is_wrong_or_missing_is_told() {
    let told = told(|call| {
        changed(call, |record| match record {
            Record::Log(text) => vec![Record::Log(text.replace(call.argument("note"), "[cut]"))],
            Record::Event(text) => vec![Record::Event(text.replace("completed", "failed"))],
            Record::Udp(text) => vec![Record::Udp(text.clone()), Record::Udp(text.clone())],
            other => vec![other.clone()],
        })
    });
    let told = told.await;
    told.breaks("told", Lost, "no record of this call in port `logfile` (log) holds");
    told.breaks("says", Altered, "`outcome` is \"failed\" in port `history` (event)");
    told.breaks("one", Added, "2 records of this call arrived in port `udp` (audit), not 1");
    told.passes("sized");
}

#[tokio::test]
async fn a_value_that_escapes_its_field_is_told() {
    let told = told(|call| {
        changed(call, |record| match record {
            Record::Tcp(text) => {
                let (wise, wild) = (escaped(call.argument("title")), call.argument("title"));
                vec![Record::Tcp(text.replace(&wise, wild))]
            }
            other => vec![other.clone()],
        })
    });
    told.await.breaks("sound", Added, "a part of it became `suser`");
}

#[tokio::test]
async fn a_long_field_is_told() {
    let told = told(|call| {
        changed(call, |record| match record {
            Record::Log(text) => {
                vec![Record::Log(text.replace("\"end\"", &format!("\"{}\"", "é".repeat(3_000))))]
            }
            other => vec![other.clone()],
        })
    });
    told.await.breaks("short", Altered, "`why` has 3000 characters in port `logfile` (log)");
}

#[tokio::test]
async fn nothing_is_said_of_a_port_that_shows_nothing_of_the_call() {
    let told = told(|call| {
        changed(call, |record| match record {
            Record::Alert(_) => vec![Record::Alert("{\"other\":1}".into())],
            Record::Tcp(_) => Vec::new(),
            other => vec![other.clone()],
        })
    });
    let told = told.await;
    told.passes("quiet");
    let unseen = told.untested("quiet");
    assert_eq!(
        unseen,
        [
            "no record of this call arrived in port `alerts` (alert)",
            "no record of this call arrived in port `tcp` (audit)"
        ]
    );
    told.breaks("one", Lost, "0 records of this call arrived in port `tcp` (audit), not 1");
    assert_eq!(told.check("sound").verdict, Verdict::Pass);
}

#[tokio::test]
async fn what_no_record_can_be_known_by_is_untested_and_not_lost() {
    let gateway = Gateway::start(|call| {
        changed(call, |record| match record {
            Record::Tcp(_) => vec![Record::Tcp("CEF:0|a|b|1|call|call|3|n=7".into())],
            other => vec![other.clone()],
        })
    });
    let told = support::run_untied(&gateway.await).await;
    told.passes("one");
    assert_eq!(
        told.untested("one"),
        ["no record in port `tcp` (audit) can be known as this call's: it tells a number"]
    );
}

fn base64(text: &str) -> String {
    use ::base64::Engine as _;
    ::base64::engine::general_purpose::STANDARD.encode(text)
}
