# Precompiled headers: a clean build spends most of its time parsing headers of the standard library, fmt, GoogleTest
# and Asio.
#
# Only headers from outside the project are precompiled, so a change to one of the project's own headers rebuilds only
# the files that include it. Each set is compiled once per build directory and shared by all targets that name it.
option(SIBYL_PRECOMPILE "Precompile headers of libraries" ON)

set(precompiled_library <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <deque> <expected>
    <functional> <future> <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <tuple>
    <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h>)
set(precompiled_rocksdb ${precompiled_library} <rocksdb/db.h> <rocksdb/options.h> <rocksdb/table.h> <spdlog/spdlog.h>)
set(precompiled_network ${precompiled_library} <boost/asio/io_context.hpp> <boost/asio/ip/tcp.hpp> <boost/asio/post.hpp>
    <boost/asio/read.hpp> <boost/asio/steady_timer.hpp> <boost/asio/write.hpp> <spdlog/spdlog.h>)
set(precompiled_command ${precompiled_network} <CLI/CLI.hpp> <boost/json.hpp>)
set(precompiled_test ${precompiled_library} <gmock/gmock.h> <gtest/gtest.h> <rapidcheck.h> <rapidcheck/gtest.h>)

# Libraries whose compile definitions the headers of a set depend on.
set(precompiled_rocksdb_links spdlog::spdlog)
set(precompiled_network_links spdlog::spdlog Boost::json)
set(precompiled_command_links spdlog::spdlog Boost::json CLI11::CLI11)
set(precompiled_test_links GTest::gmock RapidCheck::rapidcheck)

# sibyl_precompile(TARGET SET): compiles the target with the precompiled headers of the set. A set is for libraries or
# for executables, not for both.
function(sibyl_precompile target set)
  if(NOT SIBYL_PRECOMPILE)
    return()
  endif()
  set(owner precompiled_${set})
  if(NOT TARGET ${owner})
    set(unit ${PROJECT_BINARY_DIR}/${owner}.cc)
    if(NOT EXISTS ${unit})
      file(WRITE ${unit} "// Empty: only the precompiled headers matter.\n")
    endif()
    add_library(${owner} OBJECT EXCLUDE_FROM_ALL ${unit})
    target_link_libraries(${owner} PRIVATE fmt::fmt ${precompiled_${set}_links})
    target_precompile_headers(${owner} PRIVATE ${precompiled_${set}})
    if(set STREQUAL test)
      sibyl_optimise_lightly(${owner})
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)  # compiled with -fPIE; libraries with -fPIC
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${owner} PRIVATE -fPIE)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()
