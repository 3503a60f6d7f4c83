# What is installed with the program, and the Debian package of it. assets/manual/installing.md says how to use both.

# The version stands in the root's project() and, with its date and its changes, in CHANGELOG.md.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/CHANGELOG.md)
file(STRINGS CHANGELOG.md newest REGEX "^## " LIMIT_COUNT 1)
if(NOT newest MATCHES "^## ([0-9.]+) \\(([0-9-]+)\\)$" OR NOT CMAKE_MATCH_1 STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR "CHANGELOG.md begins with \"${newest}\"; it should begin with \"## ${PROJECT_VERSION} (YEAR-MONTH-DAY)\".")
endif()
set(release_date ${CMAKE_MATCH_2})

# In lines as dpkg shows them.
set(about_program "Headscope shows multi-head attention number by number: from the token
vectors X through Q, K and V, scores, mask and softmax to the output. Every
number is computed from the sentence in the field, tells how it was computed,
and can be edited.")
set(about_models "It opens checkpoints of Hugging Face and GGUF files, shows every head of
every layer, and computes again what an edit changes. A small trained model
and fifteen lessons come with the program.")

# The manual page is the program's own help, so the two are written together.
set(documents ${CMAKE_BINARY_DIR}/documents)
set_property(TARGET headscope APPEND PROPERTY LINK_DEPENDS
  ${CMAKE_SOURCE_DIR}/packaging/documents.py ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE)
add_custom_command(TARGET headscope POST_BUILD VERBATIM
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/packaging/documents.py
    $<TARGET_FILE:headscope> ${CMAKE_SOURCE_DIR} ${documents})
set(metainfo org.headscope.headscope.metainfo.xml)
set(CPACK_PACKAGE_VENDOR "The Headscope authors") # as in LICENSE
configure_file(packaging/${metainfo}.in ${documents}/${metainfo} @ONLY)

install(TARGETS headscope DESTINATION bin)
install(FILES ${documents}/headscope.1.gz DESTINATION share/man/man1)
install(FILES ${documents}/changelog.gz ${documents}/copyright DESTINATION share/doc/headscope)
install(DIRECTORY assets/manual DESTINATION share/doc/headscope FILES_MATCHING PATTERN *.md PATTERN pictures EXCLUDE)
install(FILES ${documents}/${metainfo} DESTINATION share/metainfo)
install(FILES packaging/headscope.desktop DESTINATION share/applications)
install(FILES packaging/headscope.xml DESTINATION share/mime/packages)
install(FILES assets/icon/headscope.svg DESTINATION share/icons/hicolor/scalable/apps)
install(FILES assets/icon/headscope.png DESTINATION share/icons/hicolor/256x256/apps)

set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_CONTACT "${CPACK_PACKAGE_VENDOR} <authors@headscope.invalid>") # .invalid is nobody's (RFC 2606)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "${about_program}\n\n${about_models}")
# The libraries that the program is linked to are found by dpkg-shlibdeps. These are opened while it runs: OpenGL and EGL
# by epoxy, X11's extensions by GLFW, the fonts by Fontconfig.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libgl1, libegl1, libxcursor1, libxi6, libxinerama1, libxrandr2, \
fonts-inter, fonts-jetbrains-mono, fonts-dejavu-core")
# Without a Vulkan loader the program runs on the CPU engine; the other two tell a desktop what opens a project.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libvulkan1, desktop-file-utils, shared-mime-info")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ffmpeg")
include(CPack)
