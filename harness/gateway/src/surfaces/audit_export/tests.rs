use super::*;
use crate::surfaces::record::tests::odd;

fn written(format: AuditFormat) -> String {
    line(&odd(), format, &Steps::RIGHT)
}

#[test]
fn cef_escapes_pipes_in_the_header_and_equals_signs_in_the_extension() {
    assert_eq!(
        written(AuditFormat::Cef),
        format!(
            "CEF:0|birdstrike|birdstrike-gateway|{VERSION}|call_failed|\
             Call of a\\|b=c]\"\\\\\u{2409}\u{240a}d|6|rt=1700000000123 externalId=c-1 \
             cs1Label=trace_id cs1=0af7651916cd43dd8448eb211c80319c \
             cs2Label=method cs2=tools/call act=a|b\\=c]\"\\\\\u{2409}\\nd \
             destinationServiceName=main cs3Label=route cs3=flat suser=al ice outcome=failed \
             cn1Label=code cn1=-7 reason=rpc_error in=99 cn2Label=elapsed_ms cn2=42 \
             cs4Label=arguments cs4={{\"a\":\"é|\\=\"}} cs5Label=arguments_sha256 cs5=00ff"
        )
    );
}

#[test]
fn leef_escapes_what_ends_an_attribute_or_a_line() {
    assert_eq!(
        written(AuditFormat::Leef),
        format!(
            "LEEF:2.0|birdstrike|birdstrike-gateway|{VERSION}|call_failed|x09|\
             devTime=1700000000123\tsev=6\tcall_id=c-1\ttrace_id=0af7651916cd43dd8448eb211c80319c\
             \tmethod=tools/call\ttool=a|b=c]\"\\\\\\t\\nd\tupstream=main\troute=flat\tusrName=al ice\toutcome=failed\
             \tcode=-7\terror_type=rpc_error\tbytes=99\telapsed_ms=42\
             \targuments={{\"a\":\"é|=\"}}\targuments_sha256=00ff"
        )
    );
}

#[test]
fn a_json_line_is_json_and_one_line() {
    let line = written(AuditFormat::Jsonl);
    assert!(!line.contains('\n'));
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["time"], "2023-11-14T22:13:20.123Z");
    assert_eq!((&value["type"], &value["code"]), (&"call_failed".into(), &(-7).into()));
    assert_eq!(value["tool"], odd().tool);
    assert_eq!(value["arguments"]["a"], "é|=");
}

#[test]
fn structured_data_escapes_quote_backslash_and_bracket() {
    assert_eq!(
        written(AuditFormat::Syslog),
        "<108>1 2023-11-14T22:13:20.165Z - birdstrike-gateway - call_failed [call@32473 \
         call_id=\"c-1\" trace_id=\"0af7651916cd43dd8448eb211c80319c\" \
         method=\"tools/call\" tool=\"a|b=c\\]\\\"\\\\\u{2409}\u{240a}d\" upstream=\"main\" route=\"flat\" \
         caller=\"al ice\" outcome=\"failed\" code=\"-7\" error_type=\"rpc_error\" bytes=\"99\" \
         elapsed_ms=\"42\" arguments=\"{\\\"a\\\":\\\"é|=\\\"}\" arguments_sha256=\"00ff\"] \
         Call failed"
    );
}

#[test]
fn other_formats_travel_as_the_message_of_a_syslog_record() {
    let message = message(&odd(), AuditFormat::Cef, &Steps::RIGHT);
    let header = "<108>1 2023-11-14T22:13:20.165Z - birdstrike-gateway - call_failed - CEF:0|";
    assert!(message.starts_with(header), "{message}");
    let syslog = super::message(&odd(), AuditFormat::Syslog, &Steps::RIGHT);
    assert_eq!(syslog.matches("<108>").count(), 1);
}

#[test]
fn a_frame_counts_bytes_and_not_characters() {
    assert_eq!(frame("é"), "2 é".as_bytes());
}

#[test]
fn no_control_character_is_left() {
    let all: String = (0..0xA0).filter_map(char::from_u32).chain(['\u{2028}']).collect();
    for step in [header, cef_value, leef_value, sd_value] {
        assert!(!step(&all).contains(|c: char| c.is_control() || c == '\u{2028}'));
    }
}
