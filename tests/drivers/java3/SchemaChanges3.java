import static java.util.Arrays.asList;

import com.datastax.driver.core.*;
import java.util.ArrayList;
import java.util.List;

/** Prepared statements while the schema changes: the driver prepares them again, and reads and writes by the new definition. */
final class SchemaChanges3 {
  private final Session session;
  private final Session another;

  private SchemaChanges3(Session session, Session another) {
    this.session = session;
    this.another = another;
  }

  static void run() {
    for (ProtocolVersion version : asList(ProtocolVersion.V3, ProtocolVersion.V4, ProtocolVersion.V5)) {
      try (Cluster cluster = Client3.options().withProtocolVersion(version).build();
          Cluster other = Client3.options().withProtocolVersion(version).build()) {
        Session session = cluster.connect("clients");
        SchemaChanges3 changes = new SchemaChanges3(session, other.connect("clients"));
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

  private static String text(Row row) {
    List<String> found = new ArrayList<>();
    for (ColumnDefinitions.Definition column : row.getColumnDefinitions())
      found.add(column.getName() + "=" + row.getObject(column.getName()));
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
    Checks.same(5, session.execute(read.bind(1)).one().getUDTValue(0).getInt("a"));
    session.execute("ALTER TYPE changing ADD b text");
    session.execute("INSERT INTO changed_types (k, x) VALUES (1, {a: 5, b: 'new'})");
    Checks.same("new", session.execute(read.bind(1)).one().getUDTValue(0).getString("b"));
    session.execute("ALTER TYPE changing RENAME b TO bb");
    Checks.same("new", session.execute(read.bind(1)).one().getUDTValue(0).getString("bb"));
    session.execute("ALTER TYPE changing RENAME bb TO b");
  }

  private void writtenFields() {
    String insert = "INSERT INTO changed_types (k, x) VALUES (?, ?)";
    session.execute(session.prepare(insert).bind(2, null));
    session.execute("ALTER TYPE changing ADD c text");
    // This driver keeps what it has prepared, with its types; another one does not have it.
    PreparedStatement again = another.prepare(insert);
    UserType type = (UserType) again.getVariables().getType(1);
    another.execute(again.bind(2, type.newValue().setInt("a", 5).setString("b", "b").setString("c", "c")));
    Row row = session.execute("SELECT toJson(x) FROM changed_types WHERE k = 2").one();
    Checks.same("{\"a\": 5, \"b\": \"b\", \"c\": \"c\"}", row.getString(0));
  }

  private void createdAgain() {
    String insert = "INSERT INTO changes (k, c) VALUES (?, ?)";
    session.execute(session.prepare(insert).bind(1, 2));
    session.execute("DROP TABLE changes");
    session.execute("CREATE TABLE changes (k int PRIMARY KEY, c bigint)");
    another.execute(another.prepare(insert).bind(1, 1L << 40));
    Checks.same("k=1 c=" + (1L << 40), text(session.execute("SELECT k, c FROM changes").one()));
  }
}
