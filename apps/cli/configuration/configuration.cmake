# The settings of a server: their table, reading them from files, environment and flags, and the server's log.
sibyl_command_sources(configuration_sources configuration log)
add_library(sibyl_configuration STATIC ${configuration_sources})
sibyl_precompile(sibyl_configuration command)
sibyl_unity(sibyl_configuration)
target_include_directories(sibyl_configuration PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sibyl_configuration PUBLIC sibyl_server sibyl_client PRIVATE sibyl_shell yaml-cpp spdlog::spdlog CLI11::CLI11)

if(SIBYL_TESTS)
  add_executable(configuration_test cli/configuration/configuration_test.cc cli/log/log_test.cc)
  sibyl_precompile(configuration_test test)
  sibyl_unity(configuration_test)
  sibyl_optimise_lightly(configuration_test)
  target_link_libraries(configuration_test PRIVATE sibyl_source_path sibyl_configuration spdlog::spdlog Boost::json GTest::gmock
                        GTest::gtest_main RapidCheck::rapidcheck)
  add_test(NAME configuration_test COMMAND configuration_test)
  set_tests_properties(configuration_test PROPERTIES LABELS unit TIMEOUT 600)
endif()
