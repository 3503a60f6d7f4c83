# Finds what third_party/install.sh installed. No sources are downloaded or kept here.
function(need_hint package)
  message(FATAL_ERROR "${package} was not found. Run third_party/install.sh, or install it by hand.")
endfunction()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Boost 1.74 REQUIRED) # the headers alone
find_package(nlohmann_json 3 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 3.24 REQUIRED)
find_package(glfw3 3.3 REQUIRED)
find_package(Freetype REQUIRED)

function(pkg_target target)
  string(REPLACE "::" "_" prefix ${target})
  pkg_check_modules(${prefix} REQUIRED IMPORTED_TARGET ${ARGN})
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(${target} INTERFACE PkgConfig::${prefix})
endfunction()

pkg_target(epoxy::epoxy epoxy)
pkg_target(egl::egl egl)
pkg_target(fontconfig::fontconfig fontconfig)
pkg_target(utf8proc::utf8proc libutf8proc)
pkg_target(oniguruma::oniguruma oniguruma)
pkg_target(md4c::md4c md4c)
pkg_target(yaml::yaml yaml-cpp)
pkg_target(pango::cairo cairo cairo-pdf cairo-svg pangocairo)

find_path(STB_INCLUDE stb_image_write.h PATH_SUFFIXES stb)
find_library(STB_LIBRARY stb)
if(NOT STB_INCLUDE OR NOT STB_LIBRARY)
  need_hint(libstb-dev)
endif()
add_library(stb::stb INTERFACE IMPORTED GLOBAL)
target_include_directories(stb::stb SYSTEM INTERFACE ${STB_INCLUDE})
target_link_libraries(stb::stb INTERFACE ${STB_LIBRARY})

find_path(IMGUI_INCLUDE imgui.h PATH_SUFFIXES imgui)
find_library(IMGUI_LIBRARY imgui)
if(NOT IMGUI_INCLUDE OR NOT IMGUI_LIBRARY)
  need_hint(libimgui-dev)
endif()
add_library(imgui::imgui STATIC IMPORTED GLOBAL)
set_target_properties(imgui::imgui PROPERTIES
  IMPORTED_LOCATION ${IMGUI_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${IMGUI_INCLUDE}
  INTERFACE_LINK_LIBRARIES "glfw;Freetype::Freetype;stb::stb;dl")

# Headers alone: the loader is opened when a Vulkan device is asked for, so that machines without one run the program.
find_path(VULKAN_INCLUDE vulkan/vulkan_raii.hpp)
find_program(GLSLC glslc)
if(NOT VULKAN_INCLUDE)
  need_hint(libvulkan-dev)
endif()
if(NOT GLSLC)
  need_hint(glslc)
endif()
add_library(vulkan::headers INTERFACE IMPORTED GLOBAL)
target_include_directories(vulkan::headers SYSTEM INTERFACE ${VULKAN_INCLUDE})
