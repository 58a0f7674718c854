import static java.util.Arrays.asList;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.cql.ColumnDefinition;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.data.UdtValue;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import java.util.ArrayList;
import java.util.List;

/** Prepared statements while the schema changes: the driver prepares them again, and reads and writes by the new definition. */
final class SchemaChanges {
  private final CqlSession session;
  private final CqlSession another;

  private SchemaChanges(CqlSession session, CqlSession another) {
    this.session = session;
    this.another = another;
  }

  static void run() {
    for (String version : asList("V3", "V4", "V5")) {
      try (CqlSession session = open(version); CqlSession another = open(version)) {
        SchemaChanges changes = new SchemaChanges(session, another);
        session.execute("CREATE TYPE changing (a int)");
        session.execute("CREATE TABLE changes (k int, c int, z text, PRIMARY KEY (k, c))");
        session.execute("CREATE TABLE changed_types (k int PRIMARY KEY, x frozen<changing>)");
        Checks.check("schema changes", version + ", columns", changes::columns);
        Checks.check("schema changes", version + ", columns of another", changes::columnsOfAnother);
        Checks.check("schema changes", version + ", fields", changes::fields);
        Checks.check("schema changes", version + ", written fields", changes::writtenFields);
        Checks.check("schema changes", version + ", created again", changes::createdAgain);
        for (String what : asList("TABLE changes", "TABLE changed_types", "TYPE changing")) session.execute("DROP " + what);
      }
    }
  }

  private static CqlSession open(String version) {
    return Client.open("clients", Client.options().withString(DefaultDriverOption.PROTOCOL_VERSION, version));
  }

  private static String text(Row row) {
    List<String> found = new ArrayList<>();
    for (ColumnDefinition column : row.getColumnDefinitions())
      found.add(column.getName().asInternal() + "=" + row.getObject(column.getName()));
    return String.join(" ", found);
  }

  private void columns() {
    session.execute("INSERT INTO changes (k, c, z) VALUES (1, 2, 'z')");
    PreparedStatement read = session.prepare("SELECT * FROM changes WHERE k = ?");
    Checks.same("k=1 c=2 z=z", text(session.execute(read.bind(1)).one()));
    session.execute("ALTER TABLE changes ADD a text");
    session.execute("UPDATE changes SET a = 'a' WHERE k = 1 AND c = 2");
    for (int i = 0; i < 3; i++) Checks.same("k=1 c=2 a=a z=z", text(session.execute(read.bind(1)).one()));
    session.execute("ALTER TABLE changes DROP z");
    Checks.same("k=1 c=2 a=a", text(session.execute(read.bind(1)).one()));
  }

  /** Another client has prepared the statement again before. */
  private void columnsOfAnother() {
    String statement = "SELECT * FROM changes WHERE k = ? AND c = ?";
    PreparedStatement read = session.prepare(statement);
    session.execute(read.bind(1, 2));
    session.execute("ALTER TABLE changes ADD a0 int");
    session.execute("UPDATE changes SET a0 = 7 WHERE k = 1 AND c = 2");
    Checks.same("k=1 c=2 a=a a0=7", text(another.execute(another.prepare(statement).bind(1, 2)).one()));
    Checks.same("k=1 c=2 a=a a0=7", text(session.execute(read.bind(1, 2)).one()));
  }

  private void fields() {
    session.execute("INSERT INTO changed_types (k, x) VALUES (1, {a: 5})");
    PreparedStatement read = session.prepare("SELECT x FROM changed_types WHERE k = ?");
    Checks.same(5, session.execute(read.bind(1)).one().getUdtValue(0).getInt("a"));
    session.execute("ALTER TYPE changing ADD b text");
    session.execute("INSERT INTO changed_types (k, x) VALUES (1, {a: 5, b: 'new'})");
    Checks.same("new", session.execute(read.bind(1)).one().getUdtValue(0).getString("b"));
    session.execute("ALTER TYPE changing RENAME b TO bb");
    Checks.same("new", session.execute(read.bind(1)).one().getUdtValue(0).getString("bb"));
    session.execute("ALTER TYPE changing RENAME bb TO b");
  }

  private void writtenFields() throws Exception {
    String insert = "INSERT INTO changed_types (k, x) VALUES (?, ?)";
    session.execute(session.prepare(insert).bind(2, null));
    session.execute("ALTER TYPE changing ADD c text");
    // The driver keeps what it has prepared until it hears of the change.
    Checks.eventually(20, () -> typeOf(session.prepare(insert)).contains("c"));
    UdtValue value = typeOf(session.prepare(insert)).newValue().setInt("a", 5).setString("b", "b").setString("c", "c");
    session.execute(session.prepare(insert).bind(2, value));
    Row row = session.execute("SELECT toJson(x) FROM changed_types WHERE k = 2").one();
    Checks.same("{\"a\": 5, \"b\": \"b\", \"c\": \"c\"}", row.getString(0));
  }

  private static UserDefinedType typeOf(PreparedStatement insert) {
    return (UserDefinedType) insert.getVariableDefinitions().get(1).getType();
  }

  private void createdAgain() {
    String insert = "INSERT INTO changes (k, c) VALUES (?, ?)";
    PreparedStatement before = session.prepare(insert);
    session.execute(before.bind(1, 2));
    session.execute("DROP TABLE changes");
    session.execute("CREATE TABLE changes (k int PRIMARY KEY, c bigint)");
    // This session keeps what it has prepared, with its types; a new one does not have it.
    another.execute(another.prepare(insert).bind(1, 1L << 40));
    Checks.same("k=1 c=" + (1L << 40), text(session.execute("SELECT k, c FROM changes").one()));
  }
}
