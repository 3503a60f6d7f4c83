# Puts every file below a folder into the program, to be read back through core/base/assets.h.
function(embed_assets target folder)
  file(GLOB_RECURSE names CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*)
  list(FILTER names EXCLUDE REGEX "\\.(cmake|png)$")
  set(generated ${CMAKE_BINARY_DIR}/generated/assets.cpp)
  set(inputs)
  foreach(name IN LISTS names)
    list(APPEND inputs ${folder}/${name})
  endforeach()
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} "-DNAMES=${names}" -DOUTPUT=${generated}
      -P ${folder}/write_assets.cmake
    DEPENDS ${inputs} ${folder}/write_assets.cmake VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
