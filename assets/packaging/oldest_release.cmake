# Fails when an archive made on this system would not start on the oldest supported release.
set(oldest 2.36) # the glibc version of Debian 12
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "glibc " "" version "${said}")
if(version VERSION_GREATER oldest)
  message(FATAL_ERROR "This system has glibc ${version}, and a program made here needs that. Make the archive where it is "
    "${oldest}, on Debian 12; `cmake --workflow --preset package` makes this system's own package.")
endif()
