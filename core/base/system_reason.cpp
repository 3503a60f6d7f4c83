#include "core/base/system_reason.h"

#include "core/base/message.h"

#include <array>
#include <system_error>

namespace headscope {

namespace {

// The C library's wording for failed operations on files and folders. Any other reason stays in English.
[[maybe_unused]] constexpr std::array known{translatable("Permission denied"),
                                            translatable("No such file or directory"),
                                            translatable("Not a directory"),
                                            translatable("Is a directory"),
                                            translatable("File exists"),
                                            translatable("Directory not empty"),
                                            translatable("Read-only file system"),
                                            translatable("No space left on device"),
                                            translatable("Disk quota exceeded"),
                                            translatable("File too large"),
                                            translatable("File name too long"),
                                            translatable("Too many levels of symbolic links"),
                                            translatable("Input/output error"),
                                            translatable("Operation not permitted"),
                                            translatable("Operation not supported"),
                                            translatable("Device or resource busy"),
                                            translatable("Too many open files"),
                                            translatable("Cannot allocate memory"),
                                            translatable("Resource temporarily unavailable"),
                                            translatable("Invalid argument")};

} // namespace

std::string system_reason(int error) {
    return tr(std::generic_category().message(error));
}

} // namespace headscope
