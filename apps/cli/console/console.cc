#include "cli/console/console.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <map>
#include <thread>

#include "base/contain.h"
#include "cli/console/activity_api.h"
#include "cli/console/advisor_api.h"
#include "cli/console/assets.h"
#include "cli/console/explain_api.h"
#include "cli/console/layout_api.h"
#include "cli/console/query_api.h"
#include "cli/console/schema_api.h"

namespace sibyl::cli::console {
namespace {

using server::HttpAnswer;
using server::HttpRequest;

constexpr std::string_view api = "/api/v1/";
constexpr int max_logins = 2;  // Passwords checked at the same time. Each check takes a core for about 0.1 s.

// Nothing may be loaded from elsewhere, no script may be inline, and no other page may embed this one.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

HttpAnswer secured(HttpAnswer answer) {
  answer.headers.insert(answer.headers.end(), {{"Content-Security-Policy", content_policy},
                                               {"Referrer-Policy", "no-referrer"},
                                               {"Cross-Origin-Opener-Policy", "same-origin"},
                                               {"Cross-Origin-Resource-Policy", "same-origin"}});
  return answer;
}

HttpAnswer json_answer(int status, const json::value& body) {
  return {status, "application/json; charset=utf-8", json::serialize(body), {{"Cache-Control", "no-store"}}};
}

HttpAnswer error_answer(int status, const base::Error& error) {
  return json_answer(status, error_json(error));
}

HttpAnswer refusal(int status, const char* message) {
  return error_answer(status, base::Error(base::ErrorCode::unauthorized, message));
}

int status_of(const base::Error& error) {
  switch (error.code()) {
    case base::ErrorCode::syntax:
    case base::ErrorCode::invalid:
    case base::ErrorCode::config:
    case base::ErrorCode::already_exists:
    case base::ErrorCode::function_failure:
    case base::ErrorCode::protocol:
      return 400;
    case base::ErrorCode::unauthorized:
    case base::ErrorCode::bad_credentials:
      return 403;
    case base::ErrorCode::overloaded:
    case base::ErrorCode::unavailable:
      return 503;
    default:
      return 500;
  }
}

// Browsers add Origin or Sec-Fetch-Site to requests of other sites' pages.
bool is_from_own_page(const HttpRequest& request) {
  const std::string_view site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") return false;
  std::string_view origin = request.header("origin");
  if (origin.empty()) return true;
  const size_t scheme = origin.find("://");
  return scheme != origin.npos && origin.substr(scheme + 3) == request.header("host");
}

HttpAnswer answer_file(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") return {405, "text/plain", "only GET and HEAD\n"};
  for (const Asset& asset : assets()) {
    if (asset.path != request.path) continue;
    HttpAnswer answer{200, std::string(asset.type)};
    answer.headers = {
        {"ETag", std::string(asset.etag)},
        {"Cache-Control", request.path == "/" ? "no-cache" : "public, max-age=31536000, immutable"}};
    if (request.header("if-none-match") == asset.etag) {
      answer.status = 304;
      return answer;
    }
    answer.headers.emplace_back("Content-Encoding", "gzip");
    answer.static_body = asset.gzip;
    return answer;
  }
  if (request.path == "/" && assets().empty())
    return {200, "text/plain; charset=utf-8",
            "This server was built without the console's page, because npm was not available.\n"
            "Its API is under /api/v1, and its metrics are at /metrics.\n"};
  return {404, "text/plain", "no such page; the console is at /, metrics are at /metrics\n"};
}

// Sets `body` to an empty object for a request without one.
base::Status parse_body(const HttpRequest& request, json::object& body) {
  if (request.body.empty()) return {};
  if (!request.header("content-type").starts_with("application/json"))
    return base::fail(base::ErrorCode::protocol, "The body must be JSON (Content-Type: application/json)");
  boost::system::error_code problem;
  json::value value = json::parse(request.body, problem);
  if (problem || !value.is_object())
    return base::fail(base::ErrorCode::protocol, "The body is not a JSON object");
  body = std::move(value.as_object());
  return {};
}

using Endpoint = Answer (*)(const Call&);
const std::map<std::string, Endpoint, std::less<>>& endpoints() {
  static const std::map<std::string, Endpoint, std::less<>> all = {
      {"POST query", run_query},
      {"POST cancel", cancel_query},
      {"POST explain", explain_script},
      {"GET schema", list_schema},
      {"GET describe", describe_object},
      {"GET table", show_table},
      {"GET layout", show_layout},
      {"GET advisor", review_live},
      {"POST review", review_text},
      {"POST design", design_text},
      {"GET activity", show_activity},
      {"GET settings", list_settings},
      {"GET cluster", show_cluster},
      {"POST snapshots", take_snapshot},
      {"POST snapshots/verify", verify_snapshot},
  };
  return all;
}

}  // namespace

Console::Console(engine::Engine& engine, Settings settings)
    : engine_(engine),
      settings_(std::move(settings)),
      sessions_(engine.authenticator().options().authenticator != auth::Authenticator::allow_all),
      overview_(engine, settings_.data) {}

Console::~Console() = default;

void Console::attach(const engine::Monitor& monitor, const Place& place) {
  const std::string port = place.http_address.substr(place.http_address.rfind(':') + 1);
  is_encrypted_ = place.is_encrypted;
  port_ = static_cast<uint16_t>(std::strtoul(port.c_str(), nullptr, 10));
  overview_.start(monitor);
}

void Console::detach() {
  overview_.stop();
}

void Console::handle(HttpRequest request, Done done) {
  if (!request.path.starts_with("/api/")) return done(secured(answer_file(request)));
  auto shared = std::make_shared<std::pair<HttpRequest, Done>>(std::move(request), std::move(done));
  const bool is_taken = workers_.submit([this, shared] {
    base::Result<HttpAnswer> answer = base::contain([&] { return answer_api(shared->first); });
    if (!answer) spdlog::error("the console cannot answer: {}", answer.error().message());
    shared->second(secured(answer ? std::move(*answer) : error_answer(500, answer.error())));
  });
  if (!is_taken)
    shared->second(secured(error_answer(
        503, base::Error(base::ErrorCode::overloaded, "The console has too many requests to answer"))));
}

HttpAnswer Console::answer_api(const HttpRequest& request) {
  if (!is_from_own_page(request)) return refusal(403, "The request comes from another site");
  if (request.path == "/api/v1/session") return answer_session(request);
  const std::optional<ConsoleSession> session = session_of(request);
  if (!session) return refusal(401, "Log in first");
  if (!is_same_secret(request.header("x-sibyl-csrf"), session->csrf))
    return refusal(403, "The request has no valid X-Sibyl-CSRF header");
  return run(request, *session);
}

std::optional<ConsoleSession> Console::session_of(const HttpRequest& request) {
  return sessions_.find(find_cookie(request.header("cookie"), cookie_name()), Sessions::Clock::now());
}

// Cookies do not distinguish ports, so two servers on one machine need different names.
std::string Console::cookie_name() const {
  return fmt::format("sibyl_session_{}", port_.load());
}

std::string Console::cookie(const std::string& value) const {
  return fmt::format("{}={}; Path=/api; HttpOnly; SameSite=Strict{}{}", cookie_name(), value,
                     is_encrypted_ ? "; Secure" : "", value.empty() ? "; Max-Age=0" : "");
}

HttpAnswer Console::session_answer(const std::optional<ConsoleSession>& session) const {
  json::object body{{"login_required", sessions_.needs_login()},
                    {"version", SIBYL_VERSION},
                    {"cassandra", engine::release_version},
                    {"read_only", settings_.read_only},
                    {"cluster", static_cast<bool>(settings_.show_cluster)},
                    {"role", nullptr},
                    {"csrf", nullptr}};
  if (session) body["csrf"] = session->csrf;
  if (session && session->login != nullptr) body["role"] = session->login->role;
  return json_answer(200, body);
}

HttpAnswer Console::answer_session(const HttpRequest& request) {
  if (request.method == "GET") return session_answer(session_of(request));
  if (request.method == "POST") return log_in(request);
  if (request.method != "DELETE") return refusal(405, "Use GET, POST or DELETE");
  const std::optional<ConsoleSession> session = session_of(request);
  if (session && !is_same_secret(request.header("x-sibyl-csrf"), session->csrf))
    return refusal(403, "The request has no valid X-Sibyl-CSRF header");
  if (session) sessions_.end(session->id);
  HttpAnswer answer = session_answer(std::nullopt);
  answer.headers.emplace_back("Set-Cookie", cookie(""));
  return answer;
}

HttpAnswer Console::log_in(const HttpRequest& request) {
  json::object body;
  if (const base::Status parsed = parse_body(request, body); !parsed)
    return error_answer(400, parsed.error());
  if (!sessions_.needs_login()) return session_answer(session_of(request));
  const auto text = [&](const char* name) {
    const json::value* value = body.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  const base::Result<const auth::Login*> login =
      check_password(text("role"), text("password"), request.address);
  if (!login) return error_answer(status_of(login.error()), login.error());
  if (const auto old = session_of(request)) sessions_.end(old->id);
  const ConsoleSession session = sessions_.begin(**login, Sessions::Clock::now());
  HttpAnswer answer = session_answer(session);
  answer.headers.emplace_back("Set-Cookie", cookie(session.id));
  return answer;
}

base::Result<const auth::Login*> Console::check_password(const std::string& role, const std::string& password,
                                                         const std::string& address) {
  struct Count {
    std::atomic<int>& count;
    ~Count() { --count; }
  };
  const int others = logins_++;
  const Count counted{logins_};
  const auto turn =
      others < max_logins ? attempts_.take_turn(address, role, auth::Attempts::Clock::now()) : std::nullopt;
  if (!turn) return base::fail(base::ErrorCode::overloaded, "Too many attempts to log in; try again later");
  std::this_thread::sleep_for(turn->wait);
  base::Result<const auth::Login*> login = engine_.authenticator().log_in(role, password);
  if (login) {
    attempts_.record_success(address, role, auth::Attempts::Clock::now());
  } else {
    attempts_.record_failure(address, role, auth::Attempts::Clock::now());
    spdlog::warn("refused a login to the console role={} client={}", role, address);
  }
  return login;
}

HttpAnswer Console::run(const HttpRequest& request, const ConsoleSession& session) {
  const Answer answer = call(request, session);
  return answer ? json_answer(200, *answer) : error_answer(status_of(answer.error()), answer.error());
}

Answer Console::call(const HttpRequest& request, const ConsoleSession& session) {
  json::object body;
  SIBYL_TRY(parse_body(request, body));
  const Call call{engine_, settings_, running_, session, request, body};
  const std::string name =
      request.method + " " + request.path.substr(std::min(api.size(), request.path.size()));
  if (name == "GET overview") return overview_.show(call);
  const auto endpoint = endpoints().find(name);
  if (!request.path.starts_with(api) || endpoint == endpoints().end())
    return base::invalid(fmt::format("There is no {} {}", request.method, request.path));
  return endpoint->second(call);
}

}  // namespace sibyl::cli::console
