# Installs the program and makes its Debian package and its archive. assets/manual/installing.md explains how to use them.

# project() in the root's CMakeLists.txt has the version; CHANGELOG.md has it too, with its date and its changes.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/CHANGELOG.md)
file(STRINGS CHANGELOG.md newest REGEX "^## " LIMIT_COUNT 1)
if(NOT newest MATCHES "^## ([0-9.]+) \\(([0-9-]+)\\)$" OR NOT CMAKE_MATCH_1 STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR "CHANGELOG.md begins with \"${newest}\"; it should begin with \"## ${PROJECT_VERSION} (YEAR-MONTH-DAY)\".")
endif()
set(release_date ${CMAKE_MATCH_2})
file(STRINGS assets/python/headscope/__init__.py of_python REGEX "^__version__ = \"${PROJECT_VERSION}\"$")
if(NOT of_python)
  message(FATAL_ERROR "assets/python/headscope/__init__.py has another version; it should have __version__ = \"${PROJECT_VERSION}\".")
endif()

# The line breaks are those of the Debian package description.
set(about_program "Headscope shows multi-head attention number by number: from the token
vectors X through Q, K and V, scores, mask and softmax to the output. Every
number is computed from the sentence in the field, tells how it was computed,
and can be edited.")
set(about_models "It opens checkpoints of Hugging Face and GGUF files, shows every head of
every layer, and computes again what an edit changes. A small trained model
and nineteen lessons come with the program.")

# The manual page is made from the program's help.
set(documents ${CMAKE_BINARY_DIR}/documents)
add_custom_command(OUTPUT ${documents}/headscope.1.gz ${documents}/changelog.gz ${documents}/copyright VERBATIM
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/documents.py $<TARGET_FILE:headscope> ${CMAKE_SOURCE_DIR} ${documents}
  DEPENDS headscope ${CMAKE_CURRENT_LIST_DIR}/documents.py CHANGELOG.md LICENSE)
add_custom_target(documents ALL DEPENDS ${documents}/headscope.1.gz)
set(metainfo org.headscope.headscope.metainfo.xml)
set(CPACK_PACKAGE_VENDOR "The Headscope authors") # the name in LICENSE
configure_file(assets/packaging/${metainfo}.in ${documents}/${metainfo} @ONLY)

install(TARGETS headscope RUNTIME_DEPENDENCY_SET libraries DESTINATION bin)
install(FILES ${documents}/headscope.1.gz DESTINATION share/man/man1)
install(FILES ${documents}/changelog.gz ${documents}/copyright DESTINATION share/doc/headscope)
install(DIRECTORY assets/manual DESTINATION share/doc/headscope FILES_MATCHING PATTERN *.md PATTERN pictures EXCLUDE)
# The folder that Debian's Python searches, below /usr.
install(DIRECTORY assets/python/headscope DESTINATION lib/python3/dist-packages PATTERN __pycache__ EXCLUDE)
# A file for pip, made from a copy because setuptools writes into the folder.
find_program(SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
add_custom_target(wheel VERBATIM COMMENT "Making a wheel of the Python package"
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/python
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/assets/python/headscope ${CMAKE_BINARY_DIR}/python/headscope
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/assets/python/pyproject.toml ${CMAKE_SOURCE_DIR}/assets/python/README.md
    ${CMAKE_BINARY_DIR}/python
  COMMAND ${SYSTEM_PYTHON} -m pip wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir ${CMAKE_BINARY_DIR}
    ${CMAKE_BINARY_DIR}/python)
install(FILES ${documents}/${metainfo} DESTINATION share/metainfo)
install(FILES assets/packaging/headscope.desktop DESTINATION share/applications)
install(FILES assets/packaging/headscope.xml DESTINATION share/mime/packages)
install(FILES assets/icon/headscope.svg DESTINATION share/icons/hicolor/scalable/apps)
install(FILES assets/icon/headscope.png DESTINATION share/icons/hicolor/256x256/apps)

# The archive for any Linux system also contains libraries, in the folder that the program searches first, and fonts, with
# their licenses. glibc, the compiler's libraries, OpenGL, Vulkan and X11 are those of the system.
install(RUNTIME_DEPENDENCY_SET libraries COMPONENT portable EXCLUDE_FROM_ALL DESTINATION lib/headscope PRE_EXCLUDE_REGEXES
  "^(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s|GL.*|EGL|OpenGL|vulkan|drm|X.*|xcb.*|bsd|md))\\.so")
install(FILES /usr/share/fonts/opentype/inter/Inter-Regular.otf /usr/share/fonts/opentype/inter/Inter-Medium.otf
  /usr/share/fonts/opentype/inter/Inter-SemiBold.otf /usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf
  /usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-SemiBold.ttf /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
  COMPONENT portable EXCLUDE_FROM_ALL DESTINATION share/headscope/fonts)
install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_CURRENT_LIST_DIR}/licences.py \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")"
  COMPONENT portable EXCLUDE_FROM_ALL)
add_custom_target(oldest_release COMMAND ${CMAKE_COMMAND} -P ${CMAKE_CURRENT_LIST_DIR}/oldest_release.cmake VERBATIM)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_FILE_NAME headscope-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/generator.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/checksums.cmake)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_CONTACT "${CPACK_PACKAGE_VENDOR} <authors@headscope.invalid>") # the domain .invalid is reserved (RFC 2606)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "${about_program}\n\n${about_models}")
# dpkg-shlibdeps finds the libraries that the program is linked to. The packages listed here are loaded at run time: OpenGL
# and EGL by epoxy, X11's extensions by GLFW, the fonts by Fontconfig,
# libcurl by downloads of models.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libgl1, libegl1, libxcursor1, libxi6, libxinerama1, libxrandr2, \
fonts-inter, fonts-jetbrains-mono, fonts-dejavu-core, libcurl4 | libcurl3-gnutls")
# Without a Vulkan loader the program uses the CPU engine. The other two packages register the program for project files.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libvulkan1, ca-certificates, desktop-file-utils, shared-mime-info")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ffmpeg, python3-numpy")
include(CPack)
