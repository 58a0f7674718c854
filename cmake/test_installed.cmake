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

file(READ ${source}/examples/expected.txt expected)
# Runs in memory, in a new directory, and again in the same directory.
foreach(data ":memory:" "${work}/data" "${work}/data")
  execute_process(COMMAND ${work}/build/embedded ${data} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE error)
  if(NOT result EQUAL 0 OR NOT output STREQUAL expected)
    message(FATAL_ERROR "the example on ${data} ended with ${result}\n${error}\nand printed:\n${output}\ninstead of:\n${expected}")
  endif()
endforeach()
