// Writes a file's blocks, and reads them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "storage/objects/files/file_record.h"
#include "storage/objects/files/object_directory.h"

namespace sibyl::storage::objects {

// Appends to a file that its directory has recorded. Full blocks are written in the background. After an
// error the file is useless, except for the bytes that an earlier sync() wrote. Used by one thread at a time.
class BlockWriter {
 public:
  // `directory` must outlive the writer.
  BlockWriter(ObjectDirectory& directory, std::string id) : directory_(directory), id_(std::move(id)) {}
  ~BlockWriter();  // waits for blocks in flight
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  Reply append(base::BytesView data);
  // Waits until everything is durable.
  Reply sync();
  uint64_t size() const { return written_ + buffer_.size(); }

 private:
  // A part of one block, to be written at its offset. Writing it again changes nothing.
  struct Piece {
    uint64_t block = 0, offset = 0;
    base::Bytes data;
    bool creates = false;
  };
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t in_flight = 0;
    std::deque<std::pair<std::shared_ptr<Piece>, Reply>> failed;
  };

  void flush_buffer();
  void send(const std::shared_ptr<Piece>& piece);
  Reply wait_until(uint64_t max_in_flight);
  Reply retry(const std::shared_ptr<Piece>& piece, Reply reply);

  ObjectDirectory& directory_;
  const std::string id_;
  uint64_t written_ = 0;  // bytes that were submitted; the buffer has the rest, which is less than a block
  base::Bytes buffer_;
  Reply error_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

// Reads a complete file in the background, several blocks at once.
class BlockRead {
 public:
  // Starts the read. `store` must outlive this object.
  BlockRead(ObjectStore& store, FileRecord record, uint64_t offset, uint64_t length);
  // Waits for the read to finish. `data` ends at the end of the file.
  Reply finish(std::chrono::milliseconds patience, base::Bytes& data);

 private:
  struct Part {
    uint64_t block = 0;
    Read read;
    std::future<ReadReply> answer;
  };
  ObjectStore& store_;
  const FileRecord record_;
  uint64_t offset_ = 0, length_ = 0;
  std::vector<Part> parts_;
};

}  // namespace sibyl::storage::objects
