// Memory that frames are received into and parsed in place.
//
// Chunks are reference-counted. The connection holds one reference, and so does every request whose values
// point into the chunk. So values live until their request completes, without being copied. Used only on the
// reactor's thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <boost/smart_ptr/intrusive_ptr.hpp>

#include "base/bytes.h"

namespace sibyl::server {

class Chunk {
 public:
  explicit Chunk(size_t capacity) : owned_(new char[capacity]), data_(owned_.get()), capacity_(capacity) {}
  // Takes over `bytes`.
  explicit Chunk(base::Bytes bytes)
      : bytes_(std::move(bytes)), data_(bytes_.data()), capacity_(bytes_.size()) {}
  Chunk(const Chunk&) = delete;

  char* data() { return data_; }
  size_t capacity() const { return capacity_; }
  bool is_shared() const { return references_ > 1; }

  friend void intrusive_ptr_add_ref(Chunk* chunk) { ++chunk->references_; }
  friend void intrusive_ptr_release(Chunk* chunk) {
    if (--chunk->references_ == 0) delete chunk;
  }

 private:
  std::unique_ptr<char[]> owned_;
  base::Bytes bytes_;
  char* data_;
  size_t capacity_;
  uint32_t references_ = 0;
};

using ChunkPtr = boost::intrusive_ptr<Chunk>;

class ReceiveBuffer {
 public:
  // The bytes that were received and not yet consumed.
  std::string_view unread() const {
    return chunk_ ? std::string_view(chunk_->data() + begin_, end_ - begin_) : "";
  }
  const ChunkPtr& chunk() const { return chunk_; }
  void consume(size_t size) { begin_ += size; }

  // Makes room to receive more of a frame of `frame_size` bytes that starts at unread(). Memory grows with
  // the bytes received, not with the length that the client claims.
  void prepare(size_t frame_size) {
    const size_t held = end_ - begin_;
    const size_t needed = std::max(std::min(frame_size, 2 * held), held + smallest);
    if (chunk_ && !chunk_->is_shared()) compact(held, needed);
    if (chunk_ && begin_ + needed <= chunk_->capacity()) return;
    ChunkPtr fresh(new Chunk(std::max(needed, wanted_)));
    if (held > 0) std::memcpy(fresh->data(), chunk_->data() + begin_, held);
    chunk_ = std::move(fresh);
    begin_ = 0;
    end_ = held;
  }
  // True if the chunk is larger than unread().
  bool has_spare() const { return chunk_ && chunk_->capacity() > end_ - begin_; }
  // Releases the memory that unread() does not need.
  void shrink() {
    const size_t held = end_ - begin_;
    if (held == 0) return release();
    ChunkPtr fresh(new Chunk(held));
    std::memcpy(fresh->data(), chunk_->data() + begin_, held);
    release();
    chunk_ = std::move(fresh);
    end_ = held;
  }
  // Releases all memory. REQUIRES: unread() is empty.
  void release() {
    chunk_.reset();
    begin_ = end_ = 0;
    wanted_ = initial;
    small_reads_ = 0;
  }
  char* free_space() { return chunk_->data() + end_; }
  size_t free_size() const { return chunk_->capacity() - end_; }

  // Adds the `size` bytes that were written to free_space() to unread().
  void commit(size_t size) {
    // A read that fills the free space doubles the size of the next chunk. Many small reads in a row halve
    // it.
    if (size == free_size()) {
      wanted_ = std::min(2 * wanted_, largest);
      small_reads_ = 0;
    } else if (size < wanted_ / 8 && wanted_ > initial) {
      if (++small_reads_ == 32) {
        wanted_ = std::max(wanted_ / 2, initial);
        small_reads_ = 0;
      }
    } else {
      small_reads_ = 0;
    }
    end_ += size;
  }

 private:
  void compact(size_t held, size_t needed) {
    if (held == 0 && chunk_->capacity() != wanted_) {
      chunk_.reset();
    } else if (begin_ > 0 && (held == 0 || begin_ + needed > chunk_->capacity())) {
      std::memmove(chunk_->data(), chunk_->data() + begin_, held);
    } else {
      return;
    }
    begin_ = 0;
    end_ = held;
  }

  static constexpr size_t smallest = 512;
  static constexpr size_t initial = 4096;
  static constexpr size_t largest = 128u << 10;

  ChunkPtr chunk_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t wanted_ = initial;
  int small_reads_ = 0;
};

}  // namespace sibyl::server
