#include "core/base/json.h"
#include "core/checkpoint/quantized/join.h"
#include "tests/fuzz/target.h"

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

using namespace headscope;

namespace {

/// A safetensors file with parts of quantized matrices. Its metadata has the config.json under "config".
void use_file(std::shared_ptr<const format::Safetensors> file) {
    nlohmann::json config = nlohmann::json::object();
    const auto given = file->metadata().find("config");
    fuzz::accepted([&] {
        if (given != file->metadata().end())
            config = parse_json(given->second, "config");
    });
    checkpoint::TensorFiles files = checkpoint::TensorFiles::of(std::move(file));
    const std::size_t before = files.entries().size();
    bool joined = false;
    fuzz::accepted([&] { joined = !checkpoint::join_quantized(files, config).empty(); });
    const auto entries = files.entries();
    fuzz::require(entries.size() <= before && (joined || entries.size() == before));
    for (const format::TensorEntry* entry : entries)
        if (files.is_joined(entry->name))
            fuzz::accepted([&] {
                if (files.tensor(entry->name)->shape() != Shape(entry->extents))
                    std::abort();
            });
}

const fuzz::Registered quantized_target({.name = "quantized",
                                         .read =
                                             [](std::string_view bytes) {
                                                 std::shared_ptr<const format::Safetensors> file;
                                                 if (fuzz::accepted([&] {
                                                         file = std::make_shared<const format::Safetensors>(
                                                             format::Safetensors::from_bytes(
                                                                 std::string(bytes), "input"));
                                                     }))
                                                     use_file(std::move(file));
                                             },
                                         .repair = fuzz::repair_header_length});

} // namespace
