# Benchmarks that compare with other databases. Not built by default: benchmarks/embedded builds and runs it.
find_package(SQLite3 QUIET)
if(SQLite3_FOUND)
  add_executable(embedded_benchmark EXCLUDE_FROM_ALL benchmarks/embedded.cc)
  target_include_directories(embedded_benchmark PRIVATE include)
  target_link_libraries(embedded_benchmark PRIVATE sibyl_engine SQLite::SQLite3 RocksDB::rocksdb)
endif()
