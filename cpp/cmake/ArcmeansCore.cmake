# What every build of the core shares: the compilers it knows, its options, the instruction sets, and
# `arcmeans_core(TARGET SET)`, a library of the core for one of them.

option(ARCMEANS_WERROR "Treat the core's warnings as errors" OFF)
set(ARCMEANS_SANITIZE "" CACHE STRING "Sanitizers for the core, as for -fsanitize=")

if(NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  message(FATAL_ERROR "arcmeans needs GCC 12 or later, or Clang 15 or later: found ${CMAKE_CXX_COMPILER_ID}.")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "arcmeans needs GCC 12 or later: found ${CMAKE_CXX_COMPILER_VERSION}.")
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_package(Threads REQUIRED)

set(arcmeans_cpp "${CMAKE_CURRENT_LIST_DIR}/..")
get_filename_component(arcmeans_cpp "${arcmeans_cpp}" ABSOLUTE)

# The instruction sets, each with its compiler flags. The last has VNNI, which adds products of 16
# bits in one instruction: Ice Lake, Zen 4 and later.
set(arcmeans_known_sets baseline)
set(arcmeans_flags_baseline "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND arcmeans_known_sets avx2 avx512)
  set(arcmeans_flags_avx2 -march=x86-64-v3)
  set(arcmeans_flags_avx512 -march=x86-64-v4 -mavx512vnni)
endif()

# The best instruction set of this machine.
function(arcmeans_native_set result)
  try_run(ran compiled ${CMAKE_BINARY_DIR}/best_instruction_set
          ${arcmeans_cpp}/cmake/best_instruction_set.cpp
          CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${arcmeans_cpp}
          RUN_OUTPUT_VARIABLE set)
  string(STRIP "${set}" set)
  set(${result} ${set} PARENT_SCOPE)
endfunction()

# The sets that are named by ARCMEANS_INSTRUCTION_SETS: all, native, or a list.
function(arcmeans_instruction_sets result)
  if(ARCMEANS_INSTRUCTION_SETS STREQUAL "all")
    set(sets ${arcmeans_known_sets})
  elseif(ARCMEANS_INSTRUCTION_SETS STREQUAL "native")
    arcmeans_native_set(sets)
  else()
    set(sets ${ARCMEANS_INSTRUCTION_SETS})
  endif()
  foreach(set IN LISTS sets)
    if(NOT set IN_LIST arcmeans_known_sets)
      message(FATAL_ERROR "ARCMEANS_INSTRUCTION_SETS=${ARCMEANS_INSTRUCTION_SETS} should be all, "
                          "native or some of ${arcmeans_known_sets}.")
    endif()
  endforeach()
  message(STATUS "The core is compiled for: ${sets}")
  set(${result} ${sets} PARENT_SCOPE)
endfunction()

function(arcmeans_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # Without math errors and traps, square roots and selections become vectors; without the pattern,
  # the kernels' prologues stay free of memset.
  target_compile_options(${target} PRIVATE -O3 -fno-math-errno -fno-trapping-math
    -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion -Wno-psabi)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fno-tree-loop-distribute-patterns)
  endif()
  if(ARCMEANS_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(ARCMEANS_SANITIZE)
    target_compile_options(${target} PRIVATE -O1 -fsanitize=${ARCMEANS_SANITIZE} -fno-omit-frame-pointer -g)
    target_link_options(${target} PRIVATE -fsanitize=${ARCMEANS_SANITIZE})
  endif()
endfunction()

# Whoever includes a header of the core compiles it as the core was: vectors have the size that the
# instruction set gives them, and no product is contracted with a sum, so that the reference
# similarity rounds alike wherever it is compiled. So these options go with the library.
function(arcmeans_core target set)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${arcmeans_cpp}/core/*.cpp)
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${arcmeans_cpp}>)
  target_compile_options(${target} PUBLIC -ffp-contract=off ${arcmeans_flags_${set}})
  target_link_libraries(${target} PUBLIC Threads::Threads)
  arcmeans_options(${target})
endfunction()
