# Tests the installed package as a user would: install it, then configure, build and run the example.
set(work ${build}/installed_package)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed (${result}):\n${output}")
  endif()
endfunction()

set(flags "")
if(sanitize)
  set(flags "-fsanitize=${sanitize}")
endif()
run(${CMAKE_COMMAND} --install ${build} --component development --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -S ${source}/examples -B ${work}/build -G ${generator} -D CMAKE_PREFIX_PATH=${work}/prefix
    -D CMAKE_BUILD_TYPE=${build_type} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_C_COMPILER=${c_compiler}
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror ${flags}")
run(${CMAKE_COMMAND} --build ${work}/build)

# The C++ of README, docs and public headers: each is compiled, and run in a new directory.
execute_process(COMMAND ${python} ${source}/tests/guides/cpp_snippets.py ${source} ${work}/snippets OUTPUT_VARIABLE snippets
                COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${work}/snippets/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(snippets LANGUAGES C CXX)
find_package(sibyl REQUIRED)
foreach(snippet ${snippets})
  add_executable(\${snippet} \${snippet}.cc)
  target_link_libraries(\${snippet} PRIVATE sibyl::sibyl)
endforeach()
")
run(${CMAKE_COMMAND} -S ${work}/snippets -B ${work}/snippets/build -G ${generator} -D CMAKE_PREFIX_PATH=${work}/prefix
    -D CMAKE_BUILD_TYPE=${build_type} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_C_COMPILER=${c_compiler}
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror ${flags}")
run(${CMAKE_COMMAND} --build ${work}/snippets/build)
foreach(snippet ${snippets})
  file(MAKE_DIRECTORY ${work}/snippets/run/${snippet})
  foreach(attempt first again)
    execute_process(COMMAND ${work}/snippets/build/${snippet} WORKING_DIRECTORY ${work}/snippets/run/${snippet}
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
    if(NOT result EQUAL 0 OR NOT output MATCHES "^9\n")
      message(FATAL_ERROR "the example ${snippet} ended with ${result} (${attempt})\n${error}\nand printed:\n${output}")
    endif()
  endforeach()
endforeach()

file(READ ${source}/examples/expected.txt expected)
# Runs in memory, in a new directory, and again in the same directory.
foreach(data ":memory:" "${work}/data" "${work}/data")
  execute_process(COMMAND ${work}/build/embedded ${data} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE error)
  if(NOT result EQUAL 0 OR NOT output STREQUAL expected)
    message(FATAL_ERROR "the example on ${data} ended with ${result}\n${error}\nand printed:\n${output}\ninstead of:\n${expected}")
  endif()
endforeach()
