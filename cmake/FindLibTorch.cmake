# LibTorch, and its version as PACELINE_LIBTORCH_VERSION.
find_package(Torch REQUIRED)

# Debian's headers and CMake files of LibTorch 1.13.1 still say 1.13.0: the package database knows better.
file(STRINGS ${TORCH_INSTALL_PREFIX}/include/torch/csrc/api/include/torch/version.h torch_version_lines
     REGEX "\"[0-9.]+\"")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" torch_version "${torch_version_lines}")
find_program(DPKG_QUERY dpkg-query)
if(DPKG_QUERY)
  execute_process(COMMAND ${DPKG_QUERY} -W -f \${Version} libtorch-dev OUTPUT_VARIABLE torch_package
                  ERROR_QUIET)
  if(torch_package MATCHES "^([0-9]+\\.[0-9]+\\.[0-9]+)")
    set(torch_version ${CMAKE_MATCH_1})
  endif()
endif()
set(PACELINE_LIBTORCH_VERSION ${torch_version})
message(STATUS "LibTorch ${PACELINE_LIBTORCH_VERSION}")
set(LibTorch_FOUND TRUE)
