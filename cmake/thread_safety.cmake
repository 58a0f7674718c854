# The check of SIBYL_GUARDED_BY and the other annotations of src/base/mutex.h. clang builds the target `thread_safety`; the
# preset of the same name configures it.
#
# Only files that can break a rule are compiled: those that include base/mutex.h, or a header that does. Nothing is
# linked. Other warnings are off, because g++ reports them.
set(thread_safety_options -Wno-everything -Wthread-safety -Werror)

# A check that accepts everything would go unnoticed. So this file, which breaks a rule, must be refused.
function(sibyl_prove_thread_safety_check)
  try_compile(accepted ${PROJECT_BINARY_DIR}/unguarded ${PROJECT_SOURCE_DIR}/cmake/unguarded.cc
              CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/src
              COMPILE_DEFINITIONS ${thread_safety_options} CXX_STANDARD 20)
  if(accepted)
    message(FATAL_ERROR "The check of locks does not work: clang has accepted cmake/unguarded.cc")
  endif()
  try_compile(accepted ${PROJECT_BINARY_DIR}/guarded ${PROJECT_SOURCE_DIR}/cmake/unguarded.cc
              CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/src
              COMPILE_DEFINITIONS ${thread_safety_options} -DLOCKED CXX_STANDARD 20 OUTPUT_VARIABLE why)
  if(NOT accepted)
    message(FATAL_ERROR "The check of locks does not work: clang has refused cmake/unguarded.cc with its lock\n${why}")
  endif()
endfunction()

function(sibyl_thread_safety_check)
  sibyl_prove_thread_safety_check()
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/*.h)
  set(annotated "base/mutex\\.h")
  foreach(header IN LISTS headers)
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} found REGEX "#include \"base/mutex\\.h\"" LIMIT_COUNT 1)
    if(found)
      string(REPLACE "." "\\." header ${header})
      string(APPEND annotated "|${header}")
    endif()
  endforeach()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|benchmark)\\.cc$")
  set(checked)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} found REGEX "#include \"(${annotated})\"" LIMIT_COUNT 1)
    if(found)
      list(APPEND checked ${source})
    endif()
  endforeach()
  add_library(thread_safety OBJECT EXCLUDE_FROM_ALL ${checked})
  target_include_directories(thread_safety PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(thread_safety PRIVATE ${thread_safety_options})
  target_compile_definitions(thread_safety PRIVATE SIBYL_VERSION="${PROJECT_VERSION}")
  target_link_libraries(thread_safety PRIVATE Boost::headers Boost::json spdlog::spdlog Lua::lua OpenSSL::SSL fmt::fmt)
  sibyl_precompile(thread_safety network)
endfunction()

if(SIBYL_THREAD_SAFETY)
  sibyl_thread_safety_check()
endif()
