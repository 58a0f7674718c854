#include "server/tls/tls_context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/file.h"

namespace sibyl::server {

namespace {

template <typename T, void (*release)(T*)>
struct Releaser {
  void operator()(T* pointer) const { release(pointer); }
};
void free_bio(BIO* bio) {
  BIO_free(bio);
}
void free_certificates(STACK_OF(X509) * certificates) {
  sk_X509_pop_free(certificates, X509_free);
}
using Bio = std::unique_ptr<BIO, Releaser<BIO, free_bio>>;
using Certificate = std::unique_ptr<X509, Releaser<X509, X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Releaser<EVP_PKEY, EVP_PKEY_free>>;
using Certificates = std::unique_ptr<STACK_OF(X509), Releaser<STACK_OF(X509), free_certificates>>;
using Pkcs12 = std::unique_ptr<PKCS12, Releaser<PKCS12, PKCS12_free>>;

// The contents of a file: the first certificate with its key, and all other certificates.
struct Material {
  Certificate certificate;
  Key key;
  std::vector<Certificate> others;
};

base::Error refused(const std::string& file, const std::string& why) {
  return base::Error(base::ErrorCode::config, fmt::format("Cannot use {} for TLS: {}", file, why));
}

// The reason of OpenSSL's last error.
std::string last_reason() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason != nullptr ? reason : "unknown reason";
}

base::Result<std::string> read_file(const std::string& file) {
  auto bytes = base::read_file(file);
  if (!bytes) return base::fail(refused(file, "it cannot be read: " + bytes.error().message()));
  return bytes;
}

Bio bio_of(const std::string& bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

int give_password(char* buffer, int size, int, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  const int length = std::min(size, static_cast<int>(text.size()));
  std::copy_n(text.data(), length, buffer);
  return length;
}

Key read_key(const std::string& bytes, const std::string& password) {
  return Key(PEM_read_bio_PrivateKey(bio_of(bytes).get(), nullptr, give_password,
                                     const_cast<std::string*>(&password)));
}

Material parse_pem(const std::string& bytes, const std::string& password) {
  Material material;
  const Bio bio = bio_of(bytes);
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    if (!material.certificate) {
      material.certificate.reset(certificate);
    } else {
      material.others.emplace_back(certificate);
    }
  }
  ERR_clear_error();
  material.key = read_key(bytes, password);
  ERR_clear_error();
  return material;
}

base::Result<Material> parse_pkcs12(const std::string& file, const std::string& bytes,
                                    const std::string& password) {
  const Pkcs12 store(d2i_PKCS12_bio(bio_of(bytes).get(), nullptr));
  if (!store) {
    ERR_clear_error();
    return base::fail(refused(file, "it is neither PEM nor PKCS12"));
  }
  EVP_PKEY* key = nullptr;
  X509* certificate = nullptr;
  STACK_OF(X509)* others = nullptr;
  if (PKCS12_parse(store.get(), password.c_str(), &key, &certificate, &others) != 1)
    return base::fail(refused(file, last_reason()));
  const Certificates owned(others);
  Material material;
  material.key.reset(key);
  material.certificate.reset(certificate);
  for (int i = 0; i < sk_X509_num(others); ++i) {
    X509* other = sk_X509_value(others, i);
    X509_up_ref(other);
    material.others.emplace_back(other);
  }
  return material;
}

base::Result<Material> read_material(const std::string& file, const std::string& password) {
  SIBYL_ASSIGN(const std::string bytes, read_file(file));
  constexpr std::string_view java_key_store = "\xfe\xed\xfe\xed";
  if (bytes.starts_with(java_key_store))
    return base::fail(refused(file, "it is a Java key store (JKS)")
                          .with_hint("Convert it: keytool -importkeystore -srckeystore old.jks "
                                     "-destkeystore new.p12 -deststoretype PKCS12"));
  if (bytes.find("-----BEGIN ") != std::string::npos) return parse_pem(bytes, password);
  return parse_pkcs12(file, bytes, password);
}

base::Status use_certificate(SSL_CTX* context, const TlsOptions& options) {
  const std::string& file = options.certificate_file;
  if (file.empty()) return base::fail(base::ErrorCode::config, "TLS needs a certificate and its key");
  SIBYL_ASSIGN(Material material, read_material(file, options.key_password));
  if (!options.key_file.empty()) {
    SIBYL_ASSIGN(const std::string bytes, read_file(options.key_file));
    material.key = read_key(bytes, options.key_password);
    if (!material.key) return base::fail(refused(options.key_file, last_reason()));
  }
  if (!material.certificate) return base::fail(refused(file, "it holds no certificate"));
  if (!material.key) return base::fail(refused(file, "it holds no key, or the password is wrong"));
  if (SSL_CTX_use_certificate(context, material.certificate.get()) != 1)
    return base::fail(refused(file, last_reason()));
  for (Certificate& other : material.others) {
    if (SSL_CTX_add0_chain_cert(context, other.get()) != 1) return base::fail(refused(file, last_reason()));
    other.release();
  }
  if (SSL_CTX_use_PrivateKey(context, material.key.get()) != 1 || SSL_CTX_check_private_key(context) != 1)
    return base::fail(refused(options.key_file.empty() ? file : options.key_file, last_reason()));
  return {};
}

base::Status use_authority(SSL_CTX* context, const TlsOptions& options) {
  using Wanted = TlsOptions::ClientCertificates;
  if (options.client_certificates == Wanted::ignored) return {};
  const std::string& file = options.ca_file;
  if (file.empty())
    return base::fail(base::ErrorCode::config, "TLS with client certificates needs the CA's certificate");
  SIBYL_ASSIGN(Material material, read_material(file, options.ca_password));
  if (material.certificate) material.others.push_back(std::move(material.certificate));
  if (material.others.empty()) return base::fail(refused(file, "it holds no certificate"));
  for (const Certificate& authority : material.others) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(context, authority.get()) != 1)
      return base::fail(refused(file, last_reason()));
  }
  const int must = options.client_certificates == Wanted::required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | must, nullptr);
  return {};
}

base::Status use_protocols(SSL_CTX* context, const TlsOptions& options) {
  bool two = options.protocols.empty(), three = two;
  for (const std::string& name : options.protocols) {
    if (name == "TLS") {
      two = three = true;
    } else if (name == "TLSv1.2") {
      two = true;
    } else if (name == "TLSv1.3") {
      three = true;
    } else {
      return base::fail(base::ErrorCode::config,
                        fmt::format("TLS protocol '{}' is not supported: TLSv1.2 and TLSv1.3 are", name));
    }
  }
  SSL_CTX_set_min_proto_version(context, two ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context, three ? TLS1_3_VERSION : TLS1_2_VERSION);
  return {};
}

// OpenSSL sets the suites of TLS 1.3 with a function of its own. If none is given for a protocol, OpenSSL's
// defaults stay.
base::Status use_cipher_suites(SSL_CTX* context, const TlsOptions& options) {
  std::string older, newer;
  for (const std::string& name : options.cipher_suites) {
    const bool is_newer = name.starts_with("TLS_") && name.find("_WITH_") == std::string::npos;
    std::string& list = is_newer ? newer : older;
    const std::string known = OPENSSL_cipher_name(name.c_str());
    if (!list.empty()) list += ':';
    list += is_newer || known == "(NONE)" ? name : known;
  }
  if ((!older.empty() && SSL_CTX_set_cipher_list(context, older.c_str()) != 1) ||
      (!newer.empty() && SSL_CTX_set_ciphersuites(context, newer.c_str()) != 1)) {
    return base::fail(base::ErrorCode::config,
                      fmt::format("None of the TLS cipher suites can be used: {}", last_reason()));
  }
  return {};
}

}  // namespace

base::Result<std::shared_ptr<const TlsContext>> TlsContext::load(const TlsOptions& options) {
  ERR_clear_error();
  SSL_CTX* made = SSL_CTX_new(TLS_server_method());
  if (made == nullptr) return base::fail(base::ErrorCode::server, "TLS: " + last_reason());
  const std::shared_ptr<const TlsContext> context(new TlsContext(made));
  SSL_CTX_set_mode(
      made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(made, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_TICKET |
                                SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(made, 0);
  SIBYL_TRY(use_certificate(made, options));
  SIBYL_TRY(use_authority(made, options));
  SIBYL_TRY(use_protocols(made, options));
  SIBYL_TRY(use_cipher_suites(made, options));
  return context;
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

std::string TlsContext::description() const {
  X509* certificate = SSL_CTX_get0_certificate(context_);
  const Bio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  BIO_puts(bio.get(), ", valid until ");
  ASN1_TIME_print(bio.get(), X509_get0_notAfter(certificate));
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) BIO_puts(bio.get(), ": EXPIRED");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<size_t>(size)};
}

base::Result<std::unique_ptr<TlsContexts>> TlsContexts::open(const TlsOptions& options,
                                                             std::chrono::milliseconds check_interval) {
  // OpenSSL writes to sockets without MSG_NOSIGNAL, so a write to a closed connection would raise SIGPIPE.
  std::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<TlsContexts> contexts(new TlsContexts(options, check_interval));
  SIBYL_TRY(contexts->reload());
  return contexts;
}

base::Status TlsContexts::load_locked() {
  fingerprint_ = fingerprint();
  checked_ = std::chrono::steady_clock::now();
  SIBYL_ASSIGN(context_, TlsContext::load(options_));
  spdlog::info("TLS: certificate {}", context_->description());
  return {};
}

base::Status TlsContexts::reload() {
  const base::MutexLock lock(mutex_);
  return load_locked();
}

std::shared_ptr<const TlsContext> TlsContexts::current() {
  const base::MutexLock lock(mutex_);
  if (std::chrono::steady_clock::now() - checked_ >= check_interval_) {
    checked_ = std::chrono::steady_clock::now();
    if (fingerprint() != fingerprint_) {
      if (const auto loaded = load_locked(); !loaded)
        spdlog::error("{}; the previous certificate stays in use", loaded.error().text());
    }
  }
  return context_;
}

std::string TlsContexts::fingerprint() const {
  std::string text;
  for (const std::string* file : {&options_.certificate_file, &options_.key_file, &options_.ca_file}) {
    struct stat status{};
    if (file->empty() || ::stat(file->c_str(), &status) != 0) {
      text += "-;";
    } else {
      text += fmt::format("{}.{}.{}.{};", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                          status.st_mtim.tv_nsec);
    }
  }
  return text;
}

}  // namespace sibyl::server
