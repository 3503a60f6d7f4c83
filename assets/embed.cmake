# Embeds the files below a folder in the program. core/base/assets.h reads them back. The pictures of the manual are left
# out, because only README.md shows them. The catalogs languages/*.po are compiled first.
function(embed_assets target folder)
  file(GLOB_RECURSE names CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*)
  list(FILTER names EXCLUDE REGEX "^manual/pictures/|\\.(cmake|comp|glsl|po|py|svg)$")
  set(generated ${CMAKE_BINARY_DIR}/generated/assets.cpp)
  set(inputs)
  foreach(name IN LISTS names)
    list(APPEND inputs ${folder}/${name})
  endforeach()
  file(GLOB languages CONFIGURE_DEPENDS ${folder}/languages/*.po)
  set(compiled)
  foreach(language IN LISTS languages)
    get_filename_component(code ${language} NAME_WE)
    set(catalogue ${CMAKE_BINARY_DIR}/generated/languages/${code}.mo)
    add_custom_command(OUTPUT ${catalogue}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/generated/languages
      COMMAND ${MSGFMT} --check -o ${catalogue} ${language}
      DEPENDS ${language} VERBATIM)
    list(APPEND inputs ${catalogue})
    list(APPEND compiled languages/${code}.mo)
  endforeach()
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} "-DNAMES=${names}" "-DCOMPILED=${compiled}"
      -DCOMPILED_FOLDER=${CMAKE_BINARY_DIR}/generated -DOUTPUT=${generated}
      -P ${folder}/write_assets.cmake
    DEPENDS ${inputs} ${folder}/write_assets.cmake VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()

# Compiles every kernel (*.comp) of a folder to SPIR-V. "shaders/all.inc" defines the code of each kernel, and the array
# `shaders` of their names and codes.
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
