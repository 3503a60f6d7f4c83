# Puts the files below a folder into the program, to be read back through core/base/assets.h: of the manual the pages, not
# the pictures, which only the read-me shows.
function(embed_assets target folder)
  file(GLOB_RECURSE names CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*)
  list(FILTER names EXCLUDE REGEX "^manual/pictures/|\\.(cmake|comp|glsl|py|svg)$")
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

# Compiles every kernel (*.comp) of a folder to SPIR-V. "shaders/all.inc" has the words of each, and the array `shaders`
# of their names and words.
function(compile_shaders target folder)
  file(GLOB kernels CONFIGURE_DEPENDS ${folder}/*.comp)
  set(generated ${CMAKE_BINARY_DIR}/generated/shaders)
  file(MAKE_DIRECTORY ${generated})
  set(outputs)
  set(codes)
  set(rows)
  foreach(kernel IN LISTS kernels)
    get_filename_component(name ${kernel} NAME_WE)
    set(output ${generated}/${name}.inc)
    add_custom_command(OUTPUT ${output}
      COMMAND ${GLSLC} --target-env=vulkan1.2 -O -mfmt=c -MD -MF ${output}.d -MT ${output} -o ${output} ${kernel}
      DEPENDS ${kernel} DEPFILE ${output}.d VERBATIM)
    list(APPEND outputs ${output})
    string(APPEND codes "constexpr std::uint32_t ${name}_code[] =\n#include \"shaders/${name}.inc\"\n    @SEMICOLON@\n")
    string(APPEND rows "    Shader{\"${name}\", ${name}_code},\n")
  endforeach()
  set(SEMICOLON ";")
  file(CONFIGURE OUTPUT ${generated}/all.inc CONTENT "${codes}constexpr std::array shaders{\n${rows}}@SEMICOLON@\n" @ONLY)
  target_sources(${target} PRIVATE ${outputs})
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/generated)
endfunction()
