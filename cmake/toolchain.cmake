# Compiler settings for every target.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

option(SIBYL_WERROR "Treat warnings as errors" ON)
option(SIBYL_TESTS "Build the tests (needs GoogleTest and RapidCheck)" ON)
option(SIBYL_THREAD_SAFETY "Define the target thread_safety, which checks the use of mutexes (clang)" OFF)
option(SIBYL_LIBFUZZER "Build the fuzz targets with libFuzzer (clang)" OFF)
set(SIBYL_SANITIZE "" CACHE STRING "Sanitizers for every target, such as address,undefined")

add_compile_options(-Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Wno-missing-field-initializers -fno-omit-frame-pointer)
# g++ 12 reports accesses of std::string and std::variant that cannot happen; in precompiled headers it does not recognise
# them as the standard library's.
foreach(warning array-bounds maybe-uninitialized restrict stringop-overflow stringop-overread)
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-${warning}>)
endforeach()
if(SIBYL_WERROR)
  add_compile_options(-Werror)
endif()
# SIBYL_CHECK stays on in every build; NDEBUG only disables the asserts of libraries.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")

if(SIBYL_SANITIZE)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)  # catches reads of empty optionals and out-of-range indexes
  add_compile_options(-fsanitize=${SIBYL_SANITIZE} -fno-sanitize-recover=all -O1)
  add_link_options(-fsanitize=${SIBYL_SANITIZE})
  if(SIBYL_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # The sanitizer does not understand Asio's fences. The same accesses are also ordered by locks.
    add_compile_options(-Wno-tsan)
  endif()
endif()
if(SIBYL_LIBFUZZER)
  # g++ 12's std::stable_sort causes this warning when clang compiles it.
  add_compile_options(-fsanitize=fuzzer-no-link -Wno-deprecated-declarations)
endif()

find_program(SIBYL_CCACHE ccache)
if(SIBYL_CCACHE)
  # Relative paths, so that checkouts of the same sources share the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${SIBYL_CCACHE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # lets ccache see the precompiled headers
  add_compile_options("$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")  # for the same purpose
endif()
find_program(SIBYL_MOLD mold)
if(SIBYL_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
