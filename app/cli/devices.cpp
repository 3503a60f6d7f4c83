#include "app/cli/subcommands.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/engine/engine.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::cli {

namespace {

std::string as_json(const engine::DeviceList& found) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const engine::Device& device : found.devices)
        rows.push_back({{"id", device.id},
                        {"name", device.name},
                        {"detail", device.detail},
                        {"graphics_processor", device.is_hardware},
                        {"usable", device.usable}});
    const engine::AutoChoice choice = engine::auto_choice(found);
    nlohmann::ordered_json all = {{"devices", rows}, {"auto", choice.id}, {"reason", choice.reason}};
    if (!found.no_vulkan_reason.empty())
        all["missing"] = found.no_vulkan_reason;
    return dump_json(all, 2) + "\n";
}

std::string as_text(const engine::DeviceList& found) {
    std::string text;
    for (const engine::Device& device : found.devices)
        text += device.id + ": " + device.name + (device.detail.empty() ? "" : "; " + device.detail) + "\n";
    if (!found.no_vulkan_reason.empty())
        text += "vulkan: " + found.no_vulkan_reason + "\n";
    const engine::AutoChoice choice = engine::auto_choice(found);
    return text + "auto takes " + choice.id + ": " + choice.reason + "\n";
}

} // namespace

void add_devices(CLI::App& program) {
    CLI::App& command = *program.add_subcommand(
        "devices", "list the engines and devices of this machine, and what auto takes");
    const auto json = std::make_shared<bool>(false);
    command.add_flag("--json", *json, "print JSON");
    command.callback([json] {
        const engine::DeviceList found = engine::devices();
        write_file_atomically("-", *json ? as_json(found) : as_text(found));
    });
}

} // namespace headscope::cli
