# Strict warnings for our own code. Third-party headers are SYSTEM includes and stay silent.
add_library(paceline_warnings INTERFACE)
target_compile_options(
  paceline_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wsign-conversion
            -Wold-style-cast
            -Wnon-virtual-dtor
            -Woverloaded-virtual
            -Wduplicated-cond
            -Wlogical-op
            -Wnull-dereference
            $<$<BOOL:${PACELINE_WARNINGS_AS_ERRORS}>:-Werror>)
