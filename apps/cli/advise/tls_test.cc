// Runs `sibyl advise --live` against a server with TLS.
#include <cstdlib>

#include "cli/test_process.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;

class AdviseTlsTest : public ServeTest {
 protected:
  Outcome advise_live(const std::vector<std::string>& more) const {
    return sibyl({"advise", "--fail-on", "never", "--live", address()}, more);
  }

  // A self-signed certificate, which is its own authority.
  void make_certificate(const std::string& name) const {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=" + name +
        "' -addext 'subjectAltName=IP:127.0.0.1' -keyout " + path(name + ".key") + " -out " +
        path(name + ".pem") + " 2>/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
};

TEST_F(AdviseTlsTest, ServerCertificateIsChecked) {
  make_certificate("server");
  make_certificate("other");
  auto server = serve(data(), {"--tls-certificate", path("server.pem"), "--tls-key", path("server.key")});
  client::Options options;
  options.port = port_;
  options.tls.enabled = true;
  options.tls.ca_file = path("server.pem");
  auto connection = client::Connection::connect(options);
  ASSERT_TRUE(connection) << connection.error().message();
  make_table(**connection);
  run(**connection, "INSERT INTO ks.t (k, c, v) VALUES (1, 1, 'x')");

  const Outcome trusted = advise_live({"--ssl", "--ssl-ca", path("server.pem"), "--format", "json"});
  EXPECT_EQ(trusted.status, 0) << trusted.errors;
  EXPECT_THAT(trusted.output, HasSubstr(R"("name":"ks.t")"));
  EXPECT_THAT(trusted.output, HasSubstr("INSERT INTO ks.t")) << "a recorded statement";
  const Outcome unchecked = advise_live({"--ssl", "--ssl-no-verify"});
  EXPECT_EQ(unchecked.status, 0) << unchecked.errors;
  const Outcome other = advise_live({"--ssl", "--ssl-ca", path("other.pem")});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors, HasSubstr("certificate"));
  EXPECT_EQ(other.output, "");
  const Outcome plain = advise_live({});
  EXPECT_EQ(plain.status, 2) << plain.output;
  EXPECT_THAT(plain.errors, HasSubstr("sibyl advise: "));
}

}  // namespace
}  // namespace sibyl::cli
