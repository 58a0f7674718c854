#include "storage/rocksdb/messages.h"

#include <spdlog/spdlog.h>

#include <array>
#include <cstdarg>
#include <cstdio>

#include "base/log_limit.h"

namespace sibyl::storage::rocksdb {
namespace {

class Messages final : public ::rocksdb::Logger {
 public:
  Messages() : Logger(::rocksdb::InfoLogLevel::WARN_LEVEL) {}

  using ::rocksdb::Logger::Logv;
  void Logv(const char* format, va_list values) override {
    const auto suppressed = limit_.admit(std::chrono::steady_clock::now());
    if (!suppressed) return;
    std::array<char, 1024> line{};
    std::vsnprintf(line.data(), line.size(), format, values);
    spdlog::warn("records: {}{}", line.data(),
                 *suppressed > 0 ? fmt::format(" ({} more suppressed)", *suppressed) : std::string());
  }

 private:
  base::LogLimit limit_{1};
};

}  // namespace

std::shared_ptr<::rocksdb::Logger> make_messages() {
  return std::make_shared<Messages>();
}

}  // namespace sibyl::storage::rocksdb
