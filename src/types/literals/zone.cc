#include "types/literals/zone.h"

#include <unicode/basictz.h>
#include <unicode/timezone.h>
#include <unicode/tzfmt.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

namespace sibyl::types {
namespace {

struct Abbreviation {
  std::string_view name, region;
};
// Sorted by name.
constexpr Abbreviation abbreviations[] = {
    {"ADT", "America/Halifax"},     {"AEDT", "Australia/Sydney"},    {"AEST", "Australia/Sydney"},
    {"AKDT", "America/Anchorage"},  {"AKST", "America/Anchorage"},   {"AST", "America/Halifax"},
    {"AWST", "Australia/Perth"},    {"CAT", "Africa/Maputo"},        {"CDT", "America/Chicago"},
    {"CEST", "Europe/Paris"},       {"CET", "Europe/Paris"},         {"CST", "America/Chicago"},
    {"ChST", "Pacific/Guam"},       {"EAT", "Africa/Nairobi"},       {"EDT", "America/New_York"},
    {"EEST", "Europe/Bucharest"},   {"EET", "Europe/Bucharest"},     {"EST", "America/New_York"},
    {"HDT", "Pacific/Honolulu"},    {"HKT", "Asia/Hong_Kong"},       {"HST", "Pacific/Honolulu"},
    {"JST", "Asia/Tokyo"},          {"KST", "Asia/Seoul"},           {"MDT", "America/Denver"},
    {"MEST", "Europe/Paris"},       {"MSK", "Europe/Moscow"},        {"MST", "America/Denver"},
    {"NDT", "America/St_Johns"},    {"NST", "America/St_Johns"},     {"NZDT", "Pacific/Auckland"},
    {"NZST", "Pacific/Auckland"},   {"PDT", "America/Los_Angeles"},  {"PKT", "Asia/Karachi"},
    {"PST", "America/Los_Angeles"}, {"SAST", "Africa/Johannesburg"}, {"SGT", "Asia/Singapore"},
    {"SST", "Pacific/Pago_Pago"},   {"WAT", "Africa/Lagos"},         {"WEST", "Europe/Lisbon"},
    {"WET", "Europe/Lisbon"},       {"WIB", "Asia/Jakarta"},         {"WIT", "Asia/Jayapura"},
    {"WITA", "Asia/Makassar"},
};
static_assert(std::is_sorted(std::begin(abbreviations), std::end(abbreviations),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

// Names whose zone differs between countries, or between versions and locales of Java. Sorted.
constexpr std::string_view ambiguous_names[] = {"ACDT", "ACST", "ACT", "ADST", "AMST", "AMT",
                                                "ART",  "BDT",  "BST", "ECT",  "GST",  "IDT",
                                                "IST",  "MMT",  "MT",  "PYT",  "WST"};
static_assert(std::is_sorted(std::begin(ambiguous_names), std::end(ambiguous_names)));

icu::UnicodeString to_unicode(std::string_view text) {
  return icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
}

std::unique_ptr<icu::TimeZone> by_region(std::string_view name) {
  // Java does not accept Etc/GMT+1. In other libraries, its sign means the opposite of what one would expect.
  if (name.starts_with("Etc/GMT") && name.size() > 7) return nullptr;
  const icu::UnicodeString id = to_unicode(name);
  UErrorCode status = U_ZERO_ERROR;
  icu::UnicodeString canonical;
  UBool is_region = 0;
  icu::TimeZone::getCanonicalID(id, canonical, is_region, status);
  if (U_FAILURE(status) || !is_region) return nullptr;
  std::unique_ptr<icu::TimeZone> zone(icu::TimeZone::createTimeZone(id));
  return *zone == icu::TimeZone::getUnknown() ? nullptr : std::move(zone);
}

std::unique_ptr<icu::TimeZone> by_english_name(std::string_view name) {
  static const std::unique_ptr<const icu::TimeZoneFormat> format = [] {
    UErrorCode status = U_ZERO_ERROR;
    return std::unique_ptr<const icu::TimeZoneFormat>(
        icu::TimeZoneFormat::createInstance(icu::Locale::getUS(), status));
  }();
  if (format == nullptr) return nullptr;
  const icu::UnicodeString text = to_unicode(name);
  for (const UTimeZoneFormatStyle style : {UTZFMT_STYLE_SPECIFIC_LONG, UTZFMT_STYLE_GENERIC_LONG}) {
    icu::ParsePosition position(0);
    std::unique_ptr<icu::TimeZone> zone(format->parse(style, text, position));
    if (zone != nullptr && position.getIndex() == text.length()) return zone;
  }
  return nullptr;
}

std::unique_ptr<icu::TimeZone> find_zone(std::string_view name) {
  const auto* found = std::lower_bound(std::begin(abbreviations), std::end(abbreviations), name,
                                       [](const Abbreviation& a, std::string_view b) { return a.name < b; });
  if (found != std::end(abbreviations) && found->name == name) return by_region(found->region);
  if (std::unique_ptr<icu::TimeZone> zone = by_region(name)) return zone;
  const bool may_be_english = name.find(' ') != std::string_view::npos;
  return may_be_english ? by_english_name(name) : nullptr;
}

// Found zones are cached, because finding one by its English name takes milliseconds. The size is bounded by
// the number of names.
class ZoneCache {
 public:
  const icu::BasicTimeZone* get(std::string_view name) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = zones_.find(name); found != zones_.end()) return found->second.get();
    }
    std::unique_ptr<icu::TimeZone> zone = find_zone(name);
    if (dynamic_cast<icu::BasicTimeZone*>(zone.get()) == nullptr) return nullptr;
    const std::unique_lock lock(mutex_);
    auto& kept = zones_[std::string(name)];
    if (!kept) kept.reset(static_cast<icu::BasicTimeZone*>(zone.release()));
    return kept.get();
  }

 private:
  std::shared_mutex mutex_;
  std::map<std::string, std::unique_ptr<icu::BasicTimeZone>, std::less<>> zones_;
};

}  // namespace

ZoneOffset zone_offset(std::string_view name, int64_t local_millis) {
  constexpr size_t longest_name = 64;
  if (name.empty() || name.size() > longest_name) return {};
  if (std::binary_search(std::begin(ambiguous_names), std::end(ambiguous_names), name))
    return {std::nullopt, ZoneFailure::ambiguous};
  static ZoneCache cache;
  const icu::BasicTimeZone* zone = cache.get(name);
  if (zone == nullptr) return {};
  int32_t raw_offset = 0;
  int32_t dst_offset = 0;
  UErrorCode status = U_ZERO_ERROR;
  zone->getOffsetFromLocal(static_cast<UDate>(local_millis), UCAL_TZ_LOCAL_FORMER, UCAL_TZ_LOCAL_FORMER,
                           raw_offset, dst_offset, status);
  if (U_FAILURE(status)) return {};
  return {(raw_offset + dst_offset) / 1000, ZoneFailure::unknown};
}

}  // namespace sibyl::types
