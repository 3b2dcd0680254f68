# Writes build_info.cpp, only when its content changes: run at every build so that the commit is the one built.
# Usage: cmake -D SOURCE=dir -D OUTPUT=file -D VERSION=... -D LIBTORCH=... -D COMPILER=... -P BuildInfo.cmake
execute_process(
  COMMAND git -c safe.directory=* -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
else()
  execute_process(
    COMMAND git -c safe.directory=* -C ${SOURCE} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit "-dirty")
  endif()
endif()
set(content "#include \"sim/report/output/build_info.hpp\"

namespace paceline {

const BuildInfo& build_info() {
  static const BuildInfo info{\"${VERSION}\", \"${commit}\", \"${LIBTORCH}\", \"${COMPILER}\"};
  return info;
}

}  // namespace paceline
")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} present)
endif()
if(NOT "${content}" STREQUAL "${present}")
  file(WRITE ${OUTPUT} "${content}")
endif()
