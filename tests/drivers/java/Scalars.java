import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.data.CqlDuration;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.UUID;

/** Every scalar type at its edges: what the driver writes equals the literal, and both read back as written. */
final class Scalars {
  private static final String LARGE = "10000000000000000000000000000000000000000";

  private static Object[][] values() throws Exception {
    return new Object[][] {
      {"ascii", "'plain ~'", "plain ~"},
      {"ascii", "''", ""},
      {"bigint", "-9223372036854775808", Long.MIN_VALUE},
      {"bigint", "9223372036854775807", Long.MAX_VALUE},
      {"blob", "0x00ff", ByteBuffer.wrap(new byte[] {0, -1})},
      {"blob", "0x", ByteBuffer.allocate(0)},
      {"boolean", "true", true},
      {"boolean", "false", false},
      {"date", "'1969-07-20'", LocalDate.of(1969, 7, 20)},
      {"date", "'0001-01-01'", LocalDate.of(1, 1, 1)},
      {"date", "'9999-12-31'", LocalDate.of(9999, 12, 31)},
      {"decimal", "-123.4500", new BigDecimal("-123.4500")},
      {"decimal", "0.00000000000000000001", new BigDecimal("0.00000000000000000001")},
      {"decimal", LARGE + ".5", new BigDecimal(LARGE + ".5")},
      {"double", "1.7976931348623157E308", Double.MAX_VALUE},
      {"double", "4.9E-324", Double.MIN_VALUE},
      {"double", "NaN", Double.NaN},
      {"double", "-Infinity", Double.NEGATIVE_INFINITY},
      {"duration", "1y2mo3d4h5m6s7ns", CqlDuration.newInstance(14, 3, 14_706_000_000_007L)},
      {"duration", "-2mo1d1ns", CqlDuration.newInstance(-2, -1, -1)},
      {"float", "3.4028235E38", Float.MAX_VALUE},
      {"float", "1.4E-45", Float.MIN_VALUE},
      {"float", "Infinity", Float.POSITIVE_INFINITY},
      {"inet", "'127.0.0.1'", InetAddress.getByName("127.0.0.1")},
      {"inet", "'2001:db8::1'", InetAddress.getByName("2001:db8::1")},
      {"int", "-2147483648", Integer.MIN_VALUE},
      {"int", "2147483647", Integer.MAX_VALUE},
      {"smallint", "-32768", Short.MIN_VALUE},
      {"smallint", "32767", Short.MAX_VALUE},
      {"text", "'\u017elu\u0165ou\u010dk\u00fd \ud83d\udc0e'", "\u017elu\u0165ou\u010dk\u00fd \ud83d\udc0e"},
      {"text", "''", ""},
      {"time", "'00:00:00'", LocalTime.MIDNIGHT},
      {"time", "'23:59:59.999999999'", LocalTime.MAX},
      {"timestamp", "0", Instant.EPOCH},
      {"timestamp", "-1", Instant.ofEpochMilli(-1)},
      {"timestamp", "'9999-12-31 23:59:59.999Z'", Instant.parse("9999-12-31T23:59:59.999Z")},
      {"timeuuid", "50554d6e-29bb-11e5-b345-feff819cdc9f", UUID.fromString("50554d6e-29bb-11e5-b345-feff819cdc9f")},
      {"tinyint", "-128", Byte.MIN_VALUE},
      {"tinyint", "127", Byte.MAX_VALUE},
      {"uuid", "00000000-0000-0000-0000-000000000000", new UUID(0, 0)},
      {"uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff", new UUID(-1, -1)},
      {"varint", "-" + LARGE, new BigInteger("-" + LARGE)},
      {"varint", "0", BigInteger.ZERO},
      {"varint", "128", BigInteger.valueOf(128)},
      {"varint", "-129", BigInteger.valueOf(-129)},
    };
  }

  static void run(CqlSession session) throws Exception {
    for (Object[] value : values()) {
      String type = (String) value[0];
      String literal = (String) value[1];
      Checks.check("scalars", type + " " + literal, () -> both(session, "c_" + type, literal, value[2]));
    }
  }

  private static void both(CqlSession session, String column, String literal, Object value) {
    session.execute("INSERT INTO scalars (k, " + column + ") VALUES ('literal', " + literal + ")");
    PreparedStatement insert = session.prepare("INSERT INTO scalars (k, " + column + ") VALUES (?, ?)");
    session.execute(insert.bind("bound", value));
    PreparedStatement read = session.prepare("SELECT " + column + " FROM scalars WHERE k = ?");
    for (String key : new String[] {"literal", "bound"}) {
      Row row = session.execute(read.bind(key)).one();
      Checks.same(value, row.getObject(0));
    }
    if (column.equals("c_duration")) return; // has no order, nor a comparison
    String equal = "SELECT k FROM scalars WHERE k = 'bound' AND " + column + " = " + literal + " ALLOW FILTERING";
    Checks.same("bound", session.execute(equal).one().getString(0));
  }

  private Scalars() {}
}
