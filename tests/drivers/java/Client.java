import static java.util.Arrays.asList;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.ProtocolVersion;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.cql.*;
import com.datastax.oss.driver.api.core.data.CqlVector;
import com.datastax.oss.driver.api.core.data.TupleValue;
import com.datastax.oss.driver.api.core.data.UdtValue;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.TokenMap;
import com.datastax.oss.driver.api.core.metadata.schema.*;
import com.datastax.oss.driver.api.core.metadata.token.Token;
import com.datastax.oss.driver.api.core.servererrors.*;
import com.datastax.oss.driver.api.core.type.DataTypes;
import com.datastax.oss.driver.api.core.type.TupleType;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import com.datastax.oss.driver.internal.core.metadata.token.Murmur3Token;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.*;

/** The Java driver 4, unmodified. See harness.py for what it is told and what it prints. */
public final class Client {
  private static final String HOST = System.getenv("SIBYL_HOST");
  private static final int PORT = Integer.parseInt(System.getenv("SIBYL_PORT"));
  private static CqlSession session;

  public static void main(String[] arguments) throws Exception {
    Checks.version(CqlSession.OSS_DRIVER_COORDINATES.getVersion().toString());
    if ("secured".equals(System.getenv("SIBYL_MODE"))) {
      Secured.run();
      System.exit(0); // a session that should have been refused would keep the program alive
    }
    Checks.check("connect", "without a keyspace", Client::connect);
    makeSchema();
    session = open("clients", options());
    Scalars.run(session);
    Checks.check("metadata", "keyspace, table, index, view, type, function, aggregate", Client::metadata);
    Checks.check("token map", "ring and replicas", Client::tokenMap);
    Checks.check("routing", "composite and single keys", Client::routing);
    Checks.check("prepared", "markers by position and name", Client::prepared);
    Checks.check("paging", "pages of 7, and a paging state", Client::paging);
    Checks.check("collections", "nested, frozen, empty", Client::collections);
    Checks.check("user types", "fields, nested, tuples", Client::userTypes);
    Checks.check("vector", "three floats", Client::vector);
    Checks.check("absent values", "null, unset, empty", Client::absent);
    Checks.check("batches", "logged and unlogged", Client::batches);
    Checks.check("counters", "a batch of three", Client::counters);
    Checks.check("conditions", "insert, update, batch", Client::conditions);
    Checks.check("errors", "classes and fields", Client::errors);
    Checks.check("events", "table created and dropped", Client::events);
    Checks.check("tracing", "session and events", Client::tracing);
    Checks.check("lz4", "v4", () -> compressed("lz4", "V4"));
    Checks.check("lz4", "v5", () -> compressed("lz4", "V5"));
    Checks.check("snappy", "v4", () -> compressed("snappy", "V4"));
    Checks.check("v5", "keyspace of one request", Client::versionFive);
    SchemaChanges.run();
    Checks.check("restart", "within 30 s", Client::restart);
    session.close();
  }

  static ProgrammaticDriverConfigLoaderBuilder options() {
    return DriverConfigLoader.programmaticBuilder()
        .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(20))
        .withDuration(DefaultDriverOption.METADATA_SCHEMA_REQUEST_TIMEOUT, Duration.ofSeconds(20))
        .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(20))
        .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
        .withDuration(DefaultDriverOption.REQUEST_TRACE_INTERVAL, Duration.ofMillis(50))
        .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(100))
        .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(1));
  }

  static CqlSession open(String keyspace, ProgrammaticDriverConfigLoaderBuilder options) {
    CqlSessionBuilder builder = CqlSession.builder()
        .addContactPoint(new InetSocketAddress(HOST, PORT))
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(options.build());
    if (keyspace != null) builder.withKeyspace(keyspace);
    return builder.build();
  }

  private static void makeSchema() throws Exception {
    String text = Files.readString(Path.of(System.getenv("SIBYL_SCHEMA")));
    try (CqlSession admin = open(null, options())) {
      for (String statement : text.split(";\n")) admin.execute(statement);
    }
  }

  private static void connect() {
    try (CqlSession one = open(null, options())) {
      Checks.same(ProtocolVersion.V5, one.getContext().getProtocolVersion());
      Row row = one.execute("SELECT cluster_name, release_version FROM system.local").one();
      Node node = one.getMetadata().getNodes().values().iterator().next();
      Checks.same(row.getString(1), node.getCassandraVersion().toString());
      Checks.same(1, one.getMetadata().getNodes().size());
      Checks.same(row.getString(0), one.getMetadata().getClusterName().get());
      Checks.same("datacenter1", node.getDatacenter());
    }
  }

  private static void metadata() {
    KeyspaceMetadata keyspace = session.getMetadata().getKeyspace("clients").get();
    Checks.same("1", keyspace.getReplication().get("replication_factor"));
    TableMetadata table = keyspace.getTable("measurements").get();
    Checks.same(asList("site", "day"), names(table.getPartitionKey()));
    Checks.same(asList("at", "sensor"), names(new ArrayList<>(table.getClusteringColumns().keySet())));
    Checks.same(asList(ClusteringOrder.DESC, ClusteringOrder.ASC), new ArrayList<>(table.getClusteringColumns().values()));
    Checks.same(true, table.getColumn("note").get().isStatic());
    Checks.same(DataTypes.setOf(DataTypes.TEXT), table.getColumn("tags").get().getType());
    Checks.same("what was measured", table.getOptions().get(CqlIdentifier.fromInternal("comment")));
    IndexMetadata index = table.getIndex("measurements_by_value").get();
    Checks.same(IndexKind.CUSTOM, index.getKind());
    Checks.same("value", index.getTarget());
    ViewMetadata view = keyspace.getView("by_sensor").get();
    Checks.same("measurements", view.getBaseTable().asInternal());
    Checks.same(asList("sensor"), names(view.getPartitionKey()));
    Checks.same(asList("street", "zip", "phones"), keyspace.getUserDefinedType("address").get().getFieldNames().stream()
        .map(CqlIdentifier::asInternal).toList());
    FunctionMetadata function = keyspace.getFunction("plus", DataTypes.INT, DataTypes.INT).get();
    Checks.same(DataTypes.INT, function.getReturnType());
    AggregateMetadata aggregate = keyspace.getAggregate("total", DataTypes.INT).get();
    Checks.same("plus", aggregate.getStateFuncSignature().getName().asInternal());
    Checks.same(0, aggregate.getInitCond().get());
    // What the driver prints makes the same table again.
    session.execute(table.describe(true).split(";")[0].replaceFirst("measurements", "again"));
    Checks.same(table.getColumns().size(), session.getMetadata().getKeyspace("clients").get().getTable("again").get().getColumns().size());
    session.execute("DROP TABLE again");
    try (CqlSession all = open(null, options().withStringList(DefaultDriverOption.METADATA_SCHEMA_REFRESHED_KEYSPACES, List.of()))) {
      KeyspaceMetadata views = all.getMetadata().getKeyspace("system_views").get();
      Checks.same(asList(true, true), asList(views.isVirtual(), views.getTable("settings").isPresent()));
    }
  }

  private static List<String> names(List<ColumnMetadata> columns) {
    return columns.stream().map(column -> column.getName().asInternal()).toList();
  }

  private static void tokenMap() {
    TokenMap map = session.getMetadata().getTokenMap().get();
    Checks.same("Murmur3Partitioner", map.getPartitionerName().replaceAll(".*\\.", ""));
    Node node = session.getMetadata().getNodes().values().iterator().next();
    Checks.same(false, map.getTokens(node).isEmpty());
    Checks.same(map.getTokenRanges(), map.getTokenRanges("clients", node));
    Checks.same(Set.of(node), map.getReplicas("clients", ByteBuffer.wrap(new byte[] {1, 2, 3})));
  }

  private static void routing() {
    PreparedStatement insert = session.prepare("INSERT INTO routes (v, b, a) VALUES (?, ?, ?)");
    PreparedStatement read = session.prepare("SELECT token(a, b) FROM routes WHERE a = ? AND b = ?");
    for (int a : new int[] {7, -1, Integer.MAX_VALUE}) {
      BoundStatement bound = insert.bind(1, "x" + a, a);
      session.execute(bound);
      same(bound.getRoutingKey(), session.execute(read.bind(a, "x" + a)).one());
    }
    PreparedStatement one = session.prepare("INSERT INTO routes_one (k, v) VALUES (:key, :value)");
    for (String key : new String[] {"", "a", "\u017elu\u0165ou\u010dk\u00fd", "a key of more than sixteen bytes"}) {
      if (key.isEmpty()) continue; // an empty key is no key in CQL
      BoundStatement bound = one.bind(key, 1);
      session.execute(bound);
      same(bound.getRoutingKey(), session.execute("SELECT token(k) FROM routes_one WHERE k = ?", key).one());
    }
  }

  private static void same(ByteBuffer routingKey, Row row) {
    Token token = session.getMetadata().getTokenMap().get().newToken(routingKey);
    Checks.same(row.getLong(0), ((Murmur3Token) token).getValue());
  }

  private static void prepared() {
    PreparedStatement insert = session.prepare("INSERT INTO plain (k, a, b) VALUES (:k, :a, :b)");
    Checks.same(asList(0), insert.getPartitionKeyIndices());
    Checks.same(DataTypes.TEXT, insert.getVariableDefinitions().get("b").getType());
    session.execute(insert.boundStatementBuilder().setInt("k", 1).setInt("a", 2).setString("b", "three").build());
    PreparedStatement read = session.prepare("SELECT * FROM plain WHERE k = ?");
    Checks.same(3, read.getResultSetDefinitions().size());
    Row row = session.execute(read.bind(1)).one();
    Checks.same(asList(1, 2, "three"), asList(row.getInt("k"), row.getInt("a"), row.getString("b")));
    session.execute("ALTER TABLE plain ADD extra int");
    session.execute("UPDATE plain SET extra = 9 WHERE k = 1");
    Checks.same(9, session.execute(read.bind(1)).one().getInt("extra"));
    session.execute("ALTER TABLE plain DROP extra");
  }

  private static void paging() {
    PreparedStatement insert = session.prepare("INSERT INTO pages (p, c, v) VALUES (?, ?, ?)");
    List<Integer> all = new ArrayList<>();
    for (int c = 0; c < 50; c++) {
      session.execute(insert.bind(1, c, "v" + c));
      all.add(c);
    }
    PreparedStatement read = session.prepare("SELECT c FROM pages WHERE p = ?");
    List<Integer> found = new ArrayList<>();
    for (Row row : session.execute(read.bind(1).setPageSize(7))) found.add(row.getInt(0));
    Checks.same(all, found);
    ResultSet first = session.execute(read.bind(1).setPageSize(7));
    Checks.same(7, first.getAvailableWithoutFetching());
    ByteBuffer state = first.getExecutionInfo().getPagingState();
    ResultSet rest = session.execute(read.bind(1).setPageSize(100).setPagingState(state));
    Checks.same(all.subList(7, 50), rest.all().stream().map(row -> row.getInt(0)).toList());
  }

  private static void collections() {
    PreparedStatement insert = session.prepare("INSERT INTO collections (k, l, s, m, fl, deep) VALUES (?, ?, ?, ?, ?, ?)");
    List<Integer> list = asList(3, 1, 3);
    Set<String> set = Set.of("a", "b", "");
    Map<String, Integer> map = Map.of("x", 1, "y", Integer.MIN_VALUE);
    List<Map<Integer, String>> frozen = asList(Map.of(1, "a"), Map.of(), Map.of(2, "b"));
    Map<String, List<Set<Integer>>> deep = Map.of("k", asList(Set.of(1, 2), Set.of()));
    session.execute(insert.bind(1, list, set, map, frozen, deep));
    Row row = session.execute("SELECT l, s, m, fl, deep FROM collections WHERE k = 1").one();
    Checks.same(asList(list, set, map, frozen, deep), asList(row.getObject(0), row.getObject(1), row.getObject(2),
        row.getObject(3), row.getObject(4)));
    session.execute(insert.bind(2, List.of(), Set.of(), Map.of(), List.of(), Map.of()));
    row = session.execute("SELECT l, s, m, fl, deep FROM collections WHERE k = 2").one();
    Checks.same(asList(true, true, true, false), asList(row.isNull(0), row.isNull(1), row.isNull(2), row.isNull(3)));
    session.execute("UPDATE collections SET l = l + [9], m['z'] = 5, s = s - {'a'} WHERE k = 1");
    row = session.execute("SELECT l, s, m FROM collections WHERE k = 1").one();
    Checks.same(asList(3, 1, 3, 9), row.getList(0, Integer.class));
    Checks.same(Set.of("", "b"), row.getSet(1, String.class));
    Checks.same(5, row.getMap(2, String.class, Integer.class).get("z"));
  }

  private static void userTypes() {
    UserDefinedType type = session.getMetadata().getKeyspace("clients").get().getUserDefinedType("address").get();
    TupleType tuple = DataTypes.tupleOf(DataTypes.INT, DataTypes.TEXT, DataTypes.DOUBLE);
    UdtValue home = type.newValue("Elm 1", 12345, Set.of("+1", "+2"));
    UdtValue partial = type.newValue().setString("street", "x");
    TupleValue pair = tuple.newValue(1, "x", null);
    PreparedStatement insert = session.prepare("INSERT INTO people (name, home, others, pair) VALUES (?, ?, ?, ?)");
    session.execute(insert.bind("Ann", home, asList(partial, home), pair));
    Row row = session.execute("SELECT home, others, pair, home.zip FROM people WHERE name = 'Ann'").one();
    UdtValue read = row.getUdtValue(0);
    Checks.same(asList("Elm 1", 12345, Set.of("+1", "+2")),
        asList(read.getString("street"), read.getInt("zip"), read.getSet("phones", String.class)));
    List<UdtValue> others = row.getList(1, UdtValue.class);
    Checks.same(asList("x", true, 12345), asList(others.get(0).getString(0), others.get(0).isNull(1), others.get(1).getInt(1)));
    Checks.same(asList(1, "x", true),
        asList(row.getTupleValue(2).getInt(0), row.getTupleValue(2).getString(1), row.getTupleValue(2).isNull(2)));
    Checks.same(12345, row.getInt(3));
  }

  private static void vector() {
    CqlVector<Float> vector = CqlVector.newInstance(1f, 2.5f, -3f);
    session.execute(session.prepare("INSERT INTO vectors (k, v) VALUES (?, ?)").bind(1, vector));
    Checks.same(vector, session.execute("SELECT v FROM vectors WHERE k = 1").one().getVector(0, Float.class));
    Checks.same(1, session.execute("SELECT k FROM vectors WHERE k = 1 AND v = [1, 2.5, -3] ALLOW FILTERING").all().size());
  }

  private static void absent() {
    PreparedStatement insert = session.prepare("INSERT INTO plain (k, a, b) VALUES (?, ?, ?)");
    session.execute(insert.bind(10, 1, ""));
    session.execute(insert.bind().setInt(0, 10)); // the others stay unset
    Row row = session.execute("SELECT a, b FROM plain WHERE k = 10").one();
    Checks.same(asList(1, ""), asList(row.getInt(0), row.getString(1)));
    session.execute(insert.bind(10, null, null));
    row = session.execute("SELECT a, b FROM plain WHERE k = 10").one();
    Checks.same(asList(true, true), asList(row.isNull(0), row.isNull(1)));
  }

  private static void batches() {
    PreparedStatement insert = session.prepare("INSERT INTO plain (k, a) VALUES (?, ?)");
    for (BatchType kind : asList(DefaultBatchType.LOGGED, DefaultBatchType.UNLOGGED)) {
      int base = kind == DefaultBatchType.LOGGED ? 100 : 200;
      session.execute(BatchStatement.newInstance(kind, insert.bind(base, 1), insert.bind(base + 1, 2),
          SimpleStatement.newInstance("INSERT INTO plain (k, b) VALUES (?, ?)", base + 2, "text"),
          SimpleStatement.newInstance("DELETE FROM plain WHERE k = 1000")));
      Checks.same(3, session.execute("SELECT k FROM plain WHERE k IN (?, ?, ?)", base, base + 1, base + 2).all().size());
    }
  }

  private static void counters() throws Exception {
    PreparedStatement add = session.prepare("UPDATE hits SET n = n + ? WHERE k = ?");
    session.execute(BatchStatement.newInstance(DefaultBatchType.COUNTER, add.bind(5L, 1), add.bind(-2L, 1), add.bind(10L, 1)));
    Checks.same(13L, session.execute("SELECT n FROM hits WHERE k = 1").one().getLong(0));
    Checks.thrown(InvalidQueryException.class,
        () -> session.execute(BatchStatement.newInstance(DefaultBatchType.LOGGED, add.bind(1L, 1))));
  }

  private static void conditions() {
    PreparedStatement insert = session.prepare("INSERT INTO accounts (k, c, v) VALUES (?, ?, ?) IF NOT EXISTS");
    PreparedStatement update = session.prepare("UPDATE accounts SET v = ? WHERE k = ? AND c = ? IF v = ?");
    Checks.same(true, session.execute(insert.bind(1, 1, 7)).wasApplied());
    ResultSet refused = session.execute(insert.bind(1, 1, 8));
    Checks.same(false, refused.wasApplied());
    Checks.same(7, refused.one().getInt("v"));
    Checks.same(true, session.execute(update.bind(9, 1, 1, 7)).wasApplied());
    refused = session.execute(update.bind(9, 1, 1, 7).setSerialConsistencyLevel(ConsistencyLevel.LOCAL_SERIAL));
    Checks.same(false, refused.wasApplied());
    Checks.same(9, refused.one().getInt("v"));
    BatchStatement batch = BatchStatement.newInstance(DefaultBatchType.LOGGED, update.bind(10, 1, 1, 9), insert.bind(1, 2, 2));
    Checks.same(true, session.execute(batch).wasApplied());
    Checks.same(false, session.execute(batch).wasApplied());
    SimpleStatement serial = SimpleStatement.newInstance("SELECT v FROM accounts WHERE k = 1 AND c = 1")
        .setConsistencyLevel(ConsistencyLevel.SERIAL);
    Checks.same(10, session.execute(serial).one().getInt(0));
  }

  private static void errors() throws Exception {
    Checks.thrown(SyntaxError.class, () -> session.execute("SELEC * FROM plain"));
    Checks.thrown(InvalidQueryException.class, () -> session.execute("SELECT nope FROM plain"));
    Checks.thrown(AlreadyExistsException.class, () -> session.execute("CREATE TABLE plain (k int PRIMARY KEY)"));
    Checks.thrown(InvalidConfigurationInQueryException.class,
        () -> session.execute("CREATE KEYSPACE x WITH replication = {'class': 'NoSuchStrategy'}"));
    Checks.thrown(InvalidQueryException.class,
        () -> session.execute(session.prepare("SELECT * FROM plain WHERE k = ?").bind(new Object[] {null})));
    List<String> warnings = session.execute("SELECT count(*) FROM plain").getExecutionInfo().getWarnings();
    Checks.same(true, warnings.get(0).contains("Aggregation query used without partition key"));
  }

  private static void events() throws Exception {
    try (CqlSession other = open("clients", options())) {
      session.execute("CREATE TABLE seen (k int PRIMARY KEY)");
      Checks.eventually(20, () -> other.getMetadata().getKeyspace("clients").get().getTable("seen").isPresent());
      session.execute("DROP TABLE seen");
      Checks.eventually(20, () -> !other.getMetadata().getKeyspace("clients").get().getTable("seen").isPresent());
    }
  }

  private static void tracing() {
    ResultSet rows = session.execute(SimpleStatement.newInstance("SELECT * FROM plain WHERE k = 10").setTracing(true));
    QueryTrace trace = rows.getExecutionInfo().getQueryTrace();
    Checks.same("Execute CQL3 query", trace.getRequestType());
    Checks.same(true, trace.getParameters().get("query").equals("SELECT * FROM plain WHERE k = 10"));
    Checks.same(true, trace.getDurationMicros() > 0 && !trace.getEvents().isEmpty());
  }

  private static void compressed(String algorithm, String version) {
    ProgrammaticDriverConfigLoaderBuilder options = options()
        .withString(DefaultDriverOption.PROTOCOL_COMPRESSION, algorithm)
        .withString(DefaultDriverOption.PROTOCOL_VERSION, version);
    try (CqlSession one = open("clients", options)) {
      String large = "abcdefgh".repeat(50_000);
      one.execute(one.prepare("INSERT INTO plain (k, b) VALUES (?, ?)").bind(20, large));
      Checks.same(large, one.execute("SELECT b FROM plain WHERE k = 20").one().getString(0));
    }
  }

  private static void versionFive() {
    Checks.same(ProtocolVersion.V5, session.getContext().getProtocolVersion());
    try (CqlSession none = open(null, options())) {
      SimpleStatement statement = SimpleStatement.newInstance("SELECT b FROM plain WHERE k = 10")
          .setKeyspace(CqlIdentifier.fromInternal("clients"));
      Checks.same(1, none.execute(statement).all().size());
      Checks.same(1, none.execute(none.prepare(statement).bind()).all().size());
    }
  }

  private static void restart() throws Exception {
    PreparedStatement read = session.prepare("SELECT a FROM plain WHERE k = ?");
    session.execute("INSERT INTO plain (k, a) VALUES (300, 42)");
    if (!Checks.restart()) {
      Checks.notOffered("re-prepared", "the server is not ours to restart");
      return;
    }
    Checks.eventually(30, () -> session.execute("SELECT a FROM plain WHERE k = 300").one().getInt(0) == 42);
    Checks.check("re-prepared", "the same statement", () ->
        Checks.same(42, session.execute(read.bind(300)).one().getInt(0)));
  }

  private Client() {}
}
