import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import com.datastax.oss.driver.api.core.metadata.TokenMap;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The Java driver 4, unmodified, over the servers of a cluster. See tests/ceph/drivers.py for what it is told and what it prints. */
public final class ClusterLoad {
  private static final AtomicLong good = new AtomicLong(), failed = new AtomicLong();
  private static volatile boolean stopping = false;

  public static void main(String[] arguments) throws Exception {
    int count = Integer.parseInt(System.getenv("SIBYL_COUNT"));
    DriverConfigLoader options = DriverConfigLoader.programmaticBuilder()
        .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(20))
        .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(200))
        .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(1))
        .build();
    try (CqlSession session = CqlSession.builder()
        .addContactPoint(new InetSocketAddress(System.getenv("SIBYL_HOST"), Integer.parseInt(System.getenv("SIBYL_PORT"))))
        .withLocalDatacenter("datacenter1")
        .withKeyspace("ks")
        .withConfigLoader(options)
        .build()) {
      System.out.println("hosts " + hosts(session));
      execute(session, count);
      follow(session, count);
    }
  }

  /** The nodes that the driver takes to be up and has tokens of. */
  private static long hosts(CqlSession session) {
    TokenMap tokens = session.getMetadata().getTokenMap().get();
    return session.getMetadata().getNodes().values().stream()
        .filter((Node node) -> node.getState() == NodeState.UP && !tokens.getTokens(node).isEmpty())
        .count();
  }

  private static void execute(CqlSession session, int count) {
    PreparedStatement insert = session.prepare("INSERT INTO t (k, v) VALUES (?, 'java')");
    PreparedStatement select = session.prepare("SELECT v FROM t WHERE k = ?");
    for (int key = 0; key < count; ++key) {
      session.execute(insert.bind(key));
      String found = session.execute(select.bind(key)).one().getString(0);
      if (!"java".equals(found)) throw new AssertionError("partition " + key + " has " + found);
    }
    System.out.println("executed " + 2 * count);
  }

  private static void follow(CqlSession session, int count) throws Exception {
    List<Thread> clients = new ArrayList<>();
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = input.readLine()) != null; ) {
      if (line.equals("load")) {
        for (int client = 0; client < 4; ++client) {
          int first = client;
          clients.add(new Thread(() -> write(session, first, count)));
          clients.get(client).start();
        }
      } else if (line.equals("done")) {
        System.out.println("done " + good);
      } else if (line.equals("hosts")) {
        System.out.println("hosts " + hosts(session));
      } else if (line.equals("stop")) {
        stopping = true;
        for (Thread client : clients) client.join();
        System.out.println("stopped " + good + " " + failed);
        return;
      }
    }
  }

  private static void write(CqlSession session, int first, int count) {
    PreparedStatement insert = session.prepare("INSERT INTO t (k, v) VALUES (?, 'load')");
    for (int number = first; !stopping; number += 4) {
      try {
        session.execute(insert.bind(number % count));
        good.incrementAndGet();
      } catch (RuntimeException error) {
        System.err.println(error);
        failed.incrementAndGet();
      }
    }
  }
}
