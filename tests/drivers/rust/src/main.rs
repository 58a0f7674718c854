//! The Rust driver `scylla`, unmodified. See harness.py for what it is told and what it prints.
mod checks;
mod scalars;
mod schema_changes;
mod secured;

use checks::{check, eventually, not_offered, same, Outcome};
use futures::TryStreamExt;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::client::Compression;
use scylla::cluster::metadata::ColumnKind;
use scylla::deserialize::row::DeserializeRow;
use scylla::errors::{DbError, ExecutionError, PrepareError, RequestAttemptError};
use scylla::response::query_result::QueryResult;
use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::{Consistency, SerialConsistency, Statement};
use scylla::value::{Counter, CqlValue, Row, Unset};
use scylla::{DeserializeValue, SerializeValue};
use std::collections::{BTreeSet, HashMap};

pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

pub fn builder() -> SessionBuilder {
    SessionBuilder::new().known_node(format!("{}:{}", variable("SIBYL_HOST"), variable("SIBYL_PORT")))
}

/// The server's error that a request failed with.
pub fn database_error(result: Result<QueryResult, ExecutionError>) -> Outcome<DbError> {
    match result {
        Err(ExecutionError::LastAttemptError(RequestAttemptError::DbError(error, _))) => Ok(error),
        Err(ExecutionError::PrepareError(PrepareError::AllAttemptsFailed {
            first_attempt: RequestAttemptError::DbError(error, _),
        })) => Ok(error),
        Err(other) => Err(other.into()),
        Ok(_) => Err("nothing failed".into()),
    }
}

async fn one<R>(session: &Session, statement: &str) -> Outcome<R>
where
    R: for<'a> DeserializeRow<'a, 'a>,
{
    let rows = session.query_unpaged(statement, ()).await?.into_rows_result()?;
    Ok(rows.first_row::<R>()?)
}

#[tokio::main]
async fn main() -> Outcome {
    checks::version("1.9.0");
    if variable("SIBYL_MODE") == "secured" {
        secured::run().await;
        return Ok(());
    }
    check("connect", "without a keyspace", connect().await);
    make_schema().await?;
    let session = builder().use_keyspace("clients", false).build().await?;
    scalars::run(&session).await;
    check("metadata", "keyspace, table, view, type", metadata(&session).await);
    check("token map", "ring and replicas", token_map(&session).await);
    check("routing", "composite and single keys", routing(&session).await);
    check("prepared", "markers by position and name", prepared(&session).await);
    check("paging", "pages of 7, and a paging state", paging(&session).await);
    check("collections", "nested, frozen, empty", collections(&session).await);
    check("user types", "fields, nested, tuples", user_types(&session).await);
    check("vector", "three floats", vector(&session).await);
    check("absent values", "null, unset, empty", absent(&session).await);
    check("batches", "logged and unlogged", batches(&session).await);
    check("counters", "a batch of three", counters(&session).await);
    check("conditions", "insert, update, batch", conditions(&session).await);
    check("errors", "variants and fields", errors(&session).await);
    not_offered("events", "this driver does not follow schema events");
    check("tracing", "session and events", tracing(&session).await);
    check("lz4", "v4", compressed(Compression::Lz4).await);
    check("snappy", "v4", compressed(Compression::Snappy).await);
    not_offered("v5", "this driver speaks version 4");
    schema_changes::run().await?;
    check("restart", "within 60 s", restart(&session).await);
    Ok(())
}

async fn make_schema() -> Outcome {
    let admin = builder().build().await?;
    for statement in std::fs::read_to_string(variable("SIBYL_SCHEMA"))?
        .split(";\n")
        .filter(|s| !s.is_empty())
    {
        admin.query_unpaged(statement, ()).await?;
    }
    Ok(())
}

async fn connect() -> Outcome {
    let session = builder().build().await?;
    let state = session.get_cluster_state();
    let (name, _): (String, String) = one(&session, "SELECT cluster_name, release_version FROM system.local").await?;
    same(name.as_str(), state.cluster_name())?;
    same(1, state.get_nodes_info().len())?;
    same(Some("datacenter1".to_string()), state.get_nodes_info()[0].datacenter.clone())
}

async fn metadata(session: &Session) -> Outcome {
    let state = session.get_cluster_state();
    let keyspace = state.get_keyspace("clients").ok_or("no keyspace")?;
    let table = &keyspace.tables["measurements"];
    same(vec!["site", "day"], table.partition_key.iter().map(String::as_str).collect())?;
    same(
        vec!["at", "sensor"],
        table.clustering_key.iter().map(String::as_str).collect(),
    )?;
    same(true, matches!(table.columns["note"].kind, ColumnKind::Static))?;
    same(7, table.columns.len())?;
    let view = &keyspace.views["by_sensor"];
    same(
        ("measurements", vec!["sensor".to_string()]),
        (view.base_table_name.as_str(), view.view_metadata.partition_key.clone()),
    )?;
    let fields = keyspace.user_defined_types["address"]
        .field_types
        .iter()
        .map(|(name, _)| name.to_string())
        .collect();
    same(vec!["street".to_string(), "zip".to_string(), "phones".to_string()], fields)
}

async fn token_map(session: &Session) -> Outcome {
    let state = session.get_cluster_state();
    same(false, state.replica_locator().ring().is_empty())?;
    let endpoints = state.get_endpoints("clients", "plain", &(7,))?;
    same(
        vec![state.get_nodes_info()[0].host_id],
        endpoints.iter().map(|(node, _)| node.host_id).collect(),
    )
}

async fn routing(session: &Session) -> Outcome {
    let insert = session.prepare("INSERT INTO routes (v, b, a) VALUES (?, ?, ?)").await?;
    let read = session
        .prepare("SELECT token(a, b) FROM routes WHERE a = ? AND b = ?")
        .await?;
    same(true, insert.is_token_aware())?;
    for a in [7, -1, i32::MAX] {
        session.execute_unpaged(&insert, (1, "x", a)).await?;
        let rows = session.execute_unpaged(&read, (a, "x")).await?.into_rows_result()?;
        let token = insert.calculate_token(&(1, "x", a))?.ok_or("no token")?;
        same(rows.first_row::<(i64,)>()?.0, token.value())?;
        same(
            token,
            session.get_cluster_state().compute_token("clients", "routes", &(a, "x"))?,
        )?;
    }
    let insert = session.prepare("INSERT INTO routes_one (k, v) VALUES (?, ?)").await?;
    for key in ["a", "žluťoučký", "a key of more than sixteen bytes"] {
        session.execute_unpaged(&insert, (key, 1)).await?;
        let (token,): (i64,) = one(session, &format!("SELECT token(k) FROM routes_one WHERE k = '{key}'")).await?;
        same(token, insert.calculate_token(&(key, 1))?.ok_or("no token")?.value())?;
    }
    Ok(())
}

async fn prepared(session: &Session) -> Outcome {
    let insert = session.prepare("INSERT INTO plain (k, a, b) VALUES (:k, :a, :b)").await?;
    let names: Vec<_> = insert
        .get_variable_col_specs()
        .iter()
        .map(|column| column.name().to_string())
        .collect();
    same(vec!["k".to_string(), "a".into(), "b".into()], names)?;
    same(0, insert.get_variable_pk_indexes()[0].index)?;
    let named = HashMap::from([
        ("a", CqlValue::Int(2)),
        ("k", CqlValue::Int(1)),
        ("b", CqlValue::Text("three".into())),
    ]);
    session.execute_unpaged(&insert, named).await?;
    let read = session.prepare("SELECT k, a, b FROM plain WHERE k = ?").await?;
    same(3, read.get_current_result_set_col_specs().get().len())?;
    let rows = session.execute_unpaged(&read, (1,)).await?.into_rows_result()?;
    same((1, 2, "three".to_string()), rows.first_row::<(i32, i32, String)>()?)?;
    session.query_unpaged("ALTER TABLE plain ADD extra int", ()).await?;
    let rows = session.execute_unpaged(&read, (1,)).await?.into_rows_result()?;
    same((1, 2, "three".to_string()), rows.first_row::<(i32, i32, String)>()?)?;
    session.query_unpaged("ALTER TABLE plain DROP extra", ()).await?;
    Ok(())
}

async fn paging(session: &Session) -> Outcome {
    let insert = session.prepare("INSERT INTO pages (p, c, v) VALUES (1, ?, 'v')").await?;
    for c in 0..50 {
        session.execute_unpaged(&insert, (c,)).await?;
    }
    let mut read = session.prepare("SELECT c FROM pages WHERE p = ?").await?;
    read.set_page_size(7);
    let stream = session.execute_iter(read.clone(), (1,)).await?.rows_stream::<(i32,)>()?;
    same((0..50).map(|c| (c,)).collect::<Vec<_>>(), stream.try_collect().await?)?;
    let (first, state) = session.execute_single_page(&read, (1,), PagingState::start()).await?;
    same(7, first.into_rows_result()?.rows_num())?;
    let PagingStateResponse::HasMorePages { state } = state else {
        return Err("no more pages".into());
    };
    read.set_page_size(100);
    let (rest, state) = session.execute_single_page(&read, (1,), state).await?;
    same(true, matches!(state, PagingStateResponse::NoMorePages))?;
    let rest = rest.into_rows_result()?;
    let numbers: Vec<i32> = rest
        .rows::<(i32,)>()?
        .map(|row| row.map(|(c,)| c))
        .collect::<Result<_, _>>()?;
    same((7..50).collect::<Vec<_>>(), numbers)
}

async fn collections(session: &Session) -> Outcome {
    type Deep = HashMap<String, Vec<BTreeSet<i32>>>;
    type Read = (
        Option<Vec<i32>>,
        Option<BTreeSet<String>>,
        Option<HashMap<String, i32>>,
        Option<Vec<HashMap<i32, String>>>,
        Option<Deep>,
    );
    let insert = session
        .prepare("INSERT INTO collections (k, l, s, m, fl, deep) VALUES (?, ?, ?, ?, ?, ?)")
        .await?;
    let list = vec![3, 1, 3];
    let set = BTreeSet::from(["".to_string(), "a".into(), "b".into()]);
    let map = HashMap::from([("x".to_string(), 1), ("y".into(), i32::MIN)]);
    let frozen = vec![
        HashMap::from([(1, "a".to_string())]),
        HashMap::new(),
        HashMap::from([(2, "b".into())]),
    ];
    let deep: Deep = HashMap::from([("k".to_string(), vec![BTreeSet::from([1, 2]), BTreeSet::new()])]);
    session
        .execute_unpaged(&insert, (1, &list, &set, &map, &frozen, &deep))
        .await?;
    let read = "SELECT l, s, m, fl, deep FROM collections WHERE k = ";
    let found: Read = one(session, &format!("{read}1")).await?;
    same((Some(list), Some(set), Some(map), Some(frozen), Some(deep)), found)?;
    let nothing = (
        2,
        Vec::<i32>::new(),
        BTreeSet::<String>::new(),
        HashMap::<String, i32>::new(),
        Vec::<HashMap<i32, String>>::new(),
        Deep::new(),
    );
    session.execute_unpaged(&insert, nothing).await?;
    let found: Read = one(session, &format!("{read}2")).await?;
    same((None, None, None, Some(vec![]), None), found)?;
    session
        .query_unpaged(
            "UPDATE collections SET l = l + [9], m['z'] = 5, s = s - {'a'} WHERE k = 1",
            (),
        )
        .await?;
    let found: Read = one(session, &format!("{read}1")).await?;
    same(Some(vec![3, 1, 3, 9]), found.0)?;
    same(Some(BTreeSet::from(["".to_string(), "b".into()])), found.1)?;
    same(Some(5), found.2.unwrap_or_default().get("z").copied())
}

#[derive(Clone, Debug, PartialEq, SerializeValue, DeserializeValue)]
struct Address {
    street: Option<String>,
    zip: Option<i32>,
    phones: Option<BTreeSet<String>>,
}

async fn user_types(session: &Session) -> Outcome {
    let home = Address {
        street: Some("Elm 1".into()),
        zip: Some(12345),
        phones: Some(BTreeSet::from(["+1".into(), "+2".into()])),
    };
    let partial = Address {
        street: Some("x".into()),
        zip: None,
        phones: None,
    };
    let pair = (Some(1), Some("x".to_string()), None::<f64>);
    let insert = session
        .prepare("INSERT INTO people (name, home, others, pair) VALUES (?, ?, ?, ?)")
        .await?;
    session
        .execute_unpaged(&insert, ("Ann", &home, vec![partial.clone(), home.clone()], &pair))
        .await?;
    type Read = (Address, Vec<Address>, (Option<i32>, Option<String>, Option<f64>), i32);
    let found: Read = one(session, "SELECT home, others, pair, home.zip FROM people WHERE name = 'Ann'").await?;
    same((home.clone(), vec![partial, home], pair, 12345), found)
}

async fn vector(session: &Session) -> Outcome {
    let insert = session.prepare("INSERT INTO vectors (k, v) VALUES (?, ?)").await?;
    session.execute_unpaged(&insert, (1, vec![1.0_f32, 2.5, -3.0])).await?;
    same(
        (vec![1.0_f32, 2.5, -3.0],),
        one(session, "SELECT v FROM vectors WHERE k = 1").await?,
    )?;
    same(
        (1,),
        one(
            session,
            "SELECT k FROM vectors WHERE k = 1 AND v = [1, 2.5, -3] ALLOW FILTERING",
        )
        .await?,
    )
}

async fn absent(session: &Session) -> Outcome {
    type Read = (Option<i32>, Option<String>);
    let insert = session.prepare("INSERT INTO plain (k, a, b) VALUES (?, ?, ?)").await?;
    session.execute_unpaged(&insert, (10, 1, "")).await?;
    session.execute_unpaged(&insert, (10, Unset, Unset)).await?;
    same(
        (Some(1), Some(String::new())),
        one::<Read>(session, "SELECT a, b FROM plain WHERE k = 10").await?,
    )?;
    session.execute_unpaged(&insert, (10, None::<i32>, None::<String>)).await?;
    same(
        (None, None),
        one::<Read>(session, "SELECT a, b FROM plain WHERE k = 10").await?,
    )
}

async fn batches(session: &Session) -> Outcome {
    let insert = session.prepare("INSERT INTO plain (k, a) VALUES (?, ?)").await?;
    for (kind, base) in [(BatchType::Logged, 100), (BatchType::Unlogged, 200)] {
        let mut batch = Batch::new(kind);
        batch.append_statement(insert.clone());
        batch.append_statement(insert.clone());
        batch.append_statement("INSERT INTO plain (k, b) VALUES (?, ?)");
        batch.append_statement("DELETE FROM plain WHERE k = 1000");
        session
            .batch(&batch, ((base, 1), (base + 1, 2), (base + 2, "text"), ()))
            .await?;
        let read = "SELECT k FROM plain WHERE k IN (?, ?, ?)";
        let rows = session
            .query_unpaged(read, (base, base + 1, base + 2))
            .await?
            .into_rows_result()?;
        same(3, rows.rows_num())?;
    }
    Ok(())
}

async fn counters(session: &Session) -> Outcome {
    let add = session.prepare("UPDATE hits SET n = n + ? WHERE k = ?").await?;
    let mut batch = Batch::new(BatchType::Counter);
    (0..3).for_each(|_| batch.append_statement(add.clone()));
    session
        .batch(&batch, ((Counter(5), 1), (Counter(-2), 1), (Counter(10), 1)))
        .await?;
    same((Counter(13),), one(session, "SELECT n FROM hits WHERE k = 1").await?)?;
    let mut logged = Batch::new(BatchType::Logged);
    logged.append_statement(add);
    same(
        DbError::Invalid,
        database_error(session.batch(&logged, ((Counter(1), 1),)).await)?,
    )
}

async fn conditions(session: &Session) -> Outcome {
    let insert = session
        .prepare("INSERT INTO accounts (k, c, v) VALUES (?, ?, ?) IF NOT EXISTS")
        .await?;
    let mut update = session
        .prepare("UPDATE accounts SET v = ? WHERE k = ? AND c = ? IF v = ?")
        .await?;
    update.set_serial_consistency(Some(SerialConsistency::LocalSerial));
    fn first(result: QueryResult) -> Outcome<Row> {
        Ok(result.into_rows_result()?.first_row::<Row>()?)
    }
    let applied = Some(CqlValue::Boolean(true));
    let refused = Some(CqlValue::Boolean(false));
    same(
        &applied,
        &first(session.execute_unpaged(&insert, (1, 1, 7)).await?)?.columns[0],
    )?;
    let row = first(session.execute_unpaged(&insert, (1, 1, 8)).await?)?;
    same(
        vec![
            refused.clone(),
            Some(CqlValue::Int(1)),
            Some(CqlValue::Int(1)),
            Some(CqlValue::Int(7)),
            None,
        ],
        row.columns,
    )?;
    same(
        &applied,
        &first(session.execute_unpaged(&update, (9, 1, 1, 7)).await?)?.columns[0],
    )?;
    let row = first(session.execute_unpaged(&update, (9, 1, 1, 7)).await?)?;
    same(vec![refused.clone(), Some(CqlValue::Int(9))], row.columns)?;
    let mut batch = Batch::new(BatchType::Logged);
    batch.append_statement(update);
    batch.append_statement(insert);
    same(
        &applied,
        &first(session.batch(&batch, ((10, 1, 1, 9), (1, 2, 2))).await?)?.columns[0],
    )?;
    same(
        &refused,
        &first(session.batch(&batch, ((10, 1, 1, 9), (1, 2, 2))).await?)?.columns[0],
    )?;
    let mut serial = Statement::new("SELECT v FROM accounts WHERE k = 1 AND c = 1");
    serial.set_consistency(Consistency::Serial);
    same(
        (10,),
        session
            .query_unpaged(serial, ())
            .await?
            .into_rows_result()?
            .first_row::<(i32,)>()?,
    )
}

async fn errors(session: &Session) -> Outcome {
    same(
        DbError::SyntaxError,
        database_error(session.query_unpaged("SELEC * FROM plain", ()).await)?,
    )?;
    same(
        DbError::Invalid,
        database_error(session.query_unpaged("SELECT nope FROM plain", ()).await)?,
    )?;
    let exists = DbError::AlreadyExists {
        keyspace: "clients".into(),
        table: "plain".into(),
    };
    same(
        exists,
        database_error(session.query_unpaged("CREATE TABLE plain (k int PRIMARY KEY)", ()).await)?,
    )?;
    let unknown = "CREATE KEYSPACE x WITH replication = {'class': 'NoSuchStrategy'}";
    same(
        DbError::ConfigError,
        database_error(session.query_unpaged(unknown, ()).await)?,
    )?;
    same(
        DbError::Invalid,
        database_error(session.query_unpaged("SELECT * FROM plain WHERE k = ?", (None::<i32>,)).await)?,
    )?;
    let counted = session.query_unpaged("SELECT count(*) FROM plain", ()).await?;
    let warned = counted
        .warnings()
        .any(|text| text.contains("Aggregation query used without partition key"));
    same(true, warned)
}

async fn tracing(session: &Session) -> Outcome {
    let mut statement = Statement::new("SELECT * FROM plain WHERE k = 10");
    statement.set_tracing(true);
    let id = session.query_unpaged(statement, ()).await?.tracing_id().ok_or("no trace")?;
    let trace = session.get_tracing_info(&id).await?;
    same(Some("Execute CQL3 query".to_string()), trace.request)?;
    same(
        Some("SELECT * FROM plain WHERE k = 10"),
        trace.parameters.as_ref().and_then(|all| all.get("query")).map(String::as_str),
    )?;
    same(true, trace.duration > Some(0) && !trace.events.is_empty())
}

async fn compressed(algorithm: Compression) -> Outcome {
    let session = builder()
        .use_keyspace("clients", false)
        .compression(Some(algorithm))
        .build()
        .await?;
    let large = "abcdefgh".repeat(50_000);
    session
        .query_unpaged("INSERT INTO plain (k, b) VALUES (?, ?)", (20, &large))
        .await?;
    same((large,), one(&session, "SELECT b FROM plain WHERE k = 20").await?)
}

async fn restart(session: &Session) -> Outcome {
    let read = session.prepare("SELECT a FROM plain WHERE k = ?").await?;
    session.query_unpaged("INSERT INTO plain (k, a) VALUES (300, 42)", ()).await?;
    if !checks::restart() {
        not_offered("re-prepared", "the server is not ours to restart");
        return Ok(());
    }
    eventually(60, || async {
        same((42,), one(session, "SELECT a FROM plain WHERE k = 300").await?)
    })
    .await?;
    let rows = session.execute_unpaged(&read, (300,)).await?.into_rows_result()?;
    check("re-prepared", "the same statement", same(42, rows.first_row::<(i32,)>()?.0));
    Ok(())
}
