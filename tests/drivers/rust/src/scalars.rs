//! Every scalar type at its edges: what the driver writes equals the literal, and both read back as written.
use crate::checks::{check, same, Outcome};
use num_bigint::BigInt;
use scylla::client::session::Session;
use scylla::value::{CqlDate, CqlDecimal, CqlDuration, CqlTime, CqlTimestamp, CqlTimeuuid, CqlValue, CqlVarint};

const LARGE: &str = "10000000000000000000000000000000000000000";

fn varint(digits: &str) -> CqlValue {
    CqlValue::Varint(CqlVarint::from(digits.parse::<BigInt>().unwrap()))
}

fn decimal(digits: &str, scale: i32) -> CqlValue {
    let unscaled = digits.parse::<BigInt>().unwrap().to_signed_bytes_be();
    CqlValue::Decimal(CqlDecimal::from_signed_be_bytes_and_exponent(unscaled, scale))
}

fn day(since_epoch: i64) -> CqlValue {
    CqlValue::Date(CqlDate(((1_i64 << 31) + since_epoch) as u32))
}

fn duration(months: i32, days: i32, nanoseconds: i64) -> CqlValue {
    CqlValue::Duration(CqlDuration {
        months,
        days,
        nanoseconds,
    })
}

fn values() -> Vec<(&'static str, String, CqlValue)> {
    use CqlValue::*;
    let text = |value: &str| Text(value.to_string());
    let timeuuid = "50554d6e-29bb-11e5-b345-feff819cdc9f";
    let listed: Vec<(&'static str, &str, CqlValue)> = vec![
        ("ascii", "'plain ~'", Ascii("plain ~".into())),
        ("ascii", "''", Ascii("".into())),
        ("bigint", "-9223372036854775808", BigInt(i64::MIN)),
        ("bigint", "9223372036854775807", BigInt(i64::MAX)),
        ("blob", "0x00ff", Blob(vec![0, 255])),
        ("blob", "0x", Blob(vec![])),
        ("boolean", "true", Boolean(true)),
        ("boolean", "false", Boolean(false)),
        ("date", "'1969-07-20'", day(-165)),
        ("date", "'0001-01-01'", day(-719_162)),
        ("date", "'9999-12-31'", day(2_932_896)),
        ("decimal", "-123.4500", decimal("-1234500", 4)),
        ("decimal", "0.00000000000000000001", decimal("1", 20)),
        ("double", "1.7976931348623157E308", Double(f64::MAX)),
        ("double", "4.9E-324", Double(5e-324)),
        ("double", "-Infinity", Double(f64::NEG_INFINITY)),
        ("duration", "1y2mo3d4h5m6s7ns", duration(14, 3, 14_706_000_000_007)),
        ("duration", "-2mo1d1ns", duration(-2, -1, -1)),
        ("float", "3.4028235E38", Float(f32::MAX)),
        ("float", "1.4E-45", Float(1.4e-45)),
        ("float", "Infinity", Float(f32::INFINITY)),
        ("inet", "'127.0.0.1'", Inet("127.0.0.1".parse().unwrap())),
        ("inet", "'2001:db8::1'", Inet("2001:db8::1".parse().unwrap())),
        ("int", "-2147483648", Int(i32::MIN)),
        ("int", "2147483647", Int(i32::MAX)),
        ("smallint", "-32768", SmallInt(i16::MIN)),
        ("smallint", "32767", SmallInt(i16::MAX)),
        ("text", "'žluťoučký 🐎'", text("žluťoučký 🐎")),
        ("text", "''", text("")),
        ("time", "'00:00:00'", Time(CqlTime(0))),
        ("time", "'23:59:59.999999999'", Time(CqlTime(86_399_999_999_999))),
        ("timestamp", "0", Timestamp(CqlTimestamp(0))),
        ("timestamp", "-1", Timestamp(CqlTimestamp(-1))),
        ("timestamp", "-9223372036854775808", Timestamp(CqlTimestamp(i64::MIN))),
        (
            "timestamp",
            "'9999-12-31 23:59:59.999Z'",
            Timestamp(CqlTimestamp(253_402_300_799_999)),
        ),
        ("timeuuid", timeuuid, Timeuuid(timeuuid.parse::<CqlTimeuuid>().unwrap())),
        ("tinyint", "-128", TinyInt(i8::MIN)),
        ("tinyint", "127", TinyInt(i8::MAX)),
        ("uuid", "00000000-0000-0000-0000-000000000000", Uuid(uuid::Uuid::nil())),
        ("uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff", Uuid(uuid::Uuid::max())),
        ("varint", "0", varint("0")),
        ("varint", "128", varint("128")),
        ("varint", "-129", varint("-129")),
    ];
    let mut all: Vec<_> = listed
        .into_iter()
        .map(|(kind, literal, value)| (kind, literal.to_string(), value))
        .collect();
    all.push(("decimal", format!("{LARGE}.5"), decimal(&format!("{LARGE}5"), 1)));
    all.push(("varint", format!("-{LARGE}"), varint(&format!("-{LARGE}"))));
    all
}

pub async fn run(session: &Session) {
    for (kind, literal, value) in values() {
        check(
            "scalars",
            &format!("{kind} {literal}"),
            both(session, kind, &literal, value).await,
        );
    }
    check("scalars", "double NaN", not_a_number(session).await);
}

async fn both(session: &Session, kind: &str, literal: &str, value: CqlValue) -> Outcome {
    let column = format!("c_{kind}");
    session
        .query_unpaged(format!("INSERT INTO scalars (k, {column}) VALUES ('literal', {literal})"), ())
        .await?;
    let insert = session
        .prepare(format!("INSERT INTO scalars (k, {column}) VALUES (?, ?)"))
        .await?;
    session.execute_unpaged(&insert, ("bound", &value)).await?;
    let read = session.prepare(format!("SELECT {column} FROM scalars WHERE k = ?")).await?;
    for key in ["literal", "bound"] {
        let rows = session.execute_unpaged(&read, (key,)).await?.into_rows_result()?;
        same(value.clone(), rows.first_row::<(CqlValue,)>()?.0)?;
    }
    if kind == "duration" {
        return Ok(()); // has no order, nor a comparison
    }
    let equal = format!("SELECT k FROM scalars WHERE k = 'bound' AND {column} = {literal} ALLOW FILTERING");
    let rows = session.query_unpaged(equal, ()).await?.into_rows_result()?;
    same("bound".to_string(), rows.first_row::<(String,)>()?.0)
}

async fn not_a_number(session: &Session) -> Outcome {
    session
        .query_unpaged("INSERT INTO scalars (k, c_double) VALUES (?, ?)", ("bound", f64::NAN))
        .await?;
    let rows = session
        .query_unpaged("SELECT c_double FROM scalars WHERE k = 'bound'", ())
        .await?
        .into_rows_result()?;
    same(true, rows.first_row::<(f64,)>()?.0.is_nan())
}
