import static java.util.Arrays.asList;

import com.datastax.driver.core.*;
import com.datastax.driver.core.exceptions.*;
import com.datastax.driver.core.policies.ConstantReconnectionPolicy;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.*;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The Java driver 3, unmodified. See harness.py for what it is told and what it prints. */
public final class Client3 {
  private static final String HOST = System.getenv("SIBYL_HOST");
  private static final int PORT = Integer.parseInt(System.getenv("SIBYL_PORT"));
  private static Cluster cluster;
  private static Session session;

  public static void main(String[] arguments) throws Exception {
    Checks.version(Cluster.getDriverVersion());
    if ("secured".equals(System.getenv("SIBYL_MODE"))) {
      secured();
      System.exit(0); // a session that should have been refused would keep the program alive
    }
    Checks.check("connect", "without a keyspace", Client3::connect);
    makeSchema();
    cluster = options().build();
    session = cluster.connect("clients");
    for (Object[] value : scalars())
      Checks.check("scalars", value[0] + " " + value[1], () -> bothWays("c_" + value[0], (String) value[1], value[2]));
    Checks.check("metadata", "keyspace, table, index, view, type, function, aggregate", Client3::metadata);
    Checks.check("token map", "ring and replicas", Client3::tokenMap);
    Checks.check("routing", "composite and single keys", Client3::routing);
    Checks.check("prepared", "markers by position and name", Client3::prepared);
    Checks.check("paging", "pages of 7, and a paging state", Client3::paging);
    Checks.check("collections", "nested, frozen, empty", Client3::collections);
    Checks.check("user types", "fields, nested, tuples", Client3::userTypes);
    Checks.notOffered("vector", "this driver predates vectors");
    Checks.check("absent values", "null, unset, empty", Client3::absent);
    Checks.check("batches", "logged and unlogged", Client3::batches);
    Checks.check("counters", "a batch of three", Client3::counters);
    Checks.check("conditions", "insert, update", Client3::conditions);
    Checks.check("errors", "classes and fields", Client3::errors);
    Checks.check("events", "table created", Client3::events);
    Checks.check("tracing", "session and events", Client3::tracing);
    Checks.check("lz4", "v4", () -> compressed(ProtocolOptions.Compression.LZ4, ProtocolVersion.V4));
    Checks.check("lz4", "v5", () -> compressed(ProtocolOptions.Compression.LZ4, ProtocolVersion.V5));
    Checks.check("snappy", "v4", () -> compressed(ProtocolOptions.Compression.SNAPPY, ProtocolVersion.V4));
    Checks.check("v5", "negotiated", () ->
        Checks.same(ProtocolVersion.V5, cluster.getConfiguration().getProtocolOptions().getProtocolVersion()));
    SchemaChanges3.run();
    Checks.check("restart", "within 30 s", Client3::restart);
    System.exit(0);
  }

  static Cluster.Builder options() {
    return Cluster.builder()
        .addContactPoint(HOST)
        .withPort(PORT)
        .withoutJMXReporting()
        .withReconnectionPolicy(new ConstantReconnectionPolicy(200))
        .withSocketOptions(new SocketOptions().setReadTimeoutMillis(20_000).setConnectTimeoutMillis(20_000));
  }

  private static void makeSchema() throws Exception {
    try (Cluster one = options().build(); Session admin = one.connect()) {
      for (String statement : Files.readString(Path.of(System.getenv("SIBYL_SCHEMA"))).split(";\n")) {
        if (!statement.contains("vector<")) admin.execute(statement); // which this driver does not know
      }
    }
  }

  private static void connect() {
    try (Cluster one = options().build(); Session opened = one.connect()) {
      Row row = opened.execute("SELECT cluster_name, release_version FROM system.local").one();
      Host host = one.getMetadata().getAllHosts().iterator().next();
      Checks.same(asList(row.getString(0), 1), asList(one.getMetadata().getClusterName(), one.getMetadata().getAllHosts().size()));
      Checks.same(asList(row.getString(1), "datacenter1"), asList(host.getCassandraVersion().toString(), host.getDatacenter()));
    }
  }

  private static Object[][] scalars() throws Exception {
    String large = "10000000000000000000000000000000000000000";
    return new Object[][] {
      {"ascii", "''", ""},
      {"bigint", "-9223372036854775808", Long.MIN_VALUE},
      {"blob", "0x00ff", ByteBuffer.wrap(new byte[] {0, -1})},
      {"boolean", "true", true},
      {"date", "'0001-01-01'", LocalDate.fromYearMonthDay(1, 1, 1)},
      {"date", "'9999-12-31'", LocalDate.fromYearMonthDay(9999, 12, 31)},
      {"decimal", "-123.4500", new BigDecimal("-123.4500")},
      {"double", "4.9E-324", Double.MIN_VALUE},
      {"double", "NaN", Double.NaN},
      {"duration", "1y2mo3d4h5m6s7ns", Duration.newInstance(14, 3, 14_706_000_000_007L)},
      {"float", "3.4028235E38", Float.MAX_VALUE},
      {"inet", "'2001:db8::1'", InetAddress.getByName("2001:db8::1")},
      {"int", "-2147483648", Integer.MIN_VALUE},
      {"smallint", "32767", Short.MAX_VALUE},
      {"text", "'\u017elu\u0165ou\u010dk\u00fd \ud83d\udc0e'", "\u017elu\u0165ou\u010dk\u00fd \ud83d\udc0e"},
      {"time", "'23:59:59.999999999'", 86_399_999_999_999L},
      {"timestamp", "-1", new Date(-1)},
      {"timestamp", "'9999-12-31 23:59:59.999Z'", new Date(253_402_300_799_999L)},
      {"timeuuid", "50554d6e-29bb-11e5-b345-feff819cdc9f", UUID.fromString("50554d6e-29bb-11e5-b345-feff819cdc9f")},
      {"tinyint", "-128", Byte.MIN_VALUE},
      {"uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff", new UUID(-1, -1)},
      {"varint", "-" + large, new BigInteger("-" + large)},
      {"varint", "128", BigInteger.valueOf(128)},
    };
  }

  private static void bothWays(String column, String literal, Object value) {
    session.execute("INSERT INTO scalars (k, " + column + ") VALUES ('literal', " + literal + ")");
    session.execute(session.prepare("INSERT INTO scalars (k, " + column + ") VALUES (?, ?)").bind("bound", value));
    for (String key : asList("literal", "bound"))
      Checks.same(value, session.execute("SELECT " + column + " FROM scalars WHERE k = ?", key).one().getObject(0));
    if (column.equals("c_duration")) return; // has no order, nor a comparison
    String equal = "SELECT k FROM scalars WHERE k = 'bound' AND " + column + " = " + literal + " ALLOW FILTERING";
    Checks.same("bound", session.execute(equal).one().getString(0));
  }

  private static List<String> names(List<ColumnMetadata> columns) {
    return columns.stream().map(ColumnMetadata::getName).toList();
  }

  private static void metadata() {
    KeyspaceMetadata keyspace = cluster.getMetadata().getKeyspace("clients");
    TableMetadata table = keyspace.getTable("measurements");
    Checks.same(asList(asList("site", "day"), asList("at", "sensor")), asList(names(table.getPartitionKey()), names(table.getClusteringColumns())));
    Checks.same(asList(ClusteringOrder.DESC, ClusteringOrder.ASC), table.getClusteringOrder());
    Checks.same(asList(true, "what was measured"), asList(table.getColumn("note").isStatic(), table.getOptions().getComment()));
    Checks.same("value", table.getIndex("measurements_by_value").getTarget());
    Checks.same("measurements", keyspace.getMaterializedView("by_sensor").getBaseTable().getName());
    Checks.same(asList("street", "zip", "phones"), new ArrayList<>(keyspace.getUserType("address").getFieldNames()));
    Checks.same(DataType.cint(), keyspace.getFunction("plus", DataType.cint(), DataType.cint()).getReturnType());
    Checks.same(0, keyspace.getAggregate("total", DataType.cint()).getInitCond());
  }

  private static void tokenMap() {
    Metadata metadata = cluster.getMetadata();
    Checks.same(true, metadata.getPartitioner().endsWith("Murmur3Partitioner") && !metadata.getTokenRanges().isEmpty());
    Checks.same(metadata.getAllHosts(), metadata.getReplicas("clients", ByteBuffer.wrap(new byte[] {1, 2, 3})));
  }

  private static void routing() {
    PreparedStatement insert = session.prepare("INSERT INTO routes (v, b, a) VALUES (?, ?, ?)");
    for (int a : new int[] {7, -1, Integer.MAX_VALUE}) {
      BoundStatement bound = insert.bind(1, "x", a);
      session.execute(bound);
      Row row = session.execute("SELECT token(a, b) FROM routes WHERE a = ? AND b = 'x'", a).one();
      Checks.same(row.getToken(0), token(bound));
    }
    for (String key : asList("a", "\u017elu\u0165ou\u010dk\u00fd", "a key of more than sixteen bytes")) {
      BoundStatement bound = session.prepare("INSERT INTO routes_one (k, v) VALUES (:key, :value)").bind(key, 1);
      session.execute(bound);
      Checks.same(session.execute("SELECT token(k) FROM routes_one WHERE k = ?", key).one().getToken(0), token(bound));
    }
  }

  private static Token token(BoundStatement bound) {
    ByteBuffer key = bound.getRoutingKey(cluster.getConfiguration().getProtocolOptions().getProtocolVersion(), CodecRegistry.DEFAULT_INSTANCE);
    return cluster.getMetadata().newToken(key);
  }

  private static void prepared() {
    PreparedStatement insert = session.prepare("INSERT INTO plain (k, a, b) VALUES (:k, :a, :b)");
    Checks.same(DataType.text(), insert.getVariables().getType("b"));
    session.execute(insert.bind().setInt("k", 1).setInt("a", 2).setString("b", "three"));
    Row row = session.execute(session.prepare("SELECT * FROM plain WHERE k = ?").bind(1)).one();
    Checks.same(asList(1, 2, "three"), asList(row.getInt("k"), row.getInt("a"), row.getString("b")));
  }

  private static void paging() {
    List<Integer> all = new ArrayList<>();
    PreparedStatement insert = session.prepare("INSERT INTO pages (p, c, v) VALUES (1, ?, 'v')");
    for (int c = 0; c < 50; c++) {
      session.execute(insert.bind(c));
      all.add(c);
    }
    Statement read = new SimpleStatement("SELECT c FROM pages WHERE p = 1").setFetchSize(7);
    List<Integer> found = new ArrayList<>();
    for (Row row : session.execute(read)) found.add(row.getInt(0));
    Checks.same(all, found);
    ResultSet first = session.execute(read);
    Checks.same(7, first.getAvailableWithoutFetching());
    read.setPagingState(first.getExecutionInfo().getPagingState()).setFetchSize(100);
    Checks.same(all.subList(7, 50), session.execute(read).all().stream().map(row -> row.getInt(0)).toList());
  }

  private static void collections() {
    PreparedStatement insert = session.prepare("INSERT INTO collections (k, l, s, m, fl, deep) VALUES (?, ?, ?, ?, ?, ?)");
    List<Object> values = asList(asList(3, 1, 3), Set.of("a", "b", ""), Map.of("x", 1, "y", Integer.MIN_VALUE),
        asList(Map.of(1, "a"), Map.of(), Map.of(2, "b")), Map.of("k", asList(Set.of(1, 2), Set.of())));
    session.execute(insert.bind(1, values.get(0), values.get(1), values.get(2), values.get(3), values.get(4)));
    Row row = session.execute("SELECT l, s, m, fl, deep FROM collections WHERE k = 1").one();
    for (int i = 0; i < 5; i++) Checks.same(values.get(i), row.getObject(i));
    session.execute(insert.bind(2, List.of(), Set.of(), Map.of(), List.of(), Map.of()));
    row = session.execute("SELECT l, s, m, fl FROM collections WHERE k = 2").one();
    Checks.same(asList(true, true, true, false), asList(row.isNull(0), row.isNull(1), row.isNull(2), row.isNull(3)));
  }

  private static void userTypes() {
    UserType type = cluster.getMetadata().getKeyspace("clients").getUserType("address");
    TupleType tuple = cluster.getMetadata().newTupleType(DataType.cint(), DataType.text(), DataType.cdouble());
    UDTValue home = type.newValue().setString("street", "Elm 1").setInt("zip", 12345).setSet("phones", Set.of("+1", "+2"));
    UDTValue partial = type.newValue().setString("street", "x");
    PreparedStatement insert = session.prepare("INSERT INTO people (name, home, others, pair) VALUES (?, ?, ?, ?)");
    session.execute(insert.bind("Ann", home, asList(partial, home), tuple.newValue(1, "x", null)));
    Row row = session.execute("SELECT home, others, pair FROM people WHERE name = 'Ann'").one();
    Checks.same(asList("Elm 1", 12345), asList(row.getUDTValue(0).getString(0), row.getUDTValue(0).getInt(1)));
    Checks.same(Set.of("+1", "+2"), row.getUDTValue(0).getSet("phones", String.class));
    Checks.same(asList("x", true), asList(row.getList(1, UDTValue.class).get(0).getString(0), row.getList(1, UDTValue.class).get(0).isNull(1)));
    Checks.same(asList(1, "x", true), asList(row.getTupleValue(2).getInt(0), row.getTupleValue(2).getString(1), row.getTupleValue(2).isNull(2)));
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
    for (BatchStatement.Type kind : asList(BatchStatement.Type.LOGGED, BatchStatement.Type.UNLOGGED)) {
      int base = kind == BatchStatement.Type.LOGGED ? 100 : 200;
      session.execute(new BatchStatement(kind).add(insert.bind(base, 1)).add(insert.bind(base + 1, 2))
          .add(new SimpleStatement("INSERT INTO plain (k, b) VALUES (?, ?)", base + 2, "text")));
      Checks.same(3, session.execute("SELECT k FROM plain WHERE k IN (?, ?, ?)", base, base + 1, base + 2).all().size());
    }
  }

  private static void counters() {
    PreparedStatement add = session.prepare("UPDATE hits SET n = n + ? WHERE k = ?");
    session.execute(new BatchStatement(BatchStatement.Type.COUNTER).add(add.bind(5L, 1)).add(add.bind(-2L, 1)).add(add.bind(10L, 1)));
    Checks.same(13L, session.execute("SELECT n FROM hits WHERE k = 1").one().getLong(0));
  }

  private static void conditions() {
    PreparedStatement insert = session.prepare("INSERT INTO accounts (k, c, v) VALUES (?, ?, ?) IF NOT EXISTS");
    PreparedStatement update = session.prepare("UPDATE accounts SET v = ? WHERE k = ? AND c = ? IF v = ?");
    Checks.same(true, session.execute(insert.bind(1, 1, 7)).wasApplied());
    ResultSet refused = session.execute(insert.bind(1, 1, 8));
    Checks.same(asList(false, 7), asList(refused.wasApplied(), refused.one().getInt("v")));
    Checks.same(true, session.execute(update.bind(9, 1, 1, 7)).wasApplied());
    Checks.same(false, session.execute(update.bind(9, 1, 1, 7).setSerialConsistencyLevel(ConsistencyLevel.LOCAL_SERIAL)).wasApplied());
  }

  private static void errors() throws Exception {
    Checks.thrown(SyntaxError.class, () -> session.execute("SELEC * FROM plain"));
    Checks.thrown(InvalidQueryException.class, () -> session.execute("SELECT nope FROM plain"));
    AlreadyExistsException exists = Checks.thrown(AlreadyExistsException.class, () -> session.execute("CREATE TABLE plain (k int PRIMARY KEY)"));
    Checks.same(asList("clients", "plain"), asList(exists.getKeyspace(), exists.getTable()));
    Checks.thrown(InvalidConfigurationInQueryException.class,
        () -> session.execute("CREATE KEYSPACE x WITH replication = {'class': 'NoSuchStrategy'}"));
    List<String> warnings = session.execute("SELECT count(*) FROM plain").getExecutionInfo().getWarnings();
    Checks.same(true, warnings.get(0).contains("Aggregation query used without partition key"));
  }

  private static void events() throws Exception {
    try (Cluster other = options().build()) {
      other.connect();
      session.execute("CREATE TABLE seen (k int PRIMARY KEY)");
      Checks.eventually(20, () -> other.getMetadata().getKeyspace("clients").getTable("seen") != null);
    }
  }

  private static void tracing() {
    QueryTrace trace = session.execute(new SimpleStatement("SELECT * FROM plain WHERE k = 10").enableTracing())
        .getExecutionInfo().getQueryTrace();
    Checks.same(asList("Execute CQL3 query", "SELECT * FROM plain WHERE k = 10"), asList(trace.getRequestType(), trace.getParameters().get("query")));
    Checks.same(true, trace.getDurationMicros() > 0 && !trace.getEvents().isEmpty());
  }

  private static void compressed(ProtocolOptions.Compression algorithm, ProtocolVersion version) {
    try (Cluster one = options().withCompression(algorithm).withProtocolVersion(version).build(); Session opened = one.connect("clients")) {
      String large = "abcdefgh".repeat(50_000);
      opened.execute("INSERT INTO plain (k, b) VALUES (20, ?)", large);
      Checks.same(large, opened.execute("SELECT b FROM plain WHERE k = 20").one().getString(0));
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
    Checks.check("re-prepared", "the same statement", () -> Checks.same(42, session.execute(read.bind(300)).one().getInt(0)));
  }

  private static Cluster login(String user, String password, boolean trusting) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    if (trusting) {
      try (InputStream file = Files.newInputStream(Path.of(System.getenv("SIBYL_CA")))) {
        store.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(file));
      }
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusting ? store : null);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return options().withSSL(RemoteEndpointAwareJdkSSLOptions.builder().withSSLContext(context).build())
        .withCredentials(user, password).build();
  }

  private static void secured() {
    String user = System.getenv("SIBYL_USER");
    String password = System.getenv("SIBYL_PASSWORD");
    Checks.check("tls", "the certificate is checked", () -> {
      try (Cluster one = login(user, password, true)) {
        Checks.same("local", one.connect().execute("SELECT key FROM system.local").one().getString(0));
      }
      Checks.thrown(NoHostAvailableException.class, () -> login(user, password, false).connect());
    });
    Checks.check("login", "a role of its own, what it may and may not", () -> {
      try (Cluster one = login(user, password, true); Session opened = one.connect()) {
        opened.execute("CREATE KEYSPACE secrets WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        opened.execute("CREATE TABLE secrets.t (k int PRIMARY KEY)");
        opened.execute("CREATE ROLE reader WITH PASSWORD = 'paper' AND LOGIN = true");
        opened.execute("GRANT SELECT ON secrets.t TO reader");
      }
      try (Cluster one = login("reader", "paper", true); Session opened = one.connect()) {
        Checks.same(0, opened.execute("SELECT * FROM secrets.t").all().size());
        Checks.thrown(UnauthorizedException.class, () -> opened.execute("INSERT INTO secrets.t (k) VALUES (1)"));
      }
    });
    Checks.check("login", "a wrong password", () ->
        Checks.thrown(AuthenticationException.class, () -> login(user, password + "x", true).connect()));
  }

  private Client3() {}
}
