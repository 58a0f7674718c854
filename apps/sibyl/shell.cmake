# The shell as a library, so that its tests link it without the rest of the binary.
find_path(EDIT_INCLUDE_DIR histedit.h REQUIRED)
find_library(EDIT_LIBRARY edit REQUIRED)

file(GLOB shell_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/shell*.cc ${CMAKE_CURRENT_LIST_DIR}/session*.cc
     ${CMAKE_CURRENT_LIST_DIR}/layout.cc ${CMAKE_CURRENT_LIST_DIR}/refuse.cc ${CMAKE_CURRENT_LIST_DIR}/tls_flags.cc ${CMAKE_CURRENT_LIST_DIR}/copy*.cc
     ${CMAKE_CURRENT_LIST_DIR}/import*.cc ${CMAKE_CURRENT_LIST_DIR}/export.cc)
file(GLOB shell_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/shell*_test.cc ${CMAKE_CURRENT_LIST_DIR}/session*_test.cc
     ${CMAKE_CURRENT_LIST_DIR}/copy_csv_test.cc ${CMAKE_CURRENT_LIST_DIR}/copy_value_test.cc)
list(FILTER shell_sources EXCLUDE REGEX "_test\\.cc$")
add_library(sibyl_shell STATIC ${shell_sources})
target_include_directories(sibyl_shell PUBLIC ${PROJECT_SOURCE_DIR}/apps ${EDIT_INCLUDE_DIR})
target_link_libraries(sibyl_shell PUBLIC sibyl_engine sibyl_cql sibyl_client ${EDIT_LIBRARY} ICU::uc CLI11::CLI11 fmt::fmt)

if(SIBYL_TESTS)
  add_executable(shell_test ${shell_tests})
  target_link_libraries(shell_test PRIVATE sibyl_shell GTest::gmock GTest::gtest_main RapidCheck::rapidcheck)
  add_test(NAME shell_test COMMAND shell_test)
  set_tests_properties(shell_test PROPERTIES LABELS unit TIMEOUT 600)
endif()
