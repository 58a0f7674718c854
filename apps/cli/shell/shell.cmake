# The shell and the commands that use its sessions, as a library: their tests link it without the rest of the binary.
find_path(EDIT_INCLUDE_DIR histedit.h REQUIRED)
find_library(EDIT_LIBRARY edit REQUIRED)

sibyl_command_sources(shell_sources shell session command_line copy migrate import_sstables)
add_library(sibyl_shell STATIC ${shell_sources})
sibyl_precompile(sibyl_shell command)
sibyl_unity(sibyl_shell)
target_include_directories(sibyl_shell PUBLIC ${PROJECT_SOURCE_DIR}/apps ${EDIT_INCLUDE_DIR})
target_link_libraries(sibyl_shell PUBLIC sibyl_engine sibyl_cql sibyl_sstable sibyl_client ${EDIT_LIBRARY} ICU::uc CLI11::CLI11 fmt::fmt)

if(SIBYL_TESTS)
  file(GLOB shell_tests CONFIGURE_DEPENDS cli/shell/*_test.cc cli/session/*_test.cc cli/command_line/*_test.cc
       cli/copy/csv_test.cc cli/copy/value_test.cc)
  add_executable(shell_test ${shell_tests})
  sibyl_precompile(shell_test test)
  sibyl_unity(shell_test)
  sibyl_optimise_lightly(shell_test)
  target_link_libraries(shell_test PRIVATE sibyl_shell GTest::gmock GTest::gtest_main RapidCheck::rapidcheck)
  add_test(NAME shell_test COMMAND shell_test)
  set_tests_properties(shell_test PROPERTIES LABELS unit TIMEOUT 600)
endif()
