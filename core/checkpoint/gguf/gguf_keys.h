#pragma once

#include "core/checkpoint/files/config_reader.h"
#include "core/checkpoint/gguf/gguf_file.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

namespace headscope::checkpoint {

/// How many numbers of a query or key head rotate.
enum class GgufRotation : std::uint8_t { none, whole, part };

/// An architecture of GGUF files.
struct GgufRow {
    std::string_view architecture; ///< general.architecture
    const char* model_type;        ///< what Hugging Face calls the family
    bool rms = true;               ///< RMSNorm; else LayerNorm
    bool own_heads = true;         ///< fewer key heads, or as many
    bool own_width = true;         ///< heads of any width; else D / H
    GgufRotation rotation = GgufRotation::whole;
    bool permuted = false; ///< the converter puts numbers that rotate together side by side
    bool mixture = false;  ///< layers have experts, or may have them
};

/// Null for an architecture that is not read.
const GgufRow* find_gguf_row(std::string_view architecture);

/// The keys of a file's architecture. Remembers which ones the program knows: any other might change the
/// numbers.
class GgufKeys {
public:
    /// Throws Error(input) for an architecture that is not read, and for files of other things than models.
    explicit GgufKeys(const GgufFile& file);

    const GgufFile& file() const { return file_; }
    const ConfigReader& reader() const { return metadata_; }
    const GgufRow& row() const { return row_; }
    bool is(std::string_view architecture) const { return row_.architecture == architecture; }
    /// The whole key, which counts as known from now on.
    std::string key(std::string_view suffix) { return *known_.insert(prefix_ + std::string(suffix)).first; }
    /// A value that must be above 0, or `usual` where it is missing; usual 0: it must be there.
    double positive(std::string_view suffix, double usual);
    /// Refuses a value that differs from what the model has without the key.
    void expect(std::string_view suffix, std::int64_t usual, const std::string& wanted);
    /// Refuses keys that are not known.
    void refuse_unknown() const;

private:
    const GgufFile& file_;
    ConfigReader metadata_;
    const GgufRow& row_;
    std::string prefix_; ///< "llama."
    std::set<std::string> known_;
};

/// Adds to config.json what the keys say of experts.
void read_gguf_mixture(GgufKeys& keys, nlohmann::json& config);
/// Adds the sizes of latent attention (deepseek2). Returns how many numbers of a head rotate.
std::int64_t read_gguf_latent(GgufKeys& keys, std::int64_t H, nlohmann::json& config);

} // namespace headscope::checkpoint
