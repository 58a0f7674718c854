//! Login and TLS.
use crate::checks::{check, same, Outcome};
use crate::{builder, database_error, variable};
use openssl::ssl::{SslContext, SslContextBuilder, SslMethod, SslVerifyMode};
use scylla::client::session::Session;
use scylla::errors::{DbError, NewSessionError};

fn context(trusting: bool) -> Outcome<SslContext> {
    let mut context = SslContextBuilder::new(SslMethod::tls())?;
    context.set_verify(SslVerifyMode::PEER);
    if trusting {
        context.set_ca_file(variable("SIBYL_CA"))?;
    }
    Ok(context.build())
}

async fn open(user: &str, password: &str, trusting: bool) -> Outcome<Result<Session, NewSessionError>> {
    Ok(builder()
        .tls_context(Some(context(trusting)?))
        .user(user, password)
        .build()
        .await)
}

pub async fn run() {
    let (user, password) = (variable("SIBYL_USER"), variable("SIBYL_PASSWORD"));
    check("tls", "the certificate is checked", tls(&user, &password).await);
    check(
        "login",
        "a role of its own, what it may and may not",
        login(&user, &password).await,
    );
    check("login", "a wrong password", wrong_password(&user).await);
}

async fn tls(user: &str, password: &str) -> Outcome {
    let session = open(user, password, true).await??;
    let rows = session
        .query_unpaged("SELECT key FROM system.local", ())
        .await?
        .into_rows_result()?;
    same("local".to_string(), rows.first_row::<(String,)>()?.0)?;
    let refused = open(user, password, false)
        .await?
        .err()
        .ok_or("a stranger's certificate was taken")?;
    same(true, refused.to_string().contains("certificate verify failed"))
}

async fn login(user: &str, password: &str) -> Outcome {
    let session = open(user, password, true).await??;
    for statement in [
        "CREATE KEYSPACE secrets WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE secrets.t (k int PRIMARY KEY)",
        "CREATE ROLE reader WITH PASSWORD = 'paper' AND LOGIN = true",
        "GRANT SELECT ON secrets.t TO reader",
    ] {
        session.query_unpaged(statement, ()).await?;
    }
    let reader = open("reader", "paper", true).await??;
    reader.query_unpaged("SELECT * FROM secrets.t", ()).await?;
    let refused = database_error(reader.query_unpaged("INSERT INTO secrets.t (k) VALUES (1)", ()).await)?;
    same(DbError::Unauthorized, refused)
}

async fn wrong_password(user: &str) -> Outcome {
    let refused = open(user, "wrong", true).await?.err().ok_or("a wrong password was taken")?;
    same(true, refused.to_string().contains("and/or password are incorrect"))
}
