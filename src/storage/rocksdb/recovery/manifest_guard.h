// Detects a truncated, changed or replaced MANIFEST before RocksDB opens the store.
//
// RocksDB trusts the MANIFEST: it ignores an incomplete end and deletes every table file that the MANIFEST
// does not list. Therefore SIBYL_MANIFEST, outside of RocksDB's directory, records the number and size of the
// MANIFEST on the device and its checksum. This implies the list of files, their sizes and checksums, and the
// last sequence number.
//
// The order of writes makes the record a lower bound of what is on the device at any moment:
//
//   1. RocksDB syncs table files, appends an edit to the MANIFEST and syncs it.
//   2. synced() writes and syncs the record before RocksDB's sync returns. Only afterwards does RocksDB
//      delete files that the edit made obsolete, and does the commit log drop groups that are in the edit's
//      files.
//   3. When RocksDB begins a new MANIFEST, switching() makes the record accept both. CURRENT is renamed and
//      its directory synced. Then switched() makes the record accept only the new one.
//
// If a MANIFEST has more bytes than recorded, a process ended between steps 1 and 2.
//
// SIBYL_MANIFEST has two lines (mark_file.h), "sibyl manifest GENERATION MANIFESTS CRC". MANIFESTS are one or
// two entries, separated by a comma, each "NUMBER SIZE CRC FILES FILES_CRC SEQUENCE": CRC is CRC-32C of the
// first SIZE bytes, FILES the number of table files that they list, FILES_CRC the CRC-32C of the files'
// numbers and sizes, SEQUENCE the last sequence number. Number 0: there is no MANIFEST yet. Size 0: the store
// had no record before.
//
// Thread-safe, except check().
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/rocksdb/disk.h"
#include "storage/rocksdb/recoverable_files.h"
#include "storage/rocksdb/recovery/manifest_reader.h"
#include "storage/rocksdb/recovery/mark_file.h"

namespace sibyl::storage::rocksdb {

struct ManifestEntry {
  uint64_t number = 0;
  uint64_t size = 0;
  uint32_t crc = 0;
  uint64_t files = 0;
  uint32_t files_crc = 0;
  uint64_t last_sequence = 0;
};

class ManifestGuard final : public ManifestObserver {
 public:
  // `path` is the store's directory. Borrows the disk, which must outlive this object.
  explicit ManifestGuard(const std::string& path, Disk& disk = Disk::real());

  // Compares RocksDB's files with the record. Changes nothing. The error describes what is missing and what
  // to do. A store without a record is accepted if all table files listed in its MANIFEST exist.
  base::Status check();
  // Records the MANIFEST named by CURRENT, for a directory that was filled from elsewhere.
  base::Status record_current();

  // The entries that check() read; empty if there is no record.
  const std::vector<ManifestEntry>& entries() const { return entries_; }
  // True if check() found the MANIFEST as recorded, even if it failed for another reason.
  bool manifest_is_intact() const { return manifest_is_intact_; }

  void begun(uint64_t manifest) override;
  void appended(uint64_t manifest, base::BytesView bytes) override;
  int synced(uint64_t manifest) override;
  int switching(uint64_t manifest) override;
  int switched(uint64_t manifest) override;

 private:
  struct Written {
    uint64_t size = 0;
    uint32_t crc = 0;
    ManifestReader reader;
  };

  base::Status read_record();
  base::Status check_manifest(uint64_t number, const base::Bytes& bytes) const;
  base::Status check_tables(const ManifestReader& reader) const;
  std::string unlisted(const ManifestReader& reader) const;
  base::Error refusal(const std::string& why) const;
  ManifestEntry entry_of(uint64_t manifest) const;
  int write_record();
  int keep_current_entry();
  int sync_records_directory() const;

  const std::string path_, records_;
  Disk* disk_;
  mutable std::mutex mutex_;
  MarkFile file_;                        // guarded by mutex_, like all members below
  std::vector<ManifestEntry> entries_;   // the entries as recorded; CURRENT names one of them
  std::map<uint64_t, Written> written_;  // by this process
  bool manifest_is_intact_ = false;
};

// Returns the number of the MANIFEST named by CURRENT, nullopt if there is no CURRENT, 0 if CURRENT is
// malformed.
std::optional<uint64_t> current_manifest(const std::string& records);
std::string manifest_name(uint64_t number);
// Numbers and sizes of the table files in the directory.
std::map<uint64_t, uint64_t> table_files_in(const std::string& records);

}  // namespace sibyl::storage::rocksdb
