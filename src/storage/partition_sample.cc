#include "storage/partition_sample.h"

#include <algorithm>
#include <cmath>

#include "row/record_key.h"

namespace sibyl::storage {
namespace {

// This mapping is one to one, and its results are evenly distributed even if tokens are not (MurmurHash3's
// finalizer).
uint64_t hash_of(int64_t token) {
  auto value = static_cast<uint64_t>(token);
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdu;
  value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53u;
  return value ^ (value >> 33);
}

uint64_t divided(uint64_t value, double share) {
  return static_cast<uint64_t>(std::llround(static_cast<double>(value) / share));
}

// Returns the smallest value v such that at least `share` of the sorted values are <= v.
uint64_t quantile(const std::vector<uint64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto wanted = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<size_t>(wanted, 1, sorted.size()) - 1];
}

PartitionSample::Summary::Quantiles quantiles(std::vector<uint64_t> values, uint64_t max) {
  std::sort(values.begin(), values.end());
  PartitionSample::Summary::Quantiles out{quantile(values, 0.5), quantile(values, 0.9),
                                          quantile(values, 0.99), max};
  if (!values.empty()) out.max = std::max(max, values.back());
  return out;
}

}  // namespace

void PartitionSample::combine_runs(std::vector<Run>& runs, size_t max_runs, uint64_t& bound) {
  std::erase_if(runs, [&](const Run& run) { return run.hash >= bound; });
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.hash < b.hash; });
  size_t kept = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (kept > 0 && runs[kept - 1].hash == runs[i].hash) {
      runs[kept - 1].runs += runs[i].runs;
      runs[kept - 1].size.rows += runs[i].size.rows;
      runs[kept - 1].size.bytes += runs[i].size.bytes;
    } else {
      runs[kept++] = runs[i];
    }
  }
  runs.resize(kept);
  if (kept <= max_runs) return;
  bound = runs[max_runs].hash;
  runs.resize(max_runs);
}

void PartitionSample::keep_largest(std::vector<Run>& runs, size_t max_runs) {
  if (runs.size() <= max_runs) return;
  std::nth_element(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(max_runs), runs.end(),
                   [](const Run& a, const Run& b) {
                     return a.size.bytes != b.size.bytes ? a.size.bytes > b.size.bytes : a.hash < b.hash;
                   });
  runs.resize(max_runs);
}

void PartitionSample::add(int64_t token, const PartitionSize& size) {
  ++runs_;
  all_.rows += size.rows;
  all_.bytes += size.bytes;
  largest_run_.rows = std::max(largest_run_.rows, size.rows);
  largest_run_.bytes = std::max(largest_run_.bytes, size.bytes);
  const Run run{hash_of(token), 1, size};
  largest_.push_back(run);
  if (largest_.size() >= 4 * largest_by_piece) keep_largest(largest_, largest_by_piece);
  if (run.hash >= bound_) return;
  listed_.push_back(run);
  if (listed_.size() >= 2 * max_listed_) combine_runs(listed_, max_listed_, bound_);
}

void PartitionSample::merge(const PartitionSample& other) {
  runs_ += other.runs_;
  all_.rows += other.all_.rows;
  all_.bytes += other.all_.bytes;
  largest_run_.rows = std::max(largest_run_.rows, other.largest_run_.rows);
  largest_run_.bytes = std::max(largest_run_.bytes, other.largest_run_.bytes);
  is_whole_ = is_whole_ && other.is_whole_;
  bound_ = std::min(bound_, other.bound_);
  for (const Run& run : other.listed_)
    if (run.hash < bound_) listed_.push_back(run);
  if (listed_.size() >= 2 * max_listed_) combine_runs(listed_, max_listed_, bound_);
  largest_.insert(largest_.end(), other.largest_.begin(), other.largest_.end());
}

void PartitionSample::set_share(double share, double share_of_partitions) {
  if (share >= 1 || share <= 0) return;
  runs_ = divided(runs_, share_of_partitions);
  all_.rows = divided(all_.rows, share);
  all_.bytes = divided(all_.bytes, share);
  is_whole_ = false;
}

uint64_t PartitionSample::estimate_partitions(const std::vector<Run>& sample, uint64_t bound) const {
  if (is_whole_ && bound == std::numeric_limits<uint64_t>::max()) return sample.size();
  uint64_t runs = 0;
  for (const Run& run : sample) runs += run.runs;
  if (runs == 0) return runs_;
  return divided(runs_, static_cast<double>(runs) / static_cast<double>(sample.size()));
}

PartitionSample::Summary PartitionSample::summary() const {
  std::vector<Run> sample = listed_;
  uint64_t bound = bound_;
  combine_runs(sample, max_listed_, bound);
  Summary out;
  out.partitions = estimate_partitions(sample, bound);
  out.rows = all_.rows;
  out.bytes = all_.bytes;
  PartitionSize largest = largest_run_;
  std::vector<Run> heavy = largest_;
  uint64_t no_bound = std::numeric_limits<uint64_t>::max();
  combine_runs(heavy, heavy.size(), no_bound);
  for (const Run& run : heavy) {
    largest.rows = std::max(largest.rows, run.size.rows);
    largest.bytes = std::max(largest.bytes, run.size.bytes);
  }
  std::vector<uint64_t> rows, bytes;
  for (const Run& run : sample) {
    rows.push_back(run.size.rows);
    bytes.push_back(run.size.bytes);
  }
  out.partition_rows = quantiles(std::move(rows), largest.rows);
  out.partition_bytes = quantiles(std::move(bytes), largest.bytes);
  return out;
}

void PartitionSample::append_to(Bytes& out) const {
  std::vector<Run> listed = listed_, largest = largest_;
  uint64_t bound = bound_;
  combine_runs(listed, max_listed_, bound);
  keep_largest(largest, largest_by_piece);
  for (const uint64_t number : {runs_, all_.rows, all_.bytes, largest_run_.rows, largest_run_.bytes})
    base::append_varint(out, number);
  base::append_big_endian(out, bound);
  for (const std::vector<Run>* runs : {&listed, &largest}) {
    base::append_varint(out, runs->size());
    for (const Run& run : *runs) {
      base::append_big_endian(out, run.hash);
      base::append_varint(out, run.size.rows);
      base::append_varint(out, run.size.bytes);
    }
  }
}

bool PartitionSample::read_from(base::Reader& in) {
  *this = PartitionSample(max_listed_);
  for (uint64_t* number : {&runs_, &all_.rows, &all_.bytes, &largest_run_.rows, &largest_run_.bytes})
    if (!in.varint(*number)) return false;
  if (!in.big_endian(bound_)) return false;
  for (std::vector<Run>* runs : {&listed_, &largest_}) {
    uint64_t size = 0;
    if (!in.varint(size) || size > in.rest().size()) return false;
    runs->resize(size);
    for (Run& run : *runs)
      if (!in.big_endian(run.hash) || !in.varint(run.size.rows) || !in.varint(run.size.bytes)) return false;
  }
  return true;
}

void PartitionSample::append_merged_to(Bytes& out) const {
  for (const uint64_t number : {uint64_t{max_listed_}, runs_, all_.rows, all_.bytes, largest_run_.rows,
                                largest_run_.bytes, uint64_t{is_whole_}})
    base::append_varint(out, number);
  base::append_big_endian(out, bound_);
  for (const std::vector<Run>* runs : {&listed_, &largest_}) {
    base::append_varint(out, runs->size());
    for (const Run& run : *runs) {
      base::append_big_endian(out, run.hash);
      for (const uint64_t number : {run.runs, run.size.rows, run.size.bytes})
        base::append_varint(out, number);
    }
  }
}

bool PartitionSample::read_merged_from(base::Reader& in) {
  uint64_t max_listed = 0, is_whole = 0;
  if (!in.varint(max_listed) || max_listed > listed_in_all) return false;
  *this = PartitionSample(max_listed);
  for (uint64_t* number :
       {&runs_, &all_.rows, &all_.bytes, &largest_run_.rows, &largest_run_.bytes, &is_whole})
    if (!in.varint(*number)) return false;
  if (is_whole > 1 || !in.big_endian(bound_)) return false;
  is_whole_ = is_whole == 1;
  for (std::vector<Run>* runs : {&listed_, &largest_}) {
    uint64_t size = 0;
    if (!in.varint(size) || size > in.rest().size()) return false;
    runs->resize(size);
    for (Run& run : *runs)
      if (!in.big_endian(run.hash) || !in.varint(run.runs) || !in.varint(run.size.rows) ||
          !in.varint(run.size.bytes))
        return false;
  }
  return true;
}

void PartitionCounter::add(BytesView key, size_t value_size) {
  row::RecordKey parsed;
  if (!row::parse_record_key(key, parsed)) return;
  const BytesView partition = parsed.prefix(key);
  const bool is_same =
      partition == BytesView(last_key_).substr(0, prefix_size_) && partition.size() == prefix_size_;
  if (!is_same) {
    finish();
    prefix_size_ = partition.size();
    table_id_ = parsed.table_id;
    token_ = parsed.token;
  }
  if (parsed.kind == row::RecordKind::row && !(is_same && key == last_key_)) ++size_.rows;
  size_.bytes += key.size() + value_size;
  last_key_.assign(key);
}

void PartitionCounter::finish() {
  if (size_.bytes > 0) samples_[table_id_].add(token_, size_);
  size_ = {};
  prefix_size_ = 0;
  last_key_.clear();
}

}  // namespace sibyl::storage
