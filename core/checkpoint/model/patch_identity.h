#pragma once

#include "core/checkpoint/model/model_edits.h"
#include "core/trace/stage.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace headscope::format {
class Safetensors;
} // namespace headscope::format

namespace headscope::checkpoint {

// What stands in the metadata of a patch, and what a checkpoint is known by.

inline constexpr const char* patch_key = "headscope.patch";

/// What tells a checkpoint from another without reading all of it.
struct CheckpointIdentity {
    struct File {
        std::string name;
        std::uint64_t bytes = 0;
        std::string header_sha256;
        bool operator==(const File&) const = default;
    };
    std::string name; ///< of the folder, for people
    std::string config_sha256;
    std::vector<File> files; ///< ordered by name
};
CheckpointIdentity identity_of(const Model& model);

/// What a patch says of one layer.
struct PatchLayer {
    std::vector<float> gains;                  ///< one per head, or none
    std::map<TensorId, std::string> originals; ///< changed tensors: SHA-256 of the checkpoint's own
};
struct PatchHeader {
    CheckpointIdentity made_for;
    std::map<std::int64_t, PatchLayer> layers;
};

/// The metadata text of a patch; `layers` is the list of its layers.
std::string patch_text(const CheckpointIdentity& identity, const nlohmann::ordered_json& layers);
/// Throws Error(input) naming the key for what is no patch, is damaged, or was written by a later version.
PatchHeader read_patch_header(const format::Safetensors& file);
/// Throws Error(input) when the patch was made for another checkpoint, saying what differs.
void check_identity(const CheckpointIdentity& made_for, const Model& model, const std::string& source);

/// SHA-256 of a weight's numbers as float32, little-endian, in our layout.
std::string digest_of(const Tensor& weight);

} // namespace headscope::checkpoint
