add_custom_target(fuzzers)

# Compiles a test with the optimisation that compiles fastest. The modules it tests are compiled as they are shipped.
function(sibyl_optimise_lightly target)
  if(CMAKE_BUILD_TYPE STREQUAL Release AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Og)
  endif()
endfunction()

# Tests find files of the repository with base/source_path.h.
if(SIBYL_TESTS)
  add_library(sibyl_source_path STATIC ${PROJECT_SOURCE_DIR}/src/base/source_path.cc)
  target_include_directories(sibyl_source_path PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(sibyl_source_path PRIVATE SIBYL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()

# sibyl_module(NAME [IN folder] [PRECOMPILED set] [WITHOUT subfolder...] [USES module...] [LINKS target...]
#              [TEST_USES module...])
#
# Defines one static library per module of src/, from every .cc in its folder and sub-folders. Sub-folders named after
# WITHOUT are excluded, because they are modules of their own. Tests are next to the code: all x_test.cc are built into
# NAME_test, all x_benchmark.cc into NAME_benchmark, and each x_fuzz.cc into a fuzz target of its own.
function(sibyl_module name)
  cmake_parse_arguments(MODULE "" "IN;PRECOMPILED" "WITHOUT;USES;LINKS;TEST_USES" ${ARGN})
  if(NOT MODULE_PRECOMPILED)
    set(MODULE_PRECOMPILED library)  # cmake/precompiled.cmake
  endif()
  if(NOT MODULE_IN)
    set(MODULE_IN ${name})
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/src/${MODULE_IN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  foreach(subfolder IN LISTS MODULE_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "/src/${MODULE_IN}/${subfolder}/")
  endforeach()
  foreach(kind test fuzz benchmark)
    set(${kind}_sources ${sources})
    list(FILTER ${kind}_sources INCLUDE REGEX "_${kind}\\.cc$")
    list(FILTER sources EXCLUDE REGEX "_${kind}\\.cc$")
  endforeach()
  list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/src/base/source_path.cc)

  list(TRANSFORM MODULE_USES PREPEND sibyl_ OUTPUT_VARIABLE uses)
  list(TRANSFORM MODULE_TEST_USES PREPEND sibyl_ OUTPUT_VARIABLE test_uses)
  set(target sibyl_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    sibyl_precompile(${target} ${MODULE_PRECOMPILED})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} ${scope} ${uses} ${MODULE_LINKS} fmt::fmt)

  if(NOT SIBYL_TESTS)
    return()
  endif()
  if(test_sources)
    add_executable(${name}_test ${test_sources})
    sibyl_precompile(${name}_test test)
    sibyl_optimise_lightly(${name}_test)
    target_link_libraries(${name}_test PRIVATE ${target} ${test_uses} sibyl_source_path GTest::gmock GTest::gtest_main RapidCheck::rapidcheck)
    add_test(NAME ${name}_test COMMAND ${name}_test)
    # Every run uses the same random cases, so failures are reproducible. CONTRIBUTING.md explains how to try others.
    set_tests_properties(${name}_test PROPERTIES LABELS unit TIMEOUT 600 ENVIRONMENT "RC_PARAMS=seed=1")
  endif()
  foreach(source IN LISTS fuzz_sources)
    sibyl_fuzz_target(${source} ${target})
  endforeach()
  if(benchmark_sources AND benchmark_FOUND)
    add_executable(${name}_benchmark EXCLUDE_FROM_ALL ${benchmark_sources})
    target_link_libraries(${name}_benchmark PRIVATE ${target} ${test_uses} benchmark::benchmark_main)
  endif()
endfunction()

# A fuzz target defines LLVMFuzzerTestOneInput. With the fuzz preset it links libFuzzer. Otherwise it links a small
# driver that replays the corpus in tests/fuzz/NAME and seeded mutations of it, as an ordinary test.
function(sibyl_fuzz_target source target)
  get_filename_component(name ${source} NAME_WE)
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/${name})
  if(SIBYL_LIBFUZZER)
    add_executable(${name} ${source})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(${name} ${source} ${PROJECT_SOURCE_DIR}/tests/fuzz/driver.cc)
    add_test(NAME ${name} COMMAND ${name} --seconds 5 ${corpus})
    set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 120)
  endif()
  target_link_libraries(${name} PRIVATE ${target})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  add_dependencies(fuzzers ${name})
endfunction()

# Checks that every header compiles by itself. The target `headers` builds one small translation unit for each.
function(sibyl_header_check)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/apps/*.h ${PROJECT_SOURCE_DIR}/include/*.h)
  set(units)
  foreach(header IN LISTS headers)
    set(unit ${PROJECT_BINARY_DIR}/headers/${header}.cc)
    if(NOT EXISTS ${unit})
      file(WRITE ${unit} "#include \"${header}\"\n")
    endif()
    list(APPEND units ${unit})
  endforeach()
  add_library(headers OBJECT EXCLUDE_FROM_ALL ${units})
  target_include_directories(headers PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/apps
                             ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(headers PRIVATE GTest::gtest RapidCheck::rapidcheck CLI11::CLI11 fmt::fmt)
  sibyl_precompile(headers library)  # tests/tree/check_tree.py looks for missing headers of the standard library
endfunction()
