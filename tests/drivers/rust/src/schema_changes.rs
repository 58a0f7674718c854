//! Prepared statements while the schema changes: the driver prepares them again, and reads and writes by the new definition.
use crate::builder;
use crate::checks::{check, same, Outcome};
use scylla::client::session::Session;
use scylla::statement::prepared::PreparedStatement;
use scylla::value::{CqlValue, Row};

struct SchemaChanges {
    session: Session,
    another: Session,
}

async fn open() -> Outcome<Session> {
    Ok(builder().use_keyspace("clients", false).build().await?)
}

pub async fn run() -> Outcome {
    let changes = SchemaChanges { session: open().await?, another: open().await? };
    changes.execute("CREATE TYPE changing (a int)").await?;
    changes.execute("CREATE TABLE changes (k int, c int, z text, PRIMARY KEY (k, c))").await?;
    changes.execute("CREATE TABLE changed_types (k int PRIMARY KEY, x frozen<changing>)").await?;
    check("schema changes", "v4, columns", changes.columns(false).await);
    check("schema changes", "v4, columns, with cached result metadata", changes.columns(true).await);
    check("schema changes", "v4, columns of another", changes.columns_of_another().await);
    check("schema changes", "v4, fields", changes.fields().await);
    check("schema changes", "v4, written fields", changes.written_fields().await);
    check("schema changes", "v4, created again", changes.created_again().await);
    Ok(())
}

/// Names and values of the first row.
async fn read(session: &Session, statement: &PreparedStatement, values: &[i32]) -> Outcome<Vec<(String, Option<CqlValue>)>> {
    let rows = session.execute_unpaged(statement, values).await?.into_rows_result()?;
    let names: Vec<String> = rows.column_specs().iter().map(|column| column.name().to_string()).collect();
    Ok(names.into_iter().zip(rows.first_row::<Row>()?.columns).collect())
}

fn int(name: &str, value: i32) -> (String, Option<CqlValue>) {
    (name.to_string(), Some(CqlValue::Int(value)))
}

fn text(name: &str, value: &str) -> (String, Option<CqlValue>) {
    (name.to_string(), Some(CqlValue::Text(value.to_string())))
}

fn changing(fields: Vec<(String, Option<CqlValue>)>) -> CqlValue {
    CqlValue::UserDefinedType { keyspace: "clients".to_string(), name: "changing".to_string(), fields }
}

impl SchemaChanges {
    async fn execute(&self, statement: &str) -> Outcome {
        self.session.query_unpaged(statement, ()).await?;
        Ok(())
    }

    async fn columns(&self, cached: bool) -> Outcome {
        self.execute("DROP TABLE changes").await?;
        self.execute("CREATE TABLE changes (k int, c int, z text, PRIMARY KEY (k, c))").await?;
        self.execute("INSERT INTO changes (k, c, z) VALUES (1, 2, 'z')").await?;
        let mut statement = self.session.prepare("SELECT * FROM changes WHERE k = ?").await?;
        statement.set_use_cached_result_metadata(cached);
        same(vec![int("k", 1), int("c", 2), text("z", "z")], read(&self.session, &statement, &[1]).await?)?;
        self.execute("ALTER TABLE changes ADD a text").await?;
        self.execute("UPDATE changes SET a = 'a' WHERE k = 1 AND c = 2").await?;
        for _ in 0..3 {
            let expected = vec![int("k", 1), int("c", 2), text("a", "a"), text("z", "z")];
            same(expected, read(&self.session, &statement, &[1]).await?)?;
        }
        self.execute("ALTER TABLE changes DROP z").await?;
        same(vec![int("k", 1), int("c", 2), text("a", "a")], read(&self.session, &statement, &[1]).await?)
    }

    /// Another client has prepared the statement again before.
    async fn columns_of_another(&self) -> Outcome {
        let query = "SELECT * FROM changes WHERE k = ? AND c = ?";
        let statement = self.session.prepare(query).await?;
        read(&self.session, &statement, &[1, 2]).await?;
        self.execute("ALTER TABLE changes ADD a0 int").await?;
        self.execute("UPDATE changes SET a0 = 7 WHERE k = 1 AND c = 2").await?;
        let expected = vec![int("k", 1), int("c", 2), text("a", "a"), int("a0", 7)];
        let fresh = self.another.prepare(query).await?;
        same(expected.clone(), read(&self.another, &fresh, &[1, 2]).await?)?;
        same(expected, read(&self.session, &statement, &[1, 2]).await?)
    }

    async fn fields(&self) -> Outcome {
        self.execute("INSERT INTO changed_types (k, x) VALUES (1, {a: 5})").await?;
        let statement = self.session.prepare("SELECT x FROM changed_types WHERE k = ?").await?;
        let found = |fields| vec![("x".to_string(), Some(changing(fields)))];
        same(found(vec![int("a", 5)]), read(&self.session, &statement, &[1]).await?)?;
        self.execute("ALTER TYPE changing ADD b text").await?;
        self.execute("INSERT INTO changed_types (k, x) VALUES (1, {a: 5, b: 'new'})").await?;
        same(found(vec![int("a", 5), text("b", "new")]), read(&self.session, &statement, &[1]).await?)?;
        self.execute("ALTER TYPE changing RENAME b TO bb").await?;
        same(found(vec![int("a", 5), text("bb", "new")]), read(&self.session, &statement, &[1]).await?)?;
        self.execute("ALTER TYPE changing RENAME bb TO b").await
    }

    async fn written_fields(&self) -> Outcome {
        let insert = "INSERT INTO changed_types (k, x) VALUES (?, ?)";
        let before = self.session.prepare(insert).await?;
        self.session.execute_unpaged(&before, (2, changing(vec![int("a", 5)]))).await?;
        self.execute("ALTER TYPE changing ADD c text").await?;
        let again = self.session.prepare(insert).await?;
        let value = changing(vec![int("a", 5), text("b", "b"), text("c", "c")]);
        self.session.execute_unpaged(&again, (2, value.clone())).await?;
        let select = self.session.prepare("SELECT x FROM changed_types WHERE k = ?").await?;
        same(vec![("x".to_string(), Some(value))], read(&self.session, &select, &[2]).await?)
    }

    async fn created_again(&self) -> Outcome {
        let insert = "INSERT INTO changes (k, c) VALUES (?, ?)";
        let before = self.session.prepare(insert).await?;
        self.session.execute_unpaged(&before, (1, 2)).await?;
        self.execute("DROP TABLE changes").await?;
        self.execute("CREATE TABLE changes (k int PRIMARY KEY, c bigint)").await?;
        let again = self.session.prepare(insert).await?;
        self.session.execute_unpaged(&again, (1, 1i64 << 40)).await?;
        let select = self.session.prepare("SELECT c FROM changes WHERE k = ?").await?;
        same(vec![("c".to_string(), Some(CqlValue::BigInt(1 << 40)))], read(&self.session, &select, &[1]).await?)
    }
}
