# Compiler settings that hold for every target.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

option(SIBYL_WERROR "Treat warnings as errors" ON)
option(SIBYL_TESTS "Build the tests (needs GoogleTest and RapidCheck)" ON)
option(SIBYL_LIBFUZZER "Build the fuzz targets with libFuzzer (clang)" OFF)
set(SIBYL_SANITIZE "" CACHE STRING "Sanitizers for every target, such as address,undefined")

add_compile_options(-Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Wno-missing-field-initializers -fno-omit-frame-pointer)
if(SIBYL_WERROR)
  add_compile_options(-Werror)
endif()
# Checks stay on in every build; NDEBUG would only silence libraries' own asserts.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")

if(SIBYL_SANITIZE)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)  # an empty optional that is read, an index beyond the end
  add_compile_options(-fsanitize=${SIBYL_SANITIZE} -fno-sanitize-recover=all -O1)
  add_link_options(-fsanitize=${SIBYL_SANITIZE})
  if(SIBYL_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Asio's fences, which the sanitizer does not see; what they order is ordered by its locks too.
    add_compile_options(-Wno-tsan)
  endif()
  # g++ 12 reports false positives in std::variant and std::string under sanitizers.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
endif()
if(SIBYL_LIBFUZZER)
  # g++ 12's std::stable_sort, compiled by clang, warns of itself.
  add_compile_options(-fsanitize=fuzzer-no-link -Wno-deprecated-declarations)
endif()

find_program(SIBYL_CCACHE ccache)
if(SIBYL_CCACHE)
  # Paths relative to this checkout: another checkout of the same sources finds what this one compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${SIBYL_CCACHE})
endif()
find_program(SIBYL_MOLD mold)
if(SIBYL_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
