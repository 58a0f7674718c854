import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.auth.AuthenticationException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import com.datastax.oss.driver.internal.core.auth.PlainTextAuthProvider;
import com.datastax.oss.driver.internal.core.ssl.DefaultSslEngineFactory;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;

/** Login and TLS. */
final class Secured {
  static void run() {
    String user = System.getenv("SIBYL_USER");
    String password = System.getenv("SIBYL_PASSWORD");
    Checks.check("tls", "the certificate is checked", () -> {
      try (CqlSession one = Client.open(null, login(trusting(), user, password))) {
        Checks.same("local", one.execute("SELECT key FROM system.local").one().getString(0));
      }
      Checks.thrown(AllNodesFailedException.class,
          () -> Client.open(null, login(Client.options().withClass(DefaultDriverOption.SSL_ENGINE_FACTORY_CLASS,
              DefaultSslEngineFactory.class), user, password)).getName());
    });
    Checks.check("login", "a role of its own, what it may and may not", () -> {
      try (CqlSession one = Client.open(null, login(trusting(), user, password))) {
        one.execute("CREATE KEYSPACE secrets WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        one.execute("CREATE TABLE secrets.t (k int PRIMARY KEY)");
        one.execute("CREATE ROLE reader WITH PASSWORD = 'paper' AND LOGIN = true");
        one.execute("GRANT SELECT ON secrets.t TO reader");
      }
      try (CqlSession one = Client.open(null, login(trusting(), "reader", "paper"))) {
        Checks.same(0, one.execute("SELECT * FROM secrets.t").all().size());
        Checks.thrown(UnauthorizedException.class, () -> one.execute("INSERT INTO secrets.t (k) VALUES (1)"));
      }
    });
    Checks.check("login", "a wrong password", () -> {
      AllNodesFailedException refused = Checks.thrown(AllNodesFailedException.class,
          () -> Client.open(null, login(trusting(), user, password + "x")).getName());
      Checks.same(true, refused.getAllErrors().values().iterator().next().get(0) instanceof AuthenticationException);
    });
  }

  /** The authority's certificate as the driver wants it. */
  private static Path trustStore() throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (InputStream file = Files.newInputStream(Path.of(System.getenv("SIBYL_CA")))) {
      store.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    Path path = Files.createTempFile("sibyl-test", ".p12");
    path.toFile().deleteOnExit();
    try (OutputStream file = Files.newOutputStream(path)) {
      store.store(file, "sibyl-test".toCharArray());
    }
    return path;
  }

  private static ProgrammaticDriverConfigLoaderBuilder trusting() throws Exception {
    return Client.options()
        .withClass(DefaultDriverOption.SSL_ENGINE_FACTORY_CLASS, DefaultSslEngineFactory.class)
        .withString(DefaultDriverOption.SSL_TRUSTSTORE_PATH, trustStore().toString())
        .withString(DefaultDriverOption.SSL_TRUSTSTORE_PASSWORD, "sibyl-test");
  }

  private static ProgrammaticDriverConfigLoaderBuilder login(ProgrammaticDriverConfigLoaderBuilder options, String user, String password) {
    return options
        .withClass(DefaultDriverOption.AUTH_PROVIDER_CLASS, PlainTextAuthProvider.class)
        .withString(DefaultDriverOption.AUTH_PROVIDER_USER_NAME, user)
        .withString(DefaultDriverOption.AUTH_PROVIDER_PASSWORD, password);
  }

  private Secured() {}
}
