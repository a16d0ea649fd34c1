# Installs the core from the folder BUILD, builds the program of the folder EXAMPLE with it, and
# looks at what the program says.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    message(FATAL_ERROR "${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix "${BUILD}/package")
file(REMOVE_RECURSE "${prefix}" "${BUILD}/example")
run(${CMAKE_COMMAND} --install "${BUILD}" --component core --prefix "${prefix}")
run(${CMAKE_COMMAND} -S "${EXAMPLE}" -B "${BUILD}/example" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}"
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build "${BUILD}/example")
run("${BUILD}/example/cluster")
set(expected "labels: 0 0 0 1 1 1 0 1\nobjective [0-9.]+ after [0-9]+ moves\n")
if(NOT output MATCHES "^${expected}$")
  message(FATAL_ERROR "The program said\n${output}")
endif()
message("${output}")
