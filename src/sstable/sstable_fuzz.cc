// Passes arbitrary bytes to the readers of Statistics.db, CompressionInfo.db and Data.db.
//
// The first byte chooses what the rest is: a statistics file, a compression file, a compressed chunk, or the
// data of a table with a fixed header, in the old or the new encoding of times.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/check.h"
#include "sstable/chunks.h"
#include "sstable/data_reader.h"
#include "sstable/statistics.h"
#include "sstable/test_files.h"

namespace {

using namespace sibyl;
using namespace sibyl::sstable;

void read_all(base::BytesView data, const char* version, base::BytesView info) {
  Files files{"/x", std::string(version) + "-1-big", version, "big"};
  auto reader =
      DataReader::make(files, std::make_unique<MemoryFile>(base::Bytes(data)), sample_statistics(), info, "");
  while (reader) {
    const auto partition = (*reader)->next_partition();
    if (!partition || !*partition) return;
    while (true) {
      const auto item = (*reader)->next_item();
      if (!item) return;
      if (item->kind == Item::Kind::end) break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const base::BytesView rest(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  base::Bytes out;
  switch (bytes[0] % 8) {
    case 0:
      (void)parse_statistics(rest, "Statistics.db");
      break;
    case 1:
      (void)parse_compression_info(rest, "CompressionInfo.db");
      break;
    case 2:
    case 3:
    case 4:
    case 5:
      (void)decompress(static_cast<Compressor>(bytes[0] % 8 - 1), rest, 1000, out);
      break;
    case 6:
      read_all(rest, "nb", "");
      break;
    default:
      read_all(rest, "oa", "");
      break;
  }
  return 0;
}
