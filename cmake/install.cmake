# The installed package: the public headers, one static library with all modules behind them, and
# `find_package(sibyl)` for sibyl::sibyl.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(embedded_modules base types cql schema row storage objects memory rocksdb shared auth plan execute engine)
add_library(sibyl_embedded STATIC)
foreach(module IN LISTS embedded_modules)
  get_target_property(kind sibyl_${module} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY")
    target_sources(sibyl_embedded PRIVATE $<TARGET_OBJECTS:sibyl_${module}>)
  endif()
endforeach()
set_target_properties(sibyl_embedded PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME sibyl
                      OUTPUT_NAME sibyl ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/embedded)
target_compile_features(sibyl_embedded INTERFACE cxx_std_23)
target_include_directories(sibyl_embedded INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Link-only: users of the public headers do not see these libraries. The config file finds them.
target_link_libraries(sibyl_embedded INTERFACE
  $<LINK_ONLY:fmt::fmt> $<LINK_ONLY:Boost::json> $<LINK_ONLY:ICU::i18n> $<LINK_ONLY:ICU::uc>
  $<LINK_ONLY:OpenSSL::Crypto> $<LINK_ONLY:Crypt::crypt> $<LINK_ONLY:Lua::lua> $<LINK_ONLY:Stemmer::stemmer> $<LINK_ONLY:RocksDB::rocksdb> $<LINK_ONLY:LZ4::LZ4> $<LINK_ONLY:spdlog::spdlog> $<LINK_ONLY:Threads::Threads>)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sibyl)
install(TARGETS sibyl_embedded EXPORT sibyl_targets COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/sibyl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT sibyl_targets NAMESPACE sibyl:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(cmake/sibyl-config.cmake.in ${PROJECT_BINARY_DIR}/sibyl-config.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sibyl-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sibyl-config.cmake ${PROJECT_BINARY_DIR}/sibyl-config-version.cmake
        DESTINATION ${package_folder} COMPONENT development)

# Installs into a separate folder, builds the example against it and compares its output.
add_test(NAME installed_package
         COMMAND ${CMAKE_COMMAND} -D build=${PROJECT_BINARY_DIR} -D source=${PROJECT_SOURCE_DIR}
                 -D generator=${CMAKE_GENERATOR} -D compiler=${CMAKE_CXX_COMPILER} -D c_compiler=${CMAKE_C_COMPILER}
                 -D build_type=${CMAKE_BUILD_TYPE} -D sanitize=${SIBYL_SANITIZE} -D python=/usr/bin/python3
                 -P ${PROJECT_SOURCE_DIR}/cmake/test_installed.cmake)
set_tests_properties(installed_package PROPERTIES LABELS embed TIMEOUT 600)
