import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.Callable;

/** What a check prints, and how it fails. */
final class Checks {
  interface Body {
    void run() throws Exception;
  }

  private static final BufferedReader ANSWERS =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  static void check(String feature, String detail, Body body) {
    try {
      body.run();
      say(feature, "true", detail);
    } catch (Throwable wrong) {
      say(feature, "false", detail + ": " + wrong);
    }
  }

  static void notOffered(String feature, String why) {
    say(feature, "null", why);
  }

  static void version(String version) {
    System.out.println("{\"version\": " + quoted(version) + "}");
  }

  /** Has the server restarted; false when it is not ours to restart. */
  static boolean restart() throws Exception {
    System.out.println("{\"ask\": \"restart\"}");
    System.out.flush();
    return "done".equals(ANSWERS.readLine());
  }

  static void same(Object expected, Object found) {
    if (!Objects.deepEquals(expected, found)) throw new AssertionError("expected " + expected + ", found " + found);
  }

  static <E extends Throwable> E thrown(Class<E> kind, Callable<?> body) throws Exception {
    try {
      body.call();
    } catch (Throwable caught) {
      if (kind.isInstance(caught)) return kind.cast(caught);
      throw new AssertionError("expected " + kind.getSimpleName() + ", caught " + caught);
    }
    throw new AssertionError("expected " + kind.getSimpleName() + ", nothing was thrown");
  }

  /** Waits until it holds, at most so long. */
  static void eventually(int seconds, Callable<Boolean> holds) throws Exception {
    long deadline = System.nanoTime() + seconds * 1_000_000_000L;
    Throwable last = null;
    while (System.nanoTime() < deadline) {
      try {
        if (holds.call()) return;
      } catch (Exception wrong) {
        last = wrong;
      }
      Thread.sleep(50);
    }
    throw new AssertionError("not within " + seconds + " s; last: " + last);
  }

  private static void say(String feature, String ok, String detail) {
    System.out.println("{\"check\": " + quoted(feature) + ", \"ok\": " + ok + ", \"detail\": " + quoted(detail) + "}");
    System.out.flush();
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ' || c > '~') out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }

  private Checks() {}
}
