#include "core/base/system_reason.h"

#include "core/base/message.h"

#include <array>
#include <system_error>

namespace headscope {

namespace {

// The C library's wording for failed operations on files and folders. Any other reason stays in English.
constexpr std::array known{
    translatable("system_reason.permission_denied", "Permission denied"),
    translatable("system_reason.no_such_file_directory", "No such file or directory"),
    translatable("system_reason.not_directory", "Not a directory"),
    translatable("system_reason.directory", "Is a directory"),
    translatable("system_reason.file_exists", "File exists"),
    translatable("system_reason.directory_not_empty", "Directory not empty"),
    translatable("system_reason.read_file_system", "Read-only file system"),
    translatable("system_reason.no_space_left_device", "No space left on device"),
    translatable("system_reason.disk_quota_exceeded", "Disk quota exceeded"),
    translatable("system_reason.file_too_large", "File too large"),
    translatable("system_reason.file_name_too_long", "File name too long"),
    translatable("system_reason.too_many_levels_symbolic", "Too many levels of symbolic links"),
    translatable("system_reason.input_output_error", "Input/output error"),
    translatable("system_reason.operation_not_permitted", "Operation not permitted"),
    translatable("system_reason.operation_not_supported", "Operation not supported"),
    translatable("system_reason.device_resource_busy", "Device or resource busy"),
    translatable("system_reason.too_many_open_files", "Too many open files"),
    translatable("system_reason.cannot_allocate_memory", "Cannot allocate memory"),
    translatable("system_reason.resource_temporarily", "Resource temporarily unavailable"),
    translatable("system_reason.invalid_argument", "Invalid argument")};

} // namespace

std::string system_reason(int error) {
    return tr(find_message(known, std::generic_category().message(error)));
}

} // namespace headscope
