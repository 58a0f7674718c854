# What a server is told: the table of settings, and reading it from files, environment and flags; and its log.
add_library(sibyl_configuration STATIC sibyl/configuration_check.cc sibyl/configuration_guardrails.cc sibyl/configuration_names.cc
            sibyl/configuration_print.cc sibyl/configuration_reader.cc sibyl/configuration_settings.cc
            sibyl/configuration_tls.cc sibyl/configuration_values.cc sibyl/configuration_yaml.cc sibyl/log.cc)
target_include_directories(sibyl_configuration PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sibyl_configuration PUBLIC sibyl_server PRIVATE yaml-cpp spdlog::spdlog)

if(SIBYL_TESTS)
  add_executable(configuration_test sibyl/configuration_test.cc sibyl/log_test.cc)
  target_compile_definitions(configuration_test PRIVATE SIBYL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(configuration_test PRIVATE sibyl_configuration spdlog::spdlog Boost::json GTest::gmock
                        GTest::gtest_main RapidCheck::rapidcheck)
  add_test(NAME configuration_test COMMAND configuration_test)
  set_tests_properties(configuration_test PROPERTIES LABELS unit TIMEOUT 600)
endif()
