#include "app/cli/subcommands.h"
#include "core/base/file.h"
#include "core/engine/engine.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope {

namespace {

std::string reason(const std::vector<Device>& found) {
    return found.size() == 1 ? "it is the only one that this machine offers"
                             : "real graphics processors come before the CPU";
}

std::string as_json(const std::vector<Device>& found) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Device& device : found)
        rows.push_back({{"id", device.id}, {"name", device.name}, {"detail", device.detail}});
    const nlohmann::ordered_json all = {
        {"devices", rows}, {"auto", found.front().id}, {"reason", reason(found)}};
    return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string as_text(const std::vector<Device>& found) {
    std::string text;
    for (const Device& device : found)
        text += device.id + ": " + device.name + (device.detail.empty() ? "" : "; " + device.detail) + "\n";
    return text + "auto takes " + found.front().id + ": " + reason(found) + "\n";
}

} // namespace

void add_devices(CLI::App& program) {
    CLI::App& command = *program.add_subcommand(
        "devices", "list the engines and devices of this machine, and what auto takes");
    const auto json = std::make_shared<bool>(false);
    command.add_flag("--json", *json, "print JSON");
    command.callback([json] {
        const std::vector<Device> found = devices();
        write_file_atomically("-", *json ? as_json(found) : as_text(found));
    });
}

} // namespace headscope
