# The plugin for Ceph RADOS: a shared library that the program loads on demand. Built when librados-dev is installed.
find_path(RADOS_INCLUDE_DIR rados/librados.h)
find_library(RADOS_LIBRARY rados)
if(NOT RADOS_INCLUDE_DIR OR NOT RADOS_LIBRARY)
  message(STATUS "librados-dev is not installed: the plugin for Ceph RADOS is not built")
  return()
endif()

set(folder ${PROJECT_SOURCE_DIR}/src/storage/objects/rados/plugin)
file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
add_library(sibyl_rados MODULE ${sources})
set_target_properties(sibyl_rados PROPERTIES OUTPUT_NAME sibyl-rados CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
sibyl_precompile(sibyl_rados library)
target_include_directories(sibyl_rados PRIVATE ${RADOS_INCLUDE_DIR})
target_link_libraries(sibyl_rados PRIVATE sibyl_objects ${RADOS_LIBRARY})
# Its own copies of the modules must not clash with the program's.
target_link_options(sibyl_rados PRIVATE -Wl,--exclude-libs,ALL)

install(TARGETS sibyl_rados LIBRARY DESTINATION lib/sibyl COMPONENT rados OPTIONAL)

if(SIBYL_TESTS)
  add_executable(rados_test ${folder}/rados_objects_test.cc)
  sibyl_precompile(rados_test test)
  sibyl_optimise_lightly(rados_test)
  target_link_libraries(rados_test PRIVATE sibyl_objects GTest::gmock GTest::gtest_main)
  add_dependencies(rados_test sibyl_rados)
  add_test(NAME rados_test COMMAND ${PROJECT_SOURCE_DIR}/tests/ceph/with_ceph $<TARGET_FILE:rados_test>)
  add_executable(store_on_ceph_test ${PROJECT_SOURCE_DIR}/tests/ceph/store_on_ceph_test.cc)
  sibyl_precompile(store_on_ceph_test test)
  sibyl_optimise_lightly(store_on_ceph_test)
  target_link_libraries(store_on_ceph_test PRIVATE sibyl_shared GTest::gmock GTest::gtest_main)
  add_dependencies(store_on_ceph_test sibyl_rados)
  add_test(NAME store_on_ceph COMMAND ${PROJECT_SOURCE_DIR}/tests/ceph/with_ceph $<TARGET_FILE:store_on_ceph_test>)
  add_test(NAME cluster_failover COMMAND ${PROJECT_SOURCE_DIR}/tests/ceph/with_ceph ${PROJECT_SOURCE_DIR}/tests/ceph/failover.py
                                         $<TARGET_FILE:sibyl>)
  add_test(NAME cluster_operations COMMAND ${PROJECT_SOURCE_DIR}/tests/ceph/with_ceph ${PROJECT_SOURCE_DIR}/tests/ceph/operations.py
                                           $<TARGET_FILE:sibyl>)
  add_test(NAME console_cluster COMMAND ${PROJECT_SOURCE_DIR}/tests/ceph/with_ceph ${PROJECT_SOURCE_DIR}/tests/console/run.sh
                                        $<TARGET_FILE:sibyl> ${PROJECT_BINARY_DIR}/console_cluster_tests cluster.mjs)
  add_test(NAME cluster_drivers COMMAND ${PROJECT_SOURCE_DIR}/tests/ceph/with_ceph ${PROJECT_SOURCE_DIR}/tests/ceph/drivers.py
                                        $<TARGET_FILE:sibyl>)
  set_tests_properties(cluster_drivers PROPERTIES LABELS registries TIMEOUT 3600 SKIP_RETURN_CODE 77)
  set_tests_properties(rados_test store_on_ceph cluster_failover cluster_operations console_cluster
                       PROPERTIES LABELS ceph TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
